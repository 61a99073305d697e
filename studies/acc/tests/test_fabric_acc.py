"""`lcca acc` on a fabric: from a file to a model and verdicts, the same bytes after a kill."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'lcca[drl]'")
pytest.importorskip("gymnasium", reason="gymnasium is not installed: pip install 'lcca[drl]'")

from lcca.api import acc, load_run  # noqa: E402
from lcca.evaluation.fabric.space import FabricTrials  # noqa: E402
from lcca.evaluation.trials.blocks import Block  # noqa: E402
from lcca.evaluation.trials.utilities import fabric_utility  # noqa: E402
from lcca.experiments.studies.config import StudyConfig  # noqa: E402
from lcca.gym_envs.fabric.fabrics import SmallFabric  # noqa: E402
from lcca.inputs.validation import read_with_files, validate  # noqa: E402
from lcca.remy_plus.files.policyfile import PolicyFile, write  # noqa: E402
from lcca.remy_plus.policies.policy import WithHeader  # noqa: E402
from lcca.remy_plus.policies.rules import one_rule  # noqa: E402
from lcca.signal_sets.headers.header import header  # noqa: E402
from lcca.signal_sets.headers.simulated import stamping  # noqa: E402
from lcca.studies.acc.config import FabricAcc  # noqa: E402
from lcca.studies.acc.learner.config import DqnConfig, FabricAccConfig  # noqa: E402
from lcca.studies.acc.learner.double_dqn import DoubleDqn, new_learner  # noqa: E402
from lcca.studies.acc.learner.ports import model_of, play_ports  # noqa: E402
from lcca.studies.acc.learner.training import train  # noqa: E402
from lcca.studies.acc.marking.fabric_env import FabricEcnEnv  # noqa: E402
from lcca.studies.acc.marking.model import read_acc_model  # noqa: E402
from lcca.studies.acc.marking.ports import Templates  # noqa: E402
from lcca.studies.acc.on_fabric import train_acc  # noqa: E402

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[3]
TRAININGS = sorted(ROOT.glob("studies/*/configs/acc-training.yaml"))
"""Of studies that hold their subject against ACC."""
SMOKE = ROOT / "studies/acc/configs/fabric-smoke.yaml"


def smoke(*settings: str) -> FabricAcc:
    return validate(read_with_files(SMOKE, FabricAcc, settings), FabricAcc)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    path = tmp_path_factory.mktemp("acc") / "run"
    return path, acc(SMOKE, out=path, jobs=2).content


def test_a_complete_run_has_its_model(finished: tuple[Path, dict[str, Any]]) -> None:
    path, _ = finished
    assert train_acc(smoke(), path, resume=True, quiet=True) == path / "model.json"


def test_the_summary_and_its_tables(finished: tuple[Path, dict[str, Any]]) -> None:
    path, summary = finished
    met = [(each["condition"], each["id"]) for each in summary["policies"]]
    assert met == [(test, name) for test in ("star", "busy-star") for name in ("acc", "dcqcn", "chance")]
    found = [(each["condition"], each["A"], each["B"]) for each in summary["comparisons"]]
    assert found == [(test, name, "acc") for test in ("star", "busy-star") for name in ("dcqcn", "chance")]
    model = read_acc_model(path / "model.json")
    assert model.provenance["scenarios"] == ["star"] and model.provenance["steps"] >= 500
    assert (model.interval_us, model.delay_us) == (10, 2)
    loaded = load_run(path)
    assert set(loaded.trials["condition"]) == {"star", "busy-star"}
    assert len(loaded.verdicts) == 4 and len(loaded.policies) == 6
    assert loaded.trials.groupby(["condition", "policy"])["network"].nunique().min() >= 24


def test_what_it_is_held_against_runs_with_its_header(tmp_path: Path) -> None:
    rival = str(tmp_path / "policy.json")
    write(rival, PolicyFile(one_rule(("link",)), header="nosignal-8b"))
    config = smoke("trainer.dqn.steps=200", "held_out=[]", f"test.against=[{rival}]")
    acc(config, out=tmp_path / "run", jobs=2)
    stored = load_run(tmp_path / "run").trials.query("policy == @rival")
    policy = WithHeader(one_rule(("link",)), stamping(header("nosignal-8b")))
    source = FabricTrials(config.space, int(stored["seed"].iloc[0]), fabric_utility("slowdown"))
    own = source.rows({"headed": policy}, Block(0, 0, 8))
    assert stored["slowdown_mean"].head(8).tolist() == own["slowdown_mean"].tolist()


def test_seeds_are_others_for_training_and_test(finished: tuple[Path, dict[str, Any]], tmp_path: Path) -> None:
    path, _ = finished
    trained: set[int] = set()
    reset = FabricEcnEnv.reset

    def noted(env: FabricEcnEnv, **given: Any) -> Any:
        trained.add(given["options"]["trial_seed"])
        return reset(env, **given)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FabricEcnEnv, "reset", noted)
        train_acc(smoke("trainer.dqn.steps=200"), tmp_path / "run", resume=False, quiet=True)
    assert len(trained) > 5
    assert not trained & set(load_run(path).trials["seed"])


def test_the_command(finished: tuple[Path, dict[str, Any]], lcca: Any) -> None:
    path, summary = finished
    assert json.loads(lcca("acc", SMOKE, "--out", path, "--json").out) == summary
    told = lcca("acc", SMOKE, "--out", path).out
    assert "busy-star, held out" in told and "model.json" in told and "chance" in told
    name = f"dcqcn@acc:{path}/model.json,interval_us=20"
    scenario = ROOT / "configs/fabric/leaf-spine.yaml"
    found = lcca("evaluate", "dcqcn", name, "--on", scenario, "--set", "duration_us=50", "--trials", "1", "--json")
    assert [row["policy"] for row in found.json()["rows"]] == ["dcqcn", name]


def test_names_of_models_are_beside_the_file_that_says_them(finished: tuple[Path, Any], tmp_path: Path) -> None:
    """Of a study's contender and of ACC's rival; and the content of the model belongs to what the run is."""
    path, _ = finished
    model = tmp_path / "model.json"
    model.write_bytes((path / "model.json").read_bytes())
    scenario = "{name: star, topology: {kind: star, hosts: 2}, workload: {kind: incast, senders: 1, bytes: 1}}"
    scenario = scenario.replace("1}}", "1, period_us: 9}, duration_us: 9}")
    name = "dctcp-window@acc:model.json,interval_us=7"
    question = "{name: q, contender: a, against: [b]}"
    texts = {
        StudyConfig: f"name: s\ncontenders: {{a: '{name}', b: dcqcn}}\nquestions: [{question}]\n"
        f"scenarios: [{scenario}]",
        FabricAcc: f"name: s\nfabric: {scenario}\ntest: {{against: ['{name}']}}",
    }
    for kind, text in texts.items():
        file = tmp_path / "run.yaml"
        file.write_text(text)
        configs = [validate(read_with_files(file, kind), kind)]
        assert f"dctcp-window@acc:{model},interval_us=7" in configs[0].model_dump_json()
        before = configs[0].hash
        model.write_bytes(model.read_bytes().replace(b'"seed": 1', b'"seed": 2'))
        assert validate(read_with_files(file, kind), kind).hash != before
        model.write_bytes((path / "model.json").read_bytes())
    (tmp_path / "study").mkdir()
    file = tmp_path / "study/study.yaml"
    file.write_text(texts[StudyConfig].replace(f"'{name}'", "{train: ../run.yaml}"))
    trained = validate(read_with_files(file, StudyConfig), StudyConfig).contenders["a"].train
    assert trained is not None and f"dctcp-window@acc:{model},interval_us=7" in trained.test.against


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("transport=dcqcn@expert", "transport: must be a transport without a marker or a tuner"),
        ("test.against=[dcqcn]", "test.against: dcqcn is there anyway"),
        ("test.against=[chance]", "chance"),
        ("trainer.templates.pmax=[2]", "trainer.templates.pmax.0: must be"),
        ("trainer.templates.kmin_bytes=[200000]", "trainer.templates: no kmin_bytes may be above a kmax_bytes"),
        ("trainer.interval_us=0", "trainer.interval_us: must be"),
        ("held_out.0.name=star", "two scenarios are called 'star'"),
        ("utility=default", "scores networks, not a fabric"),
        ("utility=rounds", "rounds: star has no rounds"),
    ],
)
def test_bad_input_is_told(lcca: Any, setting: str, words: str) -> None:
    told = lcca("acc", SMOKE, "--set", setting)
    assert told.status == 2
    assert words in told.err.replace("\n", " ")


def test_what_nothing_could_be_learnt_or_scored_from_is_told_before_the_training(lcca: Any, tmp_path: Path) -> None:
    early = "fabric.workload={kind: incast, senders: 2, bytes: 9, period_us: 200, start_us: 9}"
    for settings, words in (
        (["utility=slowdown-long"], "slowdown-long: no flow of star counts"),
        ([early, "fabric.warmup_us=30"], "slowdown: no flow of star counts: 0 start"),
    ):
        told = lcca("acc", SMOKE, "--out", tmp_path / "run", *(word for each in settings for word in ("--set", each)))
        assert told.status == 2 and words in told.err.replace("\n", " "), told.err
        assert not (tmp_path / "run").exists()


def test_the_file_says_what_the_network_says() -> None:
    """PyTorch's values against NumPy's choices, for both kinds of heads."""
    for heads in ("parts", "joint"):
        config = FabricAccConfig(history=2, heads=heads, dqn=DqnConfig(hidden=(16, 8)))
        learner = new_learner(config, 6, config.templates.shape, seed=5)
        views = np.random.default_rng(1).normal(size=(200, 12)).astype(np.float32)
        chosen = model_of(learner, config, {}).best(views)
        values = learner.values(views)
        best = values.max(axis=1)
        np.testing.assert_allclose(values[np.arange(200), chosen], best, atol=1e-5)
        assert len(set(chosen.tolist())) > 5


def test_it_learns_to_mark() -> None:
    """Rewards for short queues alone: marking everything is best, and is what it learns."""
    templates = Templates(kmin_bytes=(0.0,), kmax_bytes=(0.0, 1e9), pmax=(0.0,))
    scenario = SmallFabric(120, 150.0)
    env = FabricEcnEnv(scenario, interval_us=10.0, templates=templates, throughput=0.0)
    dqn = DqnConfig(steps=1500, hidden=(16,), batch=64, warm_up=200, learn_every=8, sync_every=20, explore_steps=800)
    config = FabricAccConfig(interval_us=10.0, templates=templates, dqn=dqn)
    learner = new_learner(config, 6, templates.shape, seed=1)

    def play(learner: DoubleDqn, episode: int) -> float:
        return play_ports(env, learner, episode)

    train(learner, play)
    views, over = [], False
    env.reset(options={"trial_seed": 10**6})
    while not over:
        over = env.step(np.ones(len(env.ports)))[3]
        views.append(env.view[env.view[:, 0] > 0.3])
    seen = np.concatenate(views)
    assert len(seen) > 15
    assert (model_of(learner, config, {}).best(seen) == 0).mean() > 0.8


@pytest.mark.parametrize(
    "name", ["studies/acc/configs/fabric", *(str(file.with_suffix("").relative_to(ROOT)) for file in TRAININGS)]
)
def test_committed_files_are_valid(name: str) -> None:
    config = validate(read_with_files(ROOT / f"{name}.yaml", FabricAcc), FabricAcc)
    assert config.rule.alpha < config.settle.alpha


def test_the_committed_model_is_that_of_its_configuration() -> None:
    config = validate(read_with_files(ROOT / "studies/acc/configs/fabric.yaml", FabricAcc), FabricAcc)
    model = read_acc_model(ROOT / "studies/acc/configs/leaf-spine.json")
    assert model.templates == config.trainer.templates and model.provenance["campaign"] == config.name
