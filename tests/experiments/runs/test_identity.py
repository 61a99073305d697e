"""All that a result depends on: a run that was begun with another one of it is refused, whatever made the run."""

import json
import re
import sys
from collections.abc import Iterator
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

import pytest

import lcca.api as api
from lcca.evaluation.trials import place, utilities
from lcca.evaluation.trials.loaded_run import read_manifest
from lcca.evaluation.trials.stored import write_state
from lcca.experiments.campaign.config import read_campaign
from lcca.experiments.recipes.agree import agreeing
from lcca.experiments.recipes.compare import comparing
from lcca.experiments.recipes.evaluate import evaluating
from lcca.experiments.recipes.rank import ranking
from lcca.experiments.runs.context import opened
from lcca.experiments.studies.config import StudyConfig
from lcca.experiments.tuning.config import TuningConfig
from lcca.experiments.verbs.meeting import Agree, Compare, Evaluate, Rank
from lcca.inputs.errors import InputError
from lcca.remy_plus.files import policyfile
from lcca.signal_sets.headers.header import header

from ...fixtures import RunCommand
from ...studies import of_studies
from . import run_files as kinds
from .run_kinds import KINDS
from .test_conformance import EngineForNs3, quick
from .verbs import FABRIC, MIX, NETWORKS, POLICIES, Verb, met, read

__all__ = ["quick"]

SWEEP = {
    **NETWORKS,
    "set.yaml": "name: own\ntitle: own\nsignals: [send_ewma, receive_ewma, rtt_ratio, slow_receive_ewma, queue]\n",
    "header.yaml": json.dumps(header("nosignal-8b").model_dump(mode="json") | {"name": "mine"}),
    "table.json": (Path(__file__).parents[3] / "configs/policies/e2e.json").read_text(),
    "small.yaml": kinds.SWEEP.replace("seed: 1", "seed: 4").replace("queue]", "queue, set.yaml]")
    + "headers: [header.yaml]\nutilities: ['utility.py:f']\nstart: {own: table.json}\n",
}
PPO = {
    **NETWORKS,
    "stop.py": "class Stop: pass\n",
    "small.yaml": re.sub("trainer:.*", "trainer: {kind: ppo, callbacks: ['stop.py:Stop']}", kinds.SWEEP).replace(
        "seed: 1", "seed: 4"
    )
    + "utilities: ['utility.py:f']\n",
}
CHANGES = [
    (".py", "\n", "\n# other\n"),
    (".txt", "1", "2"),
    (".json", '"window": 9', '"window": 3'),
    ("s2.json", "12", "13"),
    ("table.json", "0.79", "0.78"),
    ("header.yaml", '"bits": 32', '"bits": 16'),
    ("links.csv", "5,6,100", "5,6,200"),
    ("flows.csv", "20000,100", "20000,200"),
    ("base.yaml", "20000", "30000"),
    ("sizes.yaml", "two", "three"),
    ("set.yaml", "queue", "link"),
    ("star.yaml", "0.5", "0.4"),
    ("rest.yaml", "40", "50"),
    ("tiny.yaml", "pairs: 96", "pairs: 192"),
    ("small.yaml", "seed: 4", "seed: 5"),
    ("space.yaml", "link_rate: 2", "link_rate: 1"),
    (".yaml", "mean_off: 100", "mean_off: 200"),
]
"""How files change by the end of their names: a text, and another one in its place; the first that fits."""


FIRST = {"policy.json": kinds.POLICY}
STUDY = kinds.STUDY.replace("window:bdps=1\n", "policy.json\n", 1).replace("name: windows", "name: windows\nseed: 4")
VERBS = {
    "evaluate": met(evaluating, Evaluate, ["mine.py:Mine", MIX]),
    "compare": met(comparing, Compare, "mine.py:Mine", MIX),
    "rank": met(ranking, Rank, ["aimd", "mine.py:Mine", MIX]),
    "agree": met(agreeing, Agree, ["mine.py:Mine", "policy.json", "other.json"]),
    "evaluate-fabric": Verb(FABRIC | POLICIES, lambda: evaluating(Evaluate(["dctcp", MIX], "star.yaml")).config),
    "tune": read(TuningConfig, "seed: 4\n" + kinds.TUNE, FABRIC, "optuna"),
    "study": read(StudyConfig, STUDY, FABRIC | FIRST, "optuna"),
    "sweep": Verb(SWEEP, lambda: read_campaign("small.yaml")),
    "sweep-ppo": Verb(PPO, lambda: read_campaign("small.yaml"), "torch"),
    **of_studies("VERBS"),
}
NOT_ALONE = re.compile(r"policies/(?!loss\+rtt.default.s2)")
"""Files of which another one stands for all."""
CASES = [(verb, name) for verb, each in VERBS.items() for name in each.files if not NOT_ALONE.match(name)]


