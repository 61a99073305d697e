import json
import math
import os
import re
import subprocess
import sys
from functools import wraps
from pathlib import Path
from typing import Any

import pytest

from lcca.api import load_run
from lcca.cli import main as cli
from lcca.cli.commands import COMMANDS, load
from lcca.cli.commands.results import serve
from lcca.evaluation.scenarios.networks import ListedNetworks
from lcca.evaluation.trials.blocks import Block
from lcca.evaluation.trials.loaded_run import read_manifest
from lcca.evaluation.trials.place import Execution
from lcca.evaluation.trials.stored import write_state
from lcca.evaluation.trials.utilities import DEFAULT
from lcca.experiments.places import space_of
from lcca.inputs.errors import InputError
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.files import policyfile
from lcca.remy_plus.files.policyfile import PolicyFile
from lcca.remy_plus.policies.explicit import SIMPLE
from lcca.remy_plus.policies.families import HAND_DESIGNED
from lcca.remy_plus.policies.policy import FixedWindow
from lcca.remy_plus.policies.rules import one_rule
from lcca.remy_plus.switches.transports import TRANSPORTS

from ..fixtures import RunCommand

ROOT = Path(__file__).parents[2]
SPACE = ROOT / "configs" / "networks" / "default.yaml"
NETWORKS = """\
- {link_rate: 3.0, rtt: 27, senders: 6, buffer: 225, mean_on: 4500, mean_off: 900, loss: 0.001}
- {link_rate: 2, rtt: 20, senders: 1, buffer: inf, mean_on: 1000, mean_off: 100, loss: 0, switched: time}
- {link_rate: 3, rtt: 15, senders: 3, buffer: 50, mean_on: 2000, mean_off: 1000, loss: 1e-6, switched: bytes}
"""
MEANS = ("score_bits", "throughput_share", "throughput_over_link", "delay_us", "delay_over_rtt")


@pytest.fixture
def networks(tmp_path: Path) -> Path:
    path = tmp_path / "networks.yaml"
    path.write_text(NETWORKS)
    return path


def policy_of(run: Path) -> Path:
    return run / "policies" / "loss+rtt.default.s1.json"


# Help and errors.


@pytest.mark.parametrize("name", COMMANDS)
def test_every_commands_help_has_examples(lcca: RunCommand, name: str) -> None:
    answer = lcca(name, "--help")
    assert answer.status == 0
    assert f"examples:\n  lcca {name}" in answer.out
    assert ("[--json]" in answer.out) != (name in ("complete", "schema", "serve"))


def test_json_may_stand_before_the_command(lcca: RunCommand) -> None:
    assert lcca("--json", "show", "signals").out == lcca("show", "signals", "--json").out != lcca("show", "signals").out


@pytest.mark.parametrize("words", [("serve",), ("schema", "campaign"), ("complete", "bash")])
def test_json_is_refused_where_there_is_none(
    monkeypatch: pytest.MonkeyPatch, lcca: RunCommand, words: tuple[str, ...]
) -> None:
    monkeypatch.setattr(serve, "run", wraps(serve.run)(lambda *_: 0))  # would serve without end
    for given in (("--json", *words), (*words, "--json")):
        answer = lcca(*given)
        assert (answer.status, answer.out) == (2, "")
        assert answer.err == f"lcca: --json: lcca {words[0]} has no result to print as JSON; leave it out\n"


