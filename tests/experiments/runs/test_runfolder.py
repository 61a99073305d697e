import fcntl
import json
import os
import shutil
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

import pytest

from lcca.evaluation.trials.stored import write_state
from lcca.evaluation.trials.tables import read_manifest
from lcca.experiments.campaign.config import CampaignConfig, read_campaign
from lcca.experiments.runs.folder import RunFolder, default_folder
from lcca.inputs.errors import InputError

from ...conftest import RunCommand, results

Usage = namedtuple("Usage", "total used free")


@pytest.fixture
def config(tiny: Path) -> CampaignConfig:
    return read_campaign(tiny)


@pytest.fixture
def run(tiny: Path) -> Path:
    return tiny.parent / "run"


def make(run: Path, config: CampaignConfig) -> None:
    RunFolder.open(run, config, resume=False).close()


def refusal(run: Path, config: CampaignConfig, resume: bool = True) -> str:
    """The error of opening a folder, which must leave it as it was."""
    before = {file: file.read_bytes() for file in run.rglob("*") if file.is_file()} if run.is_dir() else {}
    with pytest.raises(InputError) as caught:
        RunFolder.open(run, config, resume)
    after = {file: file.read_bytes() for file in run.rglob("*") if file.is_file()} if run.is_dir() else {}
    assert {file: text for file, text in after.items() if file.name != ".lock"} == {
        file: text for file, text in before.items() if file.name != ".lock"
    }
    return str(caught.value).replace(str(run), "RUN")


def test_a_new_folder_holds_the_configuration_and_the_manifest(run: Path, config: CampaignConfig) -> None:
    make(run, config)
    assert read_campaign(run / "config.yaml") == config
    manifest = json.loads((run / "manifest.json").read_text())
    assert manifest["config_hash"] == config.hash
    assert manifest["state"] == "begun"
    assert {"format", "kind", "name", "version", "commit", "seed", "machine"} < manifest.keys()


def test_a_run_names_its_folder_by_its_configuration(config: CampaignConfig) -> None:
    assert default_folder(config) == Path("results") / "tiny" / config.hash


def test_a_run_that_is_there_needs_resume(run: Path, config: CampaignConfig) -> None:
    make(run, config)
    expected = "RUN: there already; add --resume to go on with it, or choose another --out"
    assert refusal(run, config, resume=False) == expected
    RunFolder.open(run, config, resume=True).close()


def test_a_complete_run_is_named_so(run: Path, config: CampaignConfig) -> None:
    make(run, config)
    folder = RunFolder.open(run, config, resume=True)
    folder.set_state("complete")
    folder.close()
    assert refusal(run, config, resume=False).startswith(
        "RUN: there already and complete; look at it with `lcca report"
    )


def test_the_run_of_another_configuration_is_refused(tiny: Path, run: Path, config: CampaignConfig) -> None:
    make(run, config)
    other = read_campaign(tiny, ["seed=2"])
    expected = (
        f"RUN: a run of another configuration ({config.hash}, not {other.hash}), or of other files that it names; "
    )
    expected += "choose another --out"
    assert refusal(run, other) == expected


def test_the_run_of_another_version_is_refused(run: Path, config: CampaignConfig) -> None:
    make(run, config)
    write_state(run / "manifest.json", (read_manifest(run) or {}) | {"version": "0.0.1"})
    assert refusal(run, config).startswith("RUN: begun by version 0.0.1, this is ")


@pytest.mark.parametrize("text", ["", "{", "[]", "3", "null", "{}", '{"state": "training"}', "\xff"])
def test_a_damaged_manifest_is_refused(run: Path, config: CampaignConfig, text: str) -> None:
    make(run, config)
    (run / "manifest.json").write_bytes(text.encode("latin-1"))
    assert refusal(run, config).startswith("RUN/manifest.json: damaged")