@pytest.fixture(autouse=True)
def unrehearsed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Leave out the rehearsals, and ns-3."""
    with monkeypatch.context() as patch:
        patch.setattr(utilities, "require_alike", lambda *code: None)
        patch.setattr(policyfile, "rehearse", lambda control: None)
        patch.setattr(place, "Ns3", EngineForNs3)
        yield
        for name in ("lcca_t_gain", "lcca_t_weight"):
            sys.modules.pop(name, None)


def begun(verb: Verb) -> None:
    """Begin the run of a verb, or go on with it."""
    with opened(verb.config(), Path("run"), resume=True, quiet=True):
        pass


@pytest.fixture
def verb(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Verb:
    """A verb whose run has begun in the working folder."""
    found = VERBS[request.param]
    if found.library and find_spec(found.library) is None:
        pytest.skip(f"{found.library} is not installed")
    for name, text in found.files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    begun(found)
    return found


@pytest.mark.parametrize(("verb", "name"), CASES, indirect=["verb"], ids=lambda each: str(each))
def test_every_file_counts(verb: Verb, name: str) -> None:
    begun(verb)
    text = verb.files[name]
    before, now = next(change for ending, *change in CHANGES if name.endswith(ending) and change[0] in text)
    Path(name).write_text(text.replace(before, now, 1))
    with pytest.raises(InputError, match=r"^run: a run of another configuration: .* (has another content|→).*; choose"):
        begun(verb)
    Path(name).write_text(text)
    begun(verb)


@pytest.mark.parametrize("verb", [name for name, each in VERBS.items() if each.library], indirect=True)
def test_the_versions_of_libraries_that_learn_or_search_count(verb: Verb, monkeypatch: pytest.MonkeyPatch) -> None:
    version = metadata.version
    monkeypatch.setattr(metadata, "version", lambda name: "0" if name == verb.library else version(name))
    with pytest.raises(
        InputError, match=rf"^run: begun with {verb.library}==[\d.+a-z]+, this is 0: results could differ"
    ):
        begun(verb)


SCORED = (
    *("evaluate", "compare"),
    *(
        pytest.param(name, marks=pytest.mark.slow)
        for name in (*(each for each in of_studies("RUNS") if each in ("adopt", "stress")), "rank", "evaluate-both")
    ),
)
FUNCTION = "import numpy as np\ndef f(t, d):\n    return np.log2(t) - {} * np.log2(d)\n"


@pytest.mark.parametrize("name", SCORED)
def test_a_kept_run_is_of_the_function_that_scored_it(
    name: str, lcca: RunCommand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = KINDS[name]
    if missing := [each for each in kind.needs if find_spec(each) is None]:
        pytest.skip(f"{missing[0]} is not installed")
    monkeypatch.chdir(kind.write(tmp_path))
    for file, weight in (("g.py", 1), ("other.py", 1)):
        Path(file).write_text(FUNCTION.format(weight))
    command = [*kind.command, "--out", "run", "--json", "--utility"]
    before = lcca(*command, "g.py:f").json()
    assert lcca(*command, "./g.py:f").json() == before
    assert 'options.utility.name: "g.py:f" → "other.py:f"' in lcca(*command, "other.py:f").err.replace("\n", " ")
    Path("g.py").write_text(FUNCTION.format(2))
    refused = lcca(*command, "g.py:f")
    assert refused.status == 2 and "g.py:f has another content; choose another --out" in refused.err.replace("\n", " ")
    assert lcca(*command[:-4], "--json", "--utility", "g.py:f").json() != before


def test_calls_refuse_it_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "g.py").write_text(FUNCTION.format(1))
    (tmp_path / "list.yaml").write_text(kinds.NETWORKS)
    monkeypatch.chdir(tmp_path)
    asked = {"utility": "g.py:f", "out": "run", "resume": True, "overrides": ["duration=500"], "seeds": 2}
    before = api.evaluate(["aimd"], "list.yaml", **asked)
    assert api.evaluate(["aimd"], "list.yaml", **asked).content == before.content
    Path("g.py").write_text(FUNCTION.format(2))
    with pytest.raises(InputError, match=r"g\.py:f has another content"):
        api.evaluate(["aimd"], "list.yaml", **asked)


def test_verdicts_are_not_made_again_by_other_files(copied: Path, lcca: RunCommand) -> None:
    manifest = read_manifest(copied)
    assert manifest is not None and lcca("verdict", copied).status == 0
    content = manifest["config"] | {"files": {"utilities.0.python": "of another text"}}
    write_state(copied / "manifest.json", manifest | {"config": content})
    refused = lcca("verdict", copied)
    assert refused.status == 2 and "has another content than when it ran" in refused.err.replace("\n", " ")
