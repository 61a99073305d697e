import fcntl
import json
import os
import shutil
import subprocess
import sys
from collections import namedtuple
from pathlib import Path
from typing import Any

import pytest

from lcca.evaluation.trials.loaded_run import read_manifest
from lcca.evaluation.trials.stored import write_state
from lcca.experiments.campaign.config import CampaignConfig
from lcca.experiments.runs import code_version, version
from lcca.experiments.runs.folder import RunFolder, default_folder
from lcca.experiments.runs.manifest import code_of
from lcca.experiments.tuning.config import TuningConfig
from lcca.inputs.digests import imports
from lcca.inputs.errors import InputError
from lcca.inputs.validation import read_with_files, validate

from ...fixtures import TINY, RunCommand, results
from ...studies import of_studies

Usage = namedtuple("Usage", "total used free")


NETWORK = "{link_rate: 1, rtt: 9, senders: 2, buffer: 9, mean_on: 99, mean_off: 9, loss: 0, duration: 900}"
TUNING = (
    "name: tuned\nnetworks: SPACE\nsimulator: engine\n"
    "tuner: {policy: 'fixed-window:9', space: {window: {min: 1, max: 9, step: 1}}}\n"
)
KINDS: dict[str, tuple[str, type[Any]]] = {
    "sweep": (TINY, CampaignConfig),
    **of_studies("CONFIGURED"),
    "tune": (TUNING.replace("SPACE", NETWORK), TuningConfig),
}


def read(kind: str, folder: Path, seed: int = 1) -> Any:
    text, model = KINDS[kind]
    (folder / f"{kind}.yaml").write_text(text)
    return validate(read_with_files(folder / f"{kind}.yaml", model, [f"seed={seed}"]), model)