@pytest.mark.parametrize("name", ["evaluate", "compare", "rank"])
@pytest.mark.parametrize("columns", ["60", "100", "250"])
def test_options_come_before_the_names_of_policies(
    lcca: RunCommand, name: str, columns: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    options, listed = lcca(name, "--help").out.split("\npolicies:\n")
    words = set(re.findall(r"[\w+-]+", listed))
    assert words.issuperset([*SIMPLE, *HAND_DESIGNED, *TRANSPORTS])
    assert not {"vegas", "timely"} & set(re.findall(r"[\w+-]+", options.partition("examples:")[0]))
    assert max(map(len, listed.splitlines())) <= min(int(columns) - 2, 100)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("evaluate", "aimd", "--on", "x", "--seeds", "99999999999999"), "--seeds: must be at most 1000000"),
        (("evaluate", "aimd", "--on", "x", "--jobs", "99999999999999"), "--jobs: must be at most 1000000"),
        (("rank", "aimd", "--on", "x", "--rule", "step=99999999999999"), "--rule: step: must be at most 1000000"),
        (
            ("rank", "aimd", "--on", "x", "--rule", "t-mixture:alfa=1"),
            "--rule: no option 'alfa' (did you mean 'alpha'?)",
        ),
        (("rank", "aimd", "--on", "x", "--rule", "alpha=small"), "--rule: alpha: could not convert"),
        (
            ("plot", ".", "--figure", "forest", "--width", "3.33"),
            "--width: 3.33: must be a width with its unit",
        ),
        (("sweep", "TINY", "--set", "test.block=99999999999999"), "test.block: must be <= 1e+06"),
        (("sweep", "TINY", "--set", "validation.networks=99999999999999"), "validation.networks: must be <= 1e+06"),
        (("sweep", "TINY", "--set", "trainer.networks=99999999999999"), "trainer.networks: must be <= 1e+06"),
        (("sweep", "TINY", "--out", "OUT", "--training-cache", "TINY"), "tiny.yaml: no folder; choose another one"),
    ],
)
def test_numbers_and_files_that_cannot_be_are_refused_before_anything_runs(
    lcca: RunCommand, tiny: Path, arguments: tuple[str, ...], message: str
) -> None:
    files = {"TINY": tiny, "OUT": tiny.parent / "out"}
    answer = lcca(*(files.get(word, word) for word in arguments))
    assert answer.status == 2 and message in answer.err and not (tiny.parent / "out").exists()


@pytest.mark.parametrize(
    ("command", "package"),
    [
        (("sweep", "--set", "trainer={kind: ppo}"), "torch"),
        (("sweep", "--until", "trained", "--set", "trainer={kind: ppo}"), "stable_baselines3"),
        (("sweep", "--executor", "ray"), "ray"),
    ],
)
def test_a_missing_extra_is_told_before_there_is_a_folder(
    lcca: RunCommand, tiny: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...], package: str
) -> None:
    monkeypatch.setattr("lcca.inputs.extras.find_spec", lambda name: None if name == package else object())
    monkeypatch.setitem(sys.modules, package, None)
    name, *options = command
    answer = lcca(name, tiny, "--out", tiny.parent / "run", *options)
    assert answer.status == 2 and answer.out == "" and not (tiny.parent / "run").exists()
    assert f" the package {package.replace('_', '-')}: pip install 'lcca[" in answer.err