def test_a_folder_that_is_no_run_is_refused(run: Path, config: CampaignConfig) -> None:
    run.mkdir()
    (run / "config.yaml").write_text("mine: 1\n")
    assert refusal(run, config) == "RUN: there already, and not a run; choose another --out"


def test_a_file_is_no_folder(run: Path, config: CampaignConfig) -> None:
    run.write_text("hello")
    assert refusal(run, config) == "RUN: there already, and not a run; choose another --out"
    with pytest.raises(InputError, match="cannot be written: Not a directory"):
        RunFolder.open(run / "below", config, resume=False)


def test_an_empty_folder_will_do(run: Path, config: CampaignConfig) -> None:
    run.mkdir()
    make(run, config)
    assert (run / "manifest.json").exists()


def test_what_a_process_killed_at_once_leaves_behind_is_no_hindrance(run: Path, config: CampaignConfig) -> None:
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


def test_a_run_killed_before_it_wrote_its_configuration_is_completed(run: Path, config: CampaignConfig) -> None:
    make(run, config)
    (run / "config.yaml").unlink()
    RunFolder.open(run, config, resume=True).close()
    assert read_campaign(run / "config.yaml") == config


def test_halves_of_files_are_swept_up(run: Path, config: CampaignConfig) -> None:
    make(run, config)
    (run / "policies").mkdir()
    for half in (run / ".summary.json.1.2.part", run / "policies" / ".a.json.1.2.part"):
        half.write_text("{")
    RunFolder.open(run, config, resume=True).close()
    assert not list(run.rglob("*.part"))


def test_a_folder_that_cannot_be_written(config: CampaignConfig) -> None:
    with pytest.raises(InputError, match=r"/proc/lcca: cannot be written: "):
        RunFolder.open(Path("/proc/lcca"), config, resume=False)


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_folder_that_is_forbidden(run: Path, config: CampaignConfig) -> None:
    run.mkdir(mode=0o500)
    assert refusal(run, config) == "RUN: cannot be written: Permission denied"


def test_a_full_disk_is_told_before_anything_is_run(
    run: Path, config: CampaignConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "disk_usage", lambda path: Usage(10**9, 10**9 - 3 * 2**20, 3 * 2**20))
        with pytest.raises(InputError, match="only 3 MiB left on the disk; free 50 MiB at least"):
            make(run, config)
    make(run, config)


def test_a_second_process_is_kept_out(run: Path, config: CampaignConfig, tiny: Path, lcca: RunCommand) -> None:
    folder = RunFolder.open(run, config, resume=False)
    script = "import sys; from lcca.cli.main import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", script, "sweep", str(tiny), "--out", str(run), "--resume", "--json"]
    second = subprocess.run(command, capture_output=True, text=True)
    assert second.returncode == 2
    assert second.stdout == ""
    assert second.stderr == (f"lcca: {run}: process {os.getpid()} is working on this run; wait for it or stop it\n")
    folder.close()
    RunFolder.open(run, config, resume=True).close()


def test_the_lock_of_a_killed_process_is_free(run: Path, config: CampaignConfig) -> None:
    make(run, config)
    with (run / ".lock").open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert "is working on this run" in refusal(run, config)
    RunFolder.open(run, config, resume=True).close()  # the lock went with its file


@pytest.mark.usefixtures("no_report")
@pytest.mark.parametrize("text", ["", '{"phases": 3}'])
def test_damaged_costs_are_one_error_with_its_mend(
    finished: Path, copied: Path, tiny: Path, lcca: RunCommand, text: str
) -> None:
    (copied / "report.html").unlink()
    (copied / "costs.json").write_text(text)
    answer = lcca("sweep", tiny, "--out", copied, "--resume")
    assert answer.status == 2
    assert answer.err.splitlines()[-1].startswith(f"lcca: {copied}/costs.json: damaged")
    assert "remove it: only the note of what the run has cost so far is lost" in answer.err
    (copied / "costs.json").unlink()
    assert lcca("sweep", tiny, "--out", copied, "--resume").status == 0
    assert results(copied) == results(finished)