@pytest.fixture(params=KINDS)
def config(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """A configuration of each kind of run: all behave alike."""
    return read(request.param, tmp_path)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return tmp_path / "run"


def make(run: Path, config: Any) -> None:
    RunFolder.open(run, config, resume=False).close()


def refusal(run: Path, config: Any, resume: bool = True) -> str:
    """The error of opening a folder, which must leave it as it was."""
    before = {file: file.read_bytes() for file in run.rglob("*") if file.is_file()} if run.is_dir() else {}
    with pytest.raises(InputError) as caught:
        RunFolder.open(run, config, resume)
    after = {file: file.read_bytes() for file in run.rglob("*") if file.is_file()} if run.is_dir() else {}
    assert {file: text for file, text in after.items() if file.name != ".lock"} == {
        file: text for file, text in before.items() if file.name != ".lock"
    }
    return str(caught.value).replace(str(run), "RUN")


def test_a_new_folder_holds_the_configuration_and_the_manifest(run: Path, config: Any) -> None:
    make(run, config)
    assert validate(read_with_files(run / "config.yaml", type(config)), type(config)) == config
    manifest = json.loads((run / "manifest.json").read_text())
    assert manifest["config_hash"] == config.hash
    assert manifest["state"] == "begun"
    assert {"format", "kind", "name", "version", "commit", "seed", "machine"} < manifest.keys()


def test_a_run_names_its_folder_by_its_configuration(config: Any) -> None:
    assert default_folder(config) == Path("results") / config.name / config.hash


def test_a_run_that_is_there_needs_resume(run: Path, config: Any) -> None:
    make(run, config)
    expected = "RUN: there already; go on with it by resume=True, or choose another --out"
    assert refusal(run, config, resume=False) == expected
    RunFolder.open(run, config, resume=True).close()


def test_a_complete_run_is_named_so(run: Path, config: Any) -> None:
    make(run, config)
    folder = RunFolder.open(run, config, resume=True)
    folder.set_state("complete")
    folder.close()
    assert not folder.complete  # its results are missing
    expected = "RUN: there already and complete; go on with it by resume=True, or choose another --out"
    assert refusal(run, config, resume=False) == expected


def test_the_run_of_another_configuration_or_kind_is_refused(tmp_path: Path, run: Path, config: Any) -> None:
    make(run, config)
    other = read(config.run_kind.name, tmp_path, seed=2)
    expected = "RUN: a run of another configuration: seed: 1 → 2; choose another --out"
    assert refusal(run, other) == expected
    manifest = read_manifest(run) or {}
    write_state(run / "manifest.json", {key: value for key, value in manifest.items() if key != "config"})
    assert refusal(run, other) == expected  # of earlier versions: by config.yaml
    write_state(
        run / "manifest.json", manifest | {"config": {**config.content, "files": {"a.b": "x"}}, "config_hash": ""}
    )
    assert refusal(run, config) == "RUN: a run of another configuration: a.b has another content; choose another --out"
    write_state(run / "manifest.json", manifest)
    kind = next(kind for kind in KINDS if kind != config.run_kind.name)
    assert refusal(run, read(kind, tmp_path)) == f"RUN: a run of lcca {config.run_kind.name}; choose another --out"


def test_the_run_of_another_version_is_refused(run: Path, config: Any) -> None:
    make(run, config)
    write_state(run / "manifest.json", (read_manifest(run) or {}) | {"version": "0.0.1"})
    assert refusal(run, config).startswith("RUN: begun by version 0.0.1, this is ")


@pytest.mark.parametrize("code", ["same", "changed", "unknown"])
@pytest.mark.parametrize(
    ("theirs", "ours", "found"),
    [
        ("a" * 40, "a" * 40, ""),
        (
            "a" * 40,
            "b" * 40,
            "begun at commit aaaaaaaaaa, this is bbbbbbbbbb: WHY; finish it there (git",
        ),
        ("a" * 40, "b" * 40 + "+", "begun at commit aaaaaaaaaa, this is bbbbbbbbbb+: WHY"),
        ("a" * 40, "a" * 40 + "+", "told: this has uncommitted changes at commit aaaaaaaaaa"),
        ("a" * 40 + "+", "a" * 40 + "+", "told: begun with uncommitted changes at commit aaaaaaaaaa"),
        (None, "a" * 40, ""),  # an installed package has no commit: its version is all there is
        ("a" * 40, None, ""),
    ],
)
def test_the_commit_is_compared(
    run: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    theirs: str | None,
    ours: str | None,
    found: str,
    code: str,
) -> None:
    config = read("tune", tmp_path)
    always = (
        "" if code == "unknown" else "told: code that decides results, the compiled engine or a library has changed"
    )
    found = "" if code == "same" else found.replace("WHY", WHY[code]) or always
    monkeypatch.setattr("lcca.experiments.runs.manifest.commit", lambda: theirs)
    make(run, config)
    monkeypatch.setattr("lcca.experiments.runs.manifest.commit", lambda: ours)
    manifest = read_manifest(run) or {}
    assert len(manifest["code"]) == 64
    change = {"same": {}, "changed": {"code": "0" * 64}, "unknown": {"code": None}}[code]
    after = {key: value for key, value in (manifest | change).items() if value is not None or key != "code"}
    write_state(run / "manifest.json", after)
    if found and not found.startswith("told: "):
        assert found in refusal(run, config)
        return
    folder = RunFolder.open(run, config, resume=True)
    folder.close()
    assert len(folder.warnings) == bool(found)
    assert not found or found.removeprefix("told: ") in folder.warnings[0]
    assert not found or ("cannot be told" in folder.warnings[0]) == (code == "unknown")


WHY = {"changed": "code that decides results has changed", "unknown": "results could differ"}
DECIDES = {
    "remy_plus/_core.": set(KINDS),
    "evaluation/lcca/evaluation/trials/running.py": set(KINDS),
    "trainers/lcca/trainers/tune/race.py": {"tune"},
    "trainers/lcca/trainers/rplus/search.py": {"sweep"},  # named in a text only
    "evaluation/lcca/evaluation/report/report.py": set(),
    "evaluation/lcca/evaluation/report/words/statements.py": set(),
    "scenarios/flow_sizes/fb-hadoop.yaml": set(KINDS),
    "headers/catalogue/ecn.yaml": set(KINDS),
    "cli/lcca/cli/main.py": set(),
}


@pytest.mark.slow
def test_code_counts_where_it_decides_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def codes() -> dict[str, str]:
        code_version.code_version.cache_clear()
        return {name: code_of(read(name, tmp_path)) for name in KINDS}

    before, really = codes(), imports.read_limited
    for file, kinds in DECIDES.items():
        other = lambda path, file=file: really(path) + b"\n#" * (file in str(path))  # noqa: E731
        monkeypatch.setattr(imports, "read_limited", other)
        assert {name for name, code in codes().items() if code != before[name]} == kinds, file
    code_version.code_version.cache_clear()


def test_a_package_within_another_projects_checkout_has_no_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / "version.py").write_text("")
    monkeypatch.setattr(version, "__file__", str(tmp_path / "version.py"))
    version.commit.cache_clear()
    assert version.commit() is None
    version.commit.cache_clear()


