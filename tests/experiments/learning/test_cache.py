"""The training cache: nothing is trained twice, nothing damaged is used, and changed code is other content."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from lcca.experiments.campaign.config import CampaignConfig, read_campaign
from lcca.experiments.learning.cache import Finished, TrainingCache
from lcca.experiments.learning.plan import learners, training_key
from lcca.experiments.learning.training import engine_of, train
from lcca.experiments.runs import code_version
from lcca.experiments.runs.context import opened
from lcca.inputs.digests import imports
from lcca.inputs.errors import InputError
from lcca.inputs.files import read_checked, write_checked

QUICK = ["training_seeds=[1]", "trainer.networks=4", "trainer.optimise=[pacing]"]
DRL = ["trainer={kind: ppo, steps: 1000, rounds: 1}"]


def trained(config: CampaignConfig, run: Path, cache: Path | None, resume: bool = False) -> dict[str, bytes]:
    """Train the first policy of a campaign; return its policy files."""
    with opened(config, run, resume=resume, quiet=True) as begun:
        train(begun.on(engine_of(config, 1)), learners(config, [1])[0], cache=TrainingCache(cache))
    return {file.name: file.read_bytes() for file in (run / "policies").rglob("*") if file.is_file()}


def flipped(file: Path, bit: int) -> None:
    content = bytearray(file.read_bytes())
    content[bit // 8] ^= 1 << bit % 8
    file.write_bytes(content)


def test_what_is_taken_from_the_cache_is_what_would_have_been_trained(tiny: Path, tmp_path: Path) -> None:
    """The same bytes as without a cache, under the campaign's own name and in its own set of signal sets."""
    trained(read_campaign(tiny, QUICK), tmp_path / "first", tmp_path / "cache")
    other = read_campaign(tiny, [*QUICK, "name=other", "signal_sets=[loss+rtt, loss+queue, e2e]"])
    taken = trained(other, tmp_path / "taken", tmp_path / "cache")
    assert "done before, taken from" in (tmp_path / "taken" / "log.txt").read_text()
    assert taken == trained(other, tmp_path / "alone", None)
    assert b'"campaign":"other"' in b"".join(taken.values()).replace(b'": "', b'":"')


def test_a_damaged_entry_is_dropped_and_trained_anew(tiny: Path, tmp_path: Path) -> None:
    config = read_campaign(tiny, QUICK)
    expected = trained(config, tmp_path / "first", tmp_path / "cache")
    (entry,) = (tmp_path / "cache").glob("*.training")
    whole = entry.read_bytes()
    flipped(entry, 8 * len(whole) - 100)
    assert trained(config, tmp_path / "second", tmp_path / "cache") == expected
    log = (tmp_path / "second" / "log.txt").read_text()
    assert f"{entry}: damaged" in log and "removed from the training cache and trained anew" in log
    assert trained(config, tmp_path / "third", tmp_path / "cache") == expected
    assert "done before" in (tmp_path / "third" / "log.txt").read_text()


def test_no_flipped_bit_and_no_neighbour_is_taken(tmp_path: Path) -> None:
    cache = TrainingCache(tmp_path)
    kept = {key: Finished(f"state of {key}", {"round-01.json": f"policy of {key}"}) for key in "ab"}
    for key, training in kept.items():
        cache.keep(key, training)
    assert cache.take("a", print) == kept["a"]
    assert cache.take("c", print) is TrainingCache(None).take("a", print) is None
    whole = (tmp_path / "a.training").read_bytes()
    for bit in range(0, 8 * len(whole), 7):
        flipped(tmp_path / "a.training", bit)
        told: list[str] = []
        assert cache.take("a", told.append) is None
        assert len(told) == 1 and not (tmp_path / "a.training").exists()
        (tmp_path / "a.training").write_bytes(whole)
    (tmp_path / "b.training").replace(tmp_path / "a.training")
    assert cache.take("a", print) is None


@pytest.mark.parametrize("name", ["../../../evil.json", "round-1.json", "round-04.json", "/tmp/round-01.json"])
def test_a_forged_entry_writes_nothing_and_is_trained_anew(tiny: Path, tmp_path: Path, name: str) -> None:
    """Its digest is right, as anybody can make it; names of its policies become paths."""
    config = read_campaign(tiny, QUICK)
    expected = trained(config, tmp_path / "first", tmp_path / "cache")
    (entry,) = (tmp_path / "cache").glob("*.training")
    content = json.loads(read_checked(entry, ""))
    content["rounds"][name] = content["rounds"]["round-01.json"]
    write_checked(entry, json.dumps(content).encode())
    assert trained(config, tmp_path / "second", tmp_path / "cache") == expected
    assert f"{entry}: no training; it is removed" in (tmp_path / "second" / "log.txt").read_text()
    assert not list(tmp_path.rglob("evil.json"))