def test_too_little_memory_is_one_line(lcca: RunCommand, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(options: object) -> int:
        raise MemoryError

    monkeypatch.setitem(load("show").WHAT, "signals", fail)
    answer = lcca("show", "signals")
    assert answer.status == 1 and answer.err.startswith("lcca: not enough memory; ask for fewer trials")


def test_a_score_without_bounds_is_refused(lcca: RunCommand, tmp_path: Path) -> None:
    """Packets that take no time were once worth infinitely many bits, and a traceback with --json."""
    network = "{link_rate: 1.0e+18, rtt: 0, senders: 1, buffer: inf, mean_on: 1000, mean_off: 10, loss: 0"
    (tmp_path / "list.yaml").write_text(f"- {network}}}\n")
    (tmp_path / "space.yaml").write_text(f"{network}, duration: 100}}\n")
    evaluated = lcca("evaluate", "fixed-rate:1", "--on", tmp_path / "list.yaml", "--set", "duration=100", "--json")
    compared = lcca("compare", "fixed-rate:1", "fixed-rate:2", "--on", tmp_path / "space.yaml", "--json")
    for answer in (evaluated, compared):
        assert (answer.status, answer.out) == (2, "")
        assert "lcca: network 0: packets take no time with link_rate 1e+18 packets/µs and rtt 0 µs" in answer.err


def test_the_files_in_the_examples_exist() -> None:
    for name in COMMANDS:
        for word in load(name).EXAMPLES.split():
            if word.startswith("configs/"):
                assert (ROOT / word).is_file(), word


def test_help_lists_the_commands(lcca: RunCommand) -> None:
    answer = lcca("--help")
    assert answer.status == 0
    for name in COMMANDS:
        assert f"    {name} " in answer.out


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("dance",),
        ("sweep",),
        ("sweep", "nothere.yaml"),
        ("show",),
        ("show", "signal", "qeue"),
        ("show", "signal-set", "lnk"),
        ("show", "policy", "amd"),
        ("show", "run", "nothere"),
        ("report", "nothere"),
        ("evaluate", "aimd"),
        ("evaluate", "aimd", "--on", "nothere.yaml"),
        ("evaluate", "amd", "--on", "NETWORKS"),
        ("evaluate", "aimd", "--on", "NETWORKS", "--seeds", "0"),
        ("evaluate", "aimd", "--on", "NETWORKS", "--seeds", "x"),
        ("evaluate", "aimd", "--on", "NETWORKS", "--seeds", "99999999999999"),
        ("evaluate", "aimd", "--on", "NETWORKS", "--seed", "-1"),
        ("evaluate", "aimd", "--on", "NETWORKS", "--seed", str(2**64)),
        ("evaluate", "aimd", "--on", "NETWORKS", "--set", "duration=0"),
        ("evaluate", "aimd", "--on", "NETWORKS", "--set", "duration=nan"),
        ("evaluate", "aimd", "--on", "NETWORKS", "--set", "duration=inf"),
        ("evaluate", "aimd", "--on", "NETWORKS", "--set", "duration=20"),
        ("evaluate", "aimd", "--on", "NETWORKS", "--utility", "defalt"),
        ("import", "a.dna", "a.json", "--link-interval", "0"),
        ("import", "a.dna", "a.json", "--link-interval", "inf"),
        ("evaluate", "aimd", "--on", "NETWORKS", "--jobs", "0"),
        ("evaluate", "fixed-window:0", "--on", "NETWORKS"),
        ("evaluate", "fixed-rate", "--on", "NETWORKS"),
        ("compare", "aimd", "fixed-window:9"),
        ("compare", "aimd", "fixed-window:9", "--on", "NETWORKS"),
        ("compare", "aimd", "fixed-window:9", "--on", SPACE, "--margin-percent", "0"),
        ("compare", "aimd", "fixed-window:9", "--on", SPACE, "--margin-percent", "nan"),
        ("compare", "aimd", "fixed-window:9", "--on", SPACE, "--rule", "alpha=1"),
        ("compare", "aimd", "fixed-window:9", "--on", SPACE, "--trials", "5"),
        ("compare", "aimd", "fixed-window:9", "--on", SPACE, "--set", "duration=30"),
        ("import", "nothere.dna", "x.json"),
        ("import", "NETWORKS", "x.json"),
        ("export", "aimd", "x.c"),
        ("export", "nothere.json", "x.c"),
        ("sweep", ROOT / "configs" / "smoke.yaml", "--until", "tested", "--out", "x"),
    ],
    ids=lambda arguments: " ".join(os.path.basename(word) for word in arguments) or "nothing",
)
def test_bad_input_exits_with_2_and_says_nothing_on_standard_output(
    lcca: RunCommand, networks: Path, arguments: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(networks.parent)
    answer = lcca(*(networks if word == "NETWORKS" else word for word in arguments))
    assert answer.status == 2
    assert answer.out == ""
    assert answer.err.splitlines()[-1].startswith("lcca")
    assert "Traceback" not in answer.err
    assert [file.name for file in networks.parent.iterdir()] == ["networks.yaml"]


def test_a_bad_list_of_networks_is_told_by_file_line_and_key(lcca: RunCommand, networks: Path) -> None:
    networks.write_text(NETWORKS.replace("rtt: 27", "rtt: -27").replace("senders: 3", "senders: 0"))
    answer = lcca("evaluate", "aimd", "--on", networks, "--json")
    assert answer.status == 2
    assert answer.err.splitlines() == [
        f"lcca: {networks}:1: 0.rtt: must be >= 0 µs and finite, got -27",
        f"{networks}:3: 2.senders: must be a whole number from 1 to 65535, got 0",
    ]


def test_a_closed_pipe_is_no_error() -> None:
    command = f"{sys.executable} -m lcca.cli.main show signals --json | true"
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {command}"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_terminal_without_our_letters_is_no_error() -> None:
    command = [sys.executable, "-m", "lcca.cli.main", "show", "signals"]
    environment = os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert "?s" in done.stdout


@pytest.mark.parametrize(
    ("utf8", "name", "message"),
    [
        ("0", "fé.yaml", "names with letters beyond ASCII need UTF-8, which this locale has not; set PYTHONUTF8=1"),
        ("0", "f.yaml", "f.yaml: cannot be read"),
        ("1", "fé.yaml", "fé.yaml: cannot be read"),
        ("1", b"f\xe9.yaml", "f\\udce9.yaml: no UTF-8; rename it"),
    ],
)
def test_names_that_a_run_could_not_keep_are_refused(
    utf8: str, name: str | bytes, message: str, tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "lcca.cli.main", "evaluate", "aimd", "--on", name]
    environment = os.environ | {"LC_ALL": "C", "PYTHONUTF8": utf8, "PWD": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, env=environment, cwd=tmp_path)
    assert done.returncode == 2 and message in done.stderr.decode(errors="backslashreplace")


def test_a_failure_of_the_system_exits_with_1(lcca: RunCommand, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(options: object) -> int:
        raise OSError(5, "Input/output error", "/some/file")

    monkeypatch.setitem(load("show").WHAT, "signals", fail)
    answer = lcca("show", "signals")
    assert answer.status == 1
    assert answer.err == "lcca: /some/file: Input/output error; nothing finished was lost\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("show", "signals"), "lcca: stopped\n"),
        (
            ("sweep", ROOT / "configs" / "smoke.yaml"),
            "lcca: stopped; the same command goes on from here\n",
        ),
    ],
)
def test_ctrl_c_tells_how_to_go_on_where_one_can(
    lcca: RunCommand, monkeypatch: pytest.MonkeyPatch, arguments: tuple[object, ...], said: str
) -> None:
    def stop(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setitem(load("show").WHAT, "signals", stop)
    monkeypatch.setattr("lcca.experiments.recipes.sweep.read_grid", stop)
    answer = lcca(*arguments)
    assert (answer.status, answer.err) == (130, said)


def test_ctrl_c_before_a_command_begins(lcca: RunCommand, monkeypatch: pytest.MonkeyPatch) -> None:
    """While its module is imported, or its options are read."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("lcca.cli.main.load", stop)
    answer = lcca("show", "signals")
    assert (answer.status, answer.err) == (130, "lcca: stopped\n")


# check


def test_check_finds_nothing_wrong_here(lcca: RunCommand) -> None:
    assert lcca("check").status == 0
    found = lcca("check", "--json").json()
    assert {finding["name"] for finding in found["findings"]} >= {"python", "engine", "libraries", "cores", "disk"}
    assert all(finding["state"] in ("ok", "missing") for finding in found["findings"])


def test_check_says_how_to_fix_a_broken_engine(lcca: RunCommand, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("undefined symbol")

    monkeypatch.setattr(Engine, "run", broken)
    answer = lcca("check", "--json")
    assert answer.status == 1
    (finding,) = (finding for finding in answer.json()["findings"] if finding["state"] == "broken")
    assert finding["detail"] == "RuntimeError: undefined symbol"
    assert "make setup" in finding["fix"]
    assert "broken   engine: RuntimeError: undefined symbol -> reinstall" in lcca("check").out


def test_check_works_where_nothing_else_does(lcca: RunCommand, monkeypatch: pytest.MonkeyPatch) -> None:
    def load_check_only(name: str) -> Any:
        if name != "check":
            raise ImportError("no module named _core")
        return load(name)

    monkeypatch.setattr(cli, "load", load_check_only)
    assert lcca("check").status == 0
    answer = lcca("show", "signals")
    assert answer.status == 1
    assert answer.err == "lcca: the installation is broken: no module named _core; see `lcca check`\n"


HEAVY = {"torch", "scipy", "matplotlib", "pandas", "numpy", "pydantic", "rich"}


@pytest.mark.parametrize(
    "command", [["--version"], ["--help"], ["show", "signals"], *([name, "--help"] for name in COMMANDS)], ids=" ".join
)
def test_simple_commands_import_nothing_heavy(command: list[str]) -> None:
    code = "import atexit, sys; from lcca.cli.main import main; atexit.register(lambda: print(*sys.modules)); main()"
    done = subprocess.run([sys.executable, "-c", code, *command], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.splitlines()[-1].split())
    assert not loaded & HEAVY
    assert len(loaded) < 260 or command == ["show", "signals"], "a command that says little must start at once"
    assert "lcca.remy_plus._core" not in loaded or command[0] != "check", "check must run without the engine"


@pytest.mark.slow
@pytest.mark.parametrize("recipe", ["compare", "evaluate", "rank", "sweep"])
def test_experiments_begin_without_libraries_that_few_need(recipe: str) -> None:
    code = f"import sys, lcca.experiments.recipes.{recipe}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"scipy.stats", "scipy.optimize", "scipy.sparse", "matplotlib", "torch"} & set(done.stdout.split())


def test_an_unknown_command_is_told_the_nearest(lcca: RunCommand) -> None:
    answer = lcca("sweeep", "configs/quickstart.yaml")
    assert answer.status == 2
    assert answer.err == "lcca: unknown command 'sweeep' (did you mean 'sweep'?); see lcca --help\n"


# show


def test_show_prints_signals_and_sets(lcca: RunCommand) -> None:
    assert "rtt_ratio" in lcca("show", "signals").out
    assert {signal["name"] for signal in lcca("show", "signals", "--json").json()} >= {"queue", "link", "loss"}
    assert lcca("show", "signal", "queue", "--json").json()["unit"] == "packets"
    assert "smoothing: " in lcca("show", "signal", "queue").out
    assert "link+queue" in lcca("show", "signal-sets").out
    assert len(lcca("show", "signal-sets", "--json").json()) > 10
    assert lcca("show", "signal-set", "link+queue", "--json").json()["signals"][-2:] == ["link", "queue"]
    assert lcca("show", "signal-set", "link+queue").out.startswith("link+queue: ")


def test_show_networks(lcca: RunCommand) -> None:
    answer = lcca("show", "networks", SPACE)
    assert "rtt        20 to 30 by 1 µs\n" in answer.out and "(24 to 48 by 6 Gb/s)" in answer.out
    assert "loss       0.001\n" in answer.out
    assert "1,755,600 networks" in answer.out
    assert lcca("show", "networks", SPACE, "--json").json()["size"] == 1_755_600


def test_show_policy(lcca: RunCommand, finished: Path) -> None:
    answer = lcca("show", "policy", policy_of(finished))
    assert "4 rules" in answer.out
    assert "→ window" in answer.out
    shown = lcca("show", "policy", policy_of(finished), "--json").json()
    assert shown == json.loads(policy_of(finished).read_text())
    assert "AIMD" in lcca("show", "policy", "aimd").out


def test_show_run_and_report(lcca: RunCommand, copied: Path) -> None:
    assert lcca("show", "run", copied, "--json").json() == json.loads((copied / "summary.json").read_text())
    shown = lcca("show", "run", copied).out
    assert "policies on fresh test networks" in shown
    assert "signal sets, mean over training seeds" in shown
    table = shown.partition("policies on fresh test networks")[2].partition("± is")[0]
    policies = [line for line in table.splitlines() if ".default.s" in line]
    assert len(policies) == 4 and all(f".default.s{line.rstrip()[-1]} " in line for line in policies)
    before = (copied / "report.html").read_bytes()
    (copied / "report.html").unlink()
    answer = lcca("report", copied, "--json")
    assert answer.json() == {"report": str(copied / "report.html"), "figures": str(copied / "figures")}
    assert (copied / "report.html").read_bytes() == before


def test_a_run_that_is_not_finished_has_nothing_to_show(lcca: RunCommand, copied: Path) -> None:
    (copied / "summary.json").unlink()
    write_state(copied / "manifest.json", (read_manifest(copied) or {}) | {"state": "testing"})
    for command in (("show", "run"), ("report",)):
        answer = lcca(*command, copied)
        assert answer.status == 2
        assert answer.err == f"lcca: {copied}: still testing; finish it with lcca sweep CONFIG\n"


def test_a_damaged_summary_is_one_error(lcca: RunCommand, copied: Path) -> None:
    (copied / "summary.json").write_text("{")
    answer = lcca("show", "run", copied)
    assert answer.status == 2
    assert answer.err.startswith(f"lcca: {copied}/summary.json: damaged (")


# import and export


def test_commands_say_what_they_assume_of_a_dna_file(
    lcca: RunCommand, networks: Path, tmp_path: Path, dna_of: Any
) -> None:
    """A file of a table of raw signals is read as another one: once only `import` said so."""
    policy, dna = tmp_path / "a.json", tmp_path / "a.dna"
    policyfile.write(policy, PolicyFile(one_rule(("rtt_ratio", "queue"))))
    dna.write_bytes(dna_of(one_rule(("rtt_ratio", "queue"))))
    told = f"{dna}: axes 7 and 8 taken as the smoothed signals: queue_ewma; if the table was made for the raw ones"
    evaluated = lcca("evaluate", dna, "--on", networks, "--seeds", 1, "--set", "duration=500", "--json")
    assert told in evaluated.err and evaluated.json()["policies"]
    few = ("--on", SPACE, "--trials", 96, "--set", "duration=500")
    assert told in lcca("compare", policy, dna, *few).err
    back = tmp_path / "b.json"
    assert "raw signals: queue\n" in lcca("import", dna, back, "--int-signals", "raw").out
    assert policyfile.load(back).policy == policyfile.load(policy).policy
    assert "axes" not in lcca("compare", policy, back, *few).err


def test_export_and_import_never_overwrite(lcca: RunCommand, tmp_path: Path) -> None:
    for name in ("a.dna", "a.json", "a.c"):
        (tmp_path / name).write_text("mine")
    law = ROOT / "configs" / "policies" / "law-e2e.json"
    assert "there already" in lcca("export", law, tmp_path / "a.c").err
    assert "there already" in lcca("import", tmp_path / "a.dna", tmp_path / "a.json").err
    assert (tmp_path / "a.json").read_text() == (tmp_path / "a.c").read_text() == "mine"


# evaluate


def test_the_contract_of_evaluate(lcca: RunCommand, networks: Path) -> None:
    answer = lcca("evaluate", "aimd", "--on", networks, "--seeds", 4, "--set", "duration=2000", "--json")
    assert answer.status == 0
    assert len(answer.out.splitlines()) == 1
    rows = answer.json()["policies"]
    assert [row["rtt"] for row in rows] == [27, 20, 15]
    for row in rows:
        for name in MEANS:
            assert isinstance(row[name], float)
            assert isinstance(row[f"{name}_se"], float)
            assert row[f"{name}_se"] > 0
        assert row["throughput_over_link"] == pytest.approx(row["throughput_share"] / row["link_rate"])
        assert row["delay_over_rtt"] == pytest.approx(row["delay_us"] / row["rtt"])
        assert row["trials"] == 4
    assert rows[1]["buffer"] == "inf"
    assert [row["switched"] for row in rows] == ["time", "time", "bytes"]


def test_one_seed_has_no_standard_error(lcca: RunCommand, networks: Path) -> None:
    answer = lcca("evaluate", "aimd", "--on", networks, "--seeds", 1, "--set", "duration=2000", "--json")
    assert all(row["score_bits_se"] is None for row in answer.json()["policies"])


def test_the_number_of_threads_and_the_other_networks_change_nothing(
    lcca: RunCommand, networks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ("evaluate", "aimd", "--on", networks, "--seeds", 3, "--set", "duration=2000", "--json")
    expected = lcca(*command, "--jobs", 1).out
    assert lcca(*command, "--jobs", 2).out == expected
    monkeypatch.setattr("lcca.experiments.recipes.evaluate.TRIALS_KEPT", 1)
    assert lcca(*command, "--jobs", 1).out == expected


def test_evaluate_is_the_mean_over_its_seeds(lcca: RunCommand, networks: Path, tmp_path: Path) -> None:
    command = ("evaluate", "fixed-window:20", "--on", networks, "--set", "duration=2000", "--json")
    row = lcca(*command, "--seeds", 3, "--seed", 5, "--out", tmp_path / "run").json()["policies"][0]
    seeds, place = load_run(tmp_path / "run").trials["seed"].unique(), space_of(networks, ["duration=2000"])
    assert isinstance(place, ListedNetworks)
    own = [place.trials(1, DEFAULT, Execution(), [int(seed)]) for seed in seeds]
    each = [one.rows({"it": FixedWindow(20)}, Block(0, 0, 1))["score_bits"][0] for one in own]
    assert row["score_bits"] == pytest.approx(sum(each) / 3)
    variance = sum((x - sum(each) / 3) ** 2 for x in each) / 2
    assert row["score_bits_se"] == pytest.approx(math.sqrt(variance / 3))


def test_evaluate_prints_a_table(lcca: RunCommand, networks: Path) -> None:
    answer = lcca("evaluate", "aimd", "--on", networks, "--seeds", 2, "--set", "duration=2000")
    assert "2: 36 Gb/s, rtt 15 µs, senders: 3" in answer.out and "±" in answer.out
    rows = lcca("evaluate", "aimd", "--on", networks, "--seeds", 2, "--set", "duration=2000", "--json").json()[
        "policies"
    ]
    assert all(f"{12 * row['throughput_share']:.3f} ± " in answer.out for row in rows)


def test_evaluate_takes_policy_and_dna_files(
    lcca: RunCommand, networks: Path, finished: Path, tmp_path: Path, dna_of: Any
) -> None:
    dna = tmp_path / "a.dna"
    dna.write_bytes(dna_of(policyfile.load(policy_of(finished)).policy))
    options = ("--on", networks, "--seeds", 2, "--set", "duration=2000", "--json")
    assert lcca("evaluate", policy_of(finished), *options).json()["policies"][0]["score_bits"] > 0
    read = lcca("evaluate", dna, *options)
    assert read.status == 0 and "one of R+; if not: lcca import --pacing absolute" in read.err
    assert lcca("import", dna, tmp_path / "a.json", "--pacing", "absolute").status == 0
    assert "pacing" not in lcca("evaluate", tmp_path / "a.json", *options).err
    refused = lcca("import", policy_of(finished), tmp_path / "b.json", "--pacing", "absolute")
    assert (refused.status, refused.out) == (2, "")
    assert "its pacing is relative; leave the pacing option out" in refused.err


def test_evaluate_charges_the_header_of_a_policy_file(lcca: RunCommand, networks: Path, tmp_path: Path) -> None:
    options = ("--on", networks, "--seeds", 2, "--set", "duration=2000", "--json")
    scores = {}
    for name in (None, "hpcc"):
        file = tmp_path / f"{name}.json"
        policyfile.write(file, PolicyFile(FixedWindow(20), header=name))
        scores[name] = lcca("evaluate", file, *options).json()["policies"][0]["score_bits"]
    assert scores[None] > scores["hpcc"]
    unknown = tmp_path / "unknown.json"
    policyfile.write(unknown, PolicyFile(FixedWindow(20), header="hpc"))
    refused = lcca("evaluate", unknown, *options)
    assert refused.status == 2
    assert "unknown header 'hpc' (did you mean 'hpcc'?)" in refused.err


# compare


def test_a_policy_is_not_compared_with_itself(lcca: RunCommand) -> None:
    answer = lcca("compare", "aimd", "aimd", "--on", SPACE, "--set", "duration=1000", "--json")
    assert answer.status == 2 and "a policy is named twice" in answer.err


def test_a_poor_policy_is_worse_and_the_interval_is_of_b_minus_a(lcca: RunCommand) -> None:
    options = ("--on", SPACE, "--set", "duration=1000", "--stop", "settled", "--json")
    shown = lcca("compare", "aimd", "fixed-window:1", *options[:-1]).out
    assert "fixed-window:1" in shown and "worse" in shown
    told = lcca("compare", "aimd", "fixed-window:1", *options).json()
    (found,), (turned,) = told["comparisons"], lcca("compare", "fixed-window:1", "aimd", *options).json()["comparisons"]
    assert (found["verdict"], found["direction"]) == ("worse", "-")
    assert (turned["verdict"], turned["direction"]) == ("better", "+")
    assert turned["difference"] == pytest.approx(-found["difference"])
    assert found["high"] < 0
    rare = found["n"] // 3
    assert 1 - (1 - 1 / rare) ** found["n"] == pytest.approx(0.95, abs=0.001)
    assert f"stopped as soon as settled, at {found['n']} networks: what happens on fewer than one in {rare} " in shown
    assert "stopped as soon as settled" in told["note"]


def test_blocks_and_threads_change_no_verdict(lcca: RunCommand) -> None:
    options = ("--on", SPACE, "--set", "duration=1000", "--trials", 112, "--json")
    first = lcca("compare", "aimd", "fixed-window:30", *options, "--jobs", 1)
    assert lcca("compare", "aimd", "fixed-window:30", *options, "--jobs", 2).out == first.out
    other = lcca("compare", "aimd", "fixed-window:30", *options, "--rule", "step=7").json()
    assert other["comparisons"] == first.json()["comparisons"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("show", "signals"),
        ("show", "signal", "queue"),
        ("show", "signal-sets"),
        ("show", "signal-set", "e2e"),
        ("show", "networks", SPACE),
        ("show", "policy", "aimd"),
        ("check",),
    ],
    ids=lambda arguments: " ".join(arguments[:2]),
)
def test_json_is_one_document_and_nothing_else(lcca: RunCommand, arguments: tuple[object, ...]) -> None:
    answer = lcca(*arguments, "--json")
    assert answer.status == 0
    answer.json()
    assert "NaN" not in answer.out
    assert "Infinity" not in answer.out


def test_the_policy_files_of_a_run_are_in_order(finished: Path) -> None:
    for file in (finished / "policies").rglob("*.json"):
        found = policyfile.read(file)
        assert found.provenance["config_hash"] == json.loads((finished / "summary.json").read_text())["config_hash"]
    with pytest.raises(InputError):
        policyfile.read(finished / "summary.json")