@pytest.mark.parametrize("text", ["", "[]", '{"state": "training"}', "\xff"])
def test_a_damaged_manifest_is_refused(run: Path, config: Any, text: str) -> None:
    make(run, config)
    (run / "manifest.json").write_bytes(text.encode("latin-1"))
    assert refusal(run, config).startswith("RUN/manifest.json: damaged")


def test_a_folder_that_is_no_run_is_refused(run: Path, config: Any) -> None:
    run.mkdir()
    (run / "config.yaml").write_text("mine: 1\n")
    assert refusal(run, config) == "RUN: there already, and not a run; choose another --out"


def test_a_file_is_no_folder(run: Path, config: Any) -> None:
    run.write_text("hello")
    assert refusal(run, config) == "RUN: there already, and not a run; choose another --out"
    with pytest.raises(InputError, match="cannot be written: Not a directory"):
        RunFolder.open(run / "below", config, resume=False)


def test_an_empty_folder_will_do(run: Path, config: Any) -> None:
    run.mkdir()
    make(run, config)
    assert (run / "manifest.json").exists()


def test_what_a_process_killed_at_once_leaves_behind_is_no_hindrance(run: Path, config: Any) -> None:
    run.mkdir()
    (run / ".lock").write_text("process 1\n")
    (run / ".manifest.json.12.34.part").write_text('{"half')
    make(run, config)
    assert sorted(file.name for file in run.iterdir()) == [
        ".lock",
        "config.yaml",
        "config.yaml.sha256",
        "manifest.json",
    ]


def test_a_run_killed_before_it_wrote_its_configuration_is_completed(run: Path, config: Any) -> None:
    make(run, config)
    (run / "config.yaml").unlink()
    RunFolder.open(run, config, resume=True).close()
    assert validate(read_with_files(run / "config.yaml", type(config)), type(config)) == config


def test_halves_of_files_are_swept_up(run: Path, config: Any) -> None:
    make(run, config)
    (run / "policies").mkdir()
    for half in (run / ".summary.json.1.2.part", run / "policies" / ".a.json.1.2.part"):
        half.write_text("{")
    RunFolder.open(run, config, resume=True).close()
    assert not list(run.rglob("*.part"))


def test_a_folder_that_cannot_be_written(config: Any) -> None:
    with pytest.raises(InputError, match=r"/proc/lcca: cannot be written: "):
        RunFolder.open(Path("/proc/lcca"), config, resume=False)


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_folder_that_is_forbidden(run: Path, config: Any) -> None:
    run.mkdir(mode=0o500)
    assert refusal(run, config) == "RUN: cannot be written: Permission denied"


def test_a_full_disk_is_told_before_anything_is_run(run: Path, config: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "disk_usage", lambda path: Usage(10**9, 10**9 - 3 * 2**20, 3 * 2**20))
        with pytest.raises(InputError, match="only 3 MiB left on the disk; free 50 MiB at least"):
            make(run, config)
    make(run, config)


@pytest.mark.slow
def test_a_second_process_is_kept_out(run: Path, tmp_path: Path) -> None:
    folder = RunFolder.open(run, read("tune", tmp_path), resume=False)
    options = ["tune", str(tmp_path / "tune.yaml"), "--out", str(run), "--json"]
    second = subprocess.run([sys.executable, "-m", "lcca.cli.main", *options], capture_output=True, text=True)
    assert second.returncode == 2
    assert second.stdout == ""
    assert second.stderr == (f"lcca: {run}: process {os.getpid()} is working on this run; wait for it or stop it\n")
    folder.close()


def test_the_lock_of_a_killed_process_is_free(run: Path, config: Any) -> None:
    make(run, config)
    with (run / ".lock").open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert "is working on this run" in refusal(run, config)
    RunFolder.open(run, config, resume=True).close()  # the lock went with its file


@pytest.mark.slow
@pytest.mark.usefixtures("no_report")
@pytest.mark.parametrize("text", ["", '{"phases": 3}'])
def test_damaged_costs_are_one_error_with_its_mend(
    finished: Path, copied: Path, tiny: Path, lcca: RunCommand, text: str
) -> None:
    (copied / "report.html").unlink()
    (copied / "costs.json").write_text(text)
    answer = lcca("sweep", tiny, "--out", copied)
    assert answer.status == 2
    assert answer.err.splitlines()[-1].startswith(f"lcca: {copied}/costs.json: damaged")
    assert "remove it: only the note of what the run has cost so far is lost" in answer.err
    (copied / "costs.json").unlink()
    assert lcca("sweep", tiny, "--out", copied).status == 0
    assert results(copied) == results(finished)