@pytest.mark.parametrize("payload", [b"", b"[]", b"{}", b'{"key": "a", "checkpoint": 1, "rounds": {}}'])
def test_what_is_no_training_is_dropped(tmp_path: Path, payload: bytes) -> None:
    write_checked(tmp_path / "a.training", payload)
    told: list[str] = []
    assert TrainingCache(tmp_path).take("a", told.append) is None and "no training" in told[0]
    assert not (tmp_path / "a.training").exists()


@pytest.mark.parametrize(
    "hurt", ["round-01.json", "round-02.json.sha256", "lost round-01.json", "lost round-02.json.sha256", "checkpoint"]
)
def test_a_damaged_file_of_a_run_is_one_error_with_advice_that_works(tiny: Path, tmp_path: Path, hurt: str) -> None:
    config, run = read_campaign(tiny, QUICK), tmp_path / "run"
    expected = trained(config, run, tmp_path / "cache")
    checkpoint = run / "training" / "loss+rtt.default.s1.json"
    folder = run / "policies" / "loss+rtt.default.s1"
    advice = "remove it to train" if hurt == "checkpoint" else f"; remove {re.escape(str(checkpoint))} and resume"
    if hurt.startswith("lost"):
        (folder / hurt.split()[1]).unlink()
    else:
        file = checkpoint if hurt == "checkpoint" else folder / hurt
        for bit in np.random.default_rng(1).integers(8 * file.stat().st_size, size=5):
            flipped(file, int(bit))
            with pytest.raises(InputError, match=advice):
                trained(config, run, tmp_path / "cache", resume=True)
            flipped(file, int(bit))
        flipped(file, 77)
    with pytest.raises(InputError, match=advice):
        trained(config, run, tmp_path / "cache", resume=True)
    checkpoint.unlink()
    assert trained(config, run, tmp_path / "cache", resume=True) == expected


def test_what_changes_a_training_changes_its_key(tiny: Path) -> None:
    first = learners(read_campaign(tiny), [1])[0].key(read_campaign(tiny))
    same = ["name=other", "test.pairs=60", "validation.networks=30", "training_seeds=[1]", "packet_bytes=1500"]
    other = ["seed=2", "networks.loss=0.02", "trainer.rounds=1", "model.link_interval=20", "utilities=[2t]"]
    for override in same:
        config = read_campaign(tiny, [override])
        assert learners(config, [1])[0].key(config) == first, override
    found = {learners(config, [1])[0].key(config) for o in other for config in [read_campaign(tiny, [o])]}
    assert len(found | {first}) == len(other) + 1
    assert training_key((), a=1, b=[2]) == training_key((), b=[2], a=1) != training_key((), a=1, b=[3])


CODE: dict[str, set[str]] = {
    "gym-envs/lcca/gym_envs/batch/agent_slots.py": {"drl"},
    "trainers/lcca/trainers/drl/ppo.py": {"drl"},  # named in a text only, and imported when used
    "trainers/lcca/trainers/rplus/search.py": {"rplus"},
    "evaluation/lcca/evaluation/scenarios/networks.py": {"drl", "rplus"},
    "evaluation/lcca/evaluation/trials/utility.py": {"drl", "rplus"},
    "evaluation/lcca/evaluation/trials/throughput_delay.py": {"drl", "rplus"},  # what a task is made of
    "signal-sets/lcca/signal_sets/headers/simulated.py": {"drl", "rplus"},
    "signal-sets/lcca/signal_sets/candidate.py": {"drl", "rplus"},
    "remy_plus/_core.": {"drl", "rplus"},  # the engine
    "evaluation/lcca/evaluation/report/report.py": set(),
}
LIBRARIES = {"numpy": {"drl", "rplus"}, "scipy": {"drl", "rplus"}, "torch": {"drl"}, "stable-baselines3": {"drl"}}
LIBRARIES |= {"matplotlib": set()}


def keys(configs: dict[str, CampaignConfig]) -> dict[str, str]:
    code_version.code_version.cache_clear()
    found = {name: learners(config, [1])[0].key(config) for name, config in configs.items()}
    code_version.code_version.cache_clear()
    return found


@pytest.mark.slow
def test_changed_code_and_other_libraries_are_another_training(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    configs = {"rplus": read_campaign(tiny), "drl": read_campaign(tiny, DRL)}
    before, version = keys(configs), imports.metadata.version

    def changed() -> set[str]:
        return {name for name, key in keys(configs).items() if key != before[name]}

    for file, by in CODE.items():
        with monkeypatch.context() as patch:
            patch.setattr(imports, "read_limited", lambda path, f=file: path.read_bytes() + b"#" * (f in str(path)))
            assert changed() == by, file
    for library, by in LIBRARIES.items():
        with monkeypatch.context() as patch:
            patch.setattr(
                imports.metadata,
                "version",
                lambda name, x=library: "9" if name.replace("_", "-") == x else version(name),
            )
            assert changed() == by, library
    assert not changed()
