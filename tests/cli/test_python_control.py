"""A class in Python on the command line: evaluated, compared and ranked like any policy, refused by name elsewhere."""

import json
import re
import shutil
from pathlib import Path

import pytest

from lcca.cli.main import main

ROOT = Path(__file__).parents[2]
SPACE, FABRIC = ROOT / "configs/networks/default.yaml", ROOT / "configs/fabric/incast.yaml"


@pytest.fixture
def name(tmp_path: Path) -> str:
    shutil.copy(ROOT / "tests/remy-plus/policies/python_controls.py", tmp_path / "mine.py")
    shutil.copy(ROOT / "configs/policies/e2e.json", tmp_path / "table.json")
    return f"{tmp_path}/mine.py:Aimd"


@pytest.fixture
def networks(tmp_path: Path) -> str:
    (tmp_path / "few.yaml").write_text(
        "- {link_rate: 2.0, rtt: 20, senders: 2, buffer: 20, mean_on: 500, mean_off: 100, loss: 0.01}\n"
    )
    return f"{tmp_path}/few.yaml"


def said(capsys: pytest.CaptureFixture[str], *options: object) -> str:
    assert main([*map(str, options), "--json"]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("jobs", ["1", pytest.param("2", marks=pytest.mark.full)])
def test_it_is_evaluated_as_the_engines_own(
    name: str, networks: str, jobs: str, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--on", networks, "--seeds", 2, "--set", "duration=1000", "--jobs", jobs]
    own, engines = (json.loads(said(capsys, "evaluate", each, *options))["policies"] for each in (name, "aimd"))
    assert own == [each | {"id": name} for each in engines]


@pytest.mark.full
def test_it_is_evaluated_in_ns3_as_the_engines_own(
    name: str, networks: str, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("lcca.ns3")
    options = ["--on", networks, "--seeds", 2, "--set", "duration=1000", "--simulator", "ns3"]
    own, engines = (json.loads(said(capsys, "evaluate", each, *options))["policies"] for each in (name, "aimd"))
    assert own == [each | {"id": name} for each in engines]
    late = name.replace("Aimd", "Late")
    assert main(["evaluate", late, *map(str, options), "--set", "duration=2000"]) == 1
    assert re.search(r"2 trials failed: \S+mine.py:\d+: Late.on_ack returned a window of nan", capsys.readouterr().err)


@pytest.mark.parametrize("jobs", [pytest.param("1", marks=pytest.mark.full), "2"])
def test_it_is_evaluated_on_a_fabric_as_the_engines_own(
    name: str, jobs: str, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--on", FABRIC, "--set", "duration_us=100", "--trials", 2, "--jobs", jobs]
    both = json.loads(said(capsys, "evaluate", name, "aimd", *options))["policies"]
    assert [each.pop("id") for each in both] == [name, "aimd"] and both[0] == both[1]


def test_a_comparison_with_the_engines_own_finds_nothing(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--on", SPACE, "--trials", 96, "--set", "duration=300", "--jobs", 1]
    found = json.loads(said(capsys, "compare", "aimd", name, *options))
    assert found["comparisons"][0]["difference"] == 0


@pytest.mark.slow
def test_a_ranking_that_is_kept_belongs_to_the_text(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["rank", name, "fixed-window:12", "--on", str(SPACE), "--trials", "96", "--set", "duration=300"]
    asked += ["--jobs", "1", "--out", str(tmp_path / "run"), "--json"]
    assert main(asked) == 0 and main([*asked]) == 0
    file = tmp_path / "mine.py"
    file.write_text(file.read_text() + "# other\n")
    assert main([*asked]) == 2
    assert "another configuration" in capsys.readouterr().err


@pytest.mark.slow
def test_a_ranking_that_is_kept_belongs_to_what_the_text_imports(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    file, steps = tmp_path / "mine.py", tmp_path / "lcca_kept_steps.py"
    steps.write_text("STEP = 1\n")
    file.write_text("import lcca_kept_steps\n" + file.read_text())
    asked = ["rank", name, "fixed-window:12", "--on", str(SPACE), "--trials", "96", "--set", "duration=300"]
    asked += ["--jobs", "1", "--out", str(tmp_path / "run"), "--json"]
    assert main(asked) == 0 and main([*asked]) == 0
    steps.write_text("STEP = 2\n")
    assert main([*asked]) == 2
    assert "another configuration" in capsys.readouterr().err


@pytest.mark.slow
def test_a_file_is_one_policy_however_its_path_is_written(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    asked = ["--on", str(SPACE), "--trials", "96", "--set", "duration=300", "--jobs", "1", "--json"]
    assert main(["rank", "mine.py:Aimd", "./mine.py:Aimd", *asked]) == 2
    assert "a policy is named twice" in capsys.readouterr().err
    assert main(["evaluate", "./mine.py:Aimd", name, "--on", str(FABRIC)]) == 2
    assert "named twice" in capsys.readouterr().err
    assert main(["rank", "aimd", "mine.py:Aimd", *asked, "--out", "run"]) == 0
    first = capsys.readouterr().out
    assert main(["rank", "aimd", name, *asked, "--out", "run"]) == 0
    assert capsys.readouterr().out == first


def test_where_it_does_not_run_it_is_refused_by_name(
    name: str, networks: str, capsys: pytest.CaptureFixture[str]
) -> None:
    tuning, campaign = ROOT / "configs/tuning/vegas.yaml", ROOT / "configs/quickstart.yaml"
    assert main(["tune", str(tuning), "--set", f"tuner.policy={name}", "--set", "tuner.space=usual"]) == 2
    assert "neither trained, tuned nor part of a campaign" in capsys.readouterr().err
    assert main(["sweep", str(campaign), "--plan", "--set", f"hand_designed=['{name}']"]) == 2
    assert "neither trained, tuned nor part of a campaign" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_what_it_prints_is_no_result(
    name: str, networks: str, jobs: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.py").write_text(
        "import sys\nprint('read')\nclass Mine:\n    def start(self): return 4, 0\n    def on_ack(self, ack):\n"
        "        print('told', ack.now)\n        sys.stdout.write('twice ')\n        return 4, 0\n"
    )
    mine = name.replace("Aimd", "Mine")
    assert main(["evaluate", mine, "--on", networks, "--set", "duration=500", "--jobs", str(jobs), "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["policies"] and "read\n" in err and "told " in err and "twice " in err
    print("ours")
    assert capsys.readouterr().out == "ours\n"


@pytest.mark.parametrize("where", ["networks", "fabric"])
def test_one_that_ends_the_process_is_an_error(
    name: str, networks: str, where: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.py").write_text(
        "import os\nclass Mine:\n    def start(self): return 4, 0\n    def on_ack(self, ack): os._exit(0)\n"
    )
    place = ["--on", networks] if where == "networks" else ["--on", str(FABRIC)]
    assert main(["evaluate", name.replace("Aimd", "Mine"), *place]) == 2
    assert "ends the process that it runs in" in capsys.readouterr().err


@pytest.mark.slow
def test_control_characters_of_its_name_reach_no_terminal(
    name: str, networks: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(tmp_path / "mine.py", tmp_path / "\x1b[31mred.py")
    red = name.replace("mine.py", "\x1b[31mred.py")
    fabric = ["--on", str(FABRIC), "--set", "duration_us=20"]
    space = ["--on", str(SPACE), "--set", "duration=300"]
    for asked in (
        ["evaluate", red, "--on", networks, "--set", "duration=300"],
        ["evaluate", red, *fabric, "--trials", "2", "--tables"],  # one of them has room for the name in one line
        ["compare", red, "aimd", *space, "--trials", "96"],
        ["rank", red, "aimd", *space, "--trials", "96"],
        ["show", "policy", red],
    ):
        assert main(asked) == 0
        out, err = capsys.readouterr()
        assert "\x1b" not in out + err and "\\x1b[31mred.py" in out


@pytest.mark.slow
def test_the_page_does_what_it_says(
    networks: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pages = ("docs/tutorial/own-control.md", "docs/how-to/own-control.md")
    control, snippet = re.findall(
        r"```python\n(.*?)```", "".join((ROOT / page).read_text() for page in pages), re.DOTALL
    )
    monkeypatch.chdir(tmp_path)
    Path("my_cca.py").write_text(control)
    goals = [f"my_cca.py:Mine:packets={packets}" for packets in (1, 9)]
    options = ["--on", networks, "--set", "duration=1000", "--jobs", 1]
    delays = [json.loads(said(capsys, "evaluate", name, *options))["policies"][0]["delay_us"] for name in goals]
    assert delays[0] < delays[1]
    Path("my_cca.py").write_text(control.replace("(1 - ack", "(1 - ack.queue - ack"))
    assert main(["evaluate", goals[0], "--on", networks]) == 2
    assert "my_cca.py:13: Mine.on_ack: ack has no 'queue'; add it to the class" in capsys.readouterr().err
    pytest.importorskip("gymnasium")
    Path("my_cca.py").write_text(control)
    exec(snippet, {})
