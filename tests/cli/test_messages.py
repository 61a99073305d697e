"""Messages that users of 0.1 found poor: each names what to do, in one line."""

from pathlib import Path

import pytest

from ..fixtures import RunCommand

CONFIGS = Path(__file__).resolve().parents[2] / "configs"
SPACE, LEAF, VEGAS = (
    str(CONFIGS / name) for name in ("networks/default.yaml", "fabric/leaf-spine.yaml", "tuning/vegas.yaml")
)
MESSAGES = {
    ("evaluate", "my.py", "--on", SPACE): "name the class in it, as in my.py:Mine",
    ("show", "policy", SPACE): "a YAML file, and no policy",
    ("compare", "dctcp", "hpcc", "--on", SPACE): "or a fabric scenario",
    ("rank", "dctpc", "hpcc", "--on", LEAF): "did you mean 'dctcp'?",
    ("rank", "dctpc", "aimd", "--on", SPACE): "did you mean 'dctcp'?",
    ("compare", "aimd", "rcp", "--on", str(CONFIGS / "quickstart.yaml")): "this is a campaign, and no place",
    ("sweep", SPACE): "this is a network space, not a campaign",
    ("compare", "dctcp", "hpcc", "--on", LEAF, "--set", "workload.load=1.9"): "at most 1 fits",
    ("compare", "aimd", "rcp", "--on", str(CONFIGS / "networks" / "examples.yaml")): "verdicts need a network space",
    ("tune", VEGAS, "--set", "tuner.networks=8"): "--set tuner.race.first_look=4 is",
    ("show", "signal", "rtt"): "did you mean 'rtt_ratio'?",
    ("show", "signal", "utilization"): "did you mean 'link'?",
    ("show", "signal-set", "int"): "did you mean the header 'int-md'?",
    ("show", "header", "int"): "did you mean 'int-md'?",
    ("show", "header", "ECN"): "did you mean 'ecn'?",
    ("plot", "run", "--figure", "all", "--width", "8"): "a width with its unit",
    ("evaluate", "aimd", "--on", SPACE, "--seeds", "0"): "must be at least 1, got 0; see lcca evaluate --help",
    ("evaluate", "aimd", "--on", SPACE, "--trials", "٣"): "must be a whole number, got '٣'",
    ("evaluate", "hpcc:eta=1,95", "--on", LEAF): "hpcc: 'eta=1,95': decimals take a point: eta=1.95",
    ("evaluate", "vegas:alpha=1,5", "--on", SPACE, "--simulator", "ns3"): "decimals take a point: alpha=1.5",
    ("evaluate", "rcp:alpha=0,5", "--on", SPACE): "decimals take a point: alpha=0.5",
    ("evaluate", "my.py:Mine:gain=0,5", "--on", SPACE): "decimals take a point: gain=0.5",
    ("compare", "aimd", "aimd", "--on", SPACE, "--rule", "t-mixture:alpha=0,1"): "decimals take a point: alpha=0.1",
    ("compare", "aimd", "aimd", "--on", SPACE, "--rule", "alpha=0.1,alpha=0.2"): "alpha: given twice",
    ("evaluate", "aimd", "--on", SPACE, "--simulator", "ns3:min_rto=1,min_rto=2"): "min_rto: given twice",
    ("evaluate", "aimd", "--on", SPACE, "--set", "topology=line:hosts_per_router=1,hosts_per_router=2"): "given twice",
    ("evaluate", "aimd", "--on"): "expected one argument; see lcca evaluate --help",
}


@pytest.mark.parametrize("words", MESSAGES, ids=" ".join)
def test_a_mistake_is_answered_by_what_to_do(
    words: tuple[str, ...], lcca: RunCommand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my.py").write_text("class Mine: ...\n")
    answer = lcca(*words)
    assert answer.status == 2 and answer.out == ""
    assert MESSAGES[words] in answer.err
    assert len(answer.err.splitlines()) == 1, "one line"


SPELT = {
    "compare a b --space x --pairs 9": "compare a b --on x --trials 9",
    "compare a b --fabric=x --seeds 9": "compare a b --on=x --trials 9",
    "rank a b --fabric x --seeds 9": "rank a b --on x --trials 9",
    "rank a b --bench x --networks 9": "rank a b --on x --trials 9",
    "evaluate a --networks x --seeds 9": "evaluate a --on x --seeds 9",
    "bound --space x": "evaluate --bound --on x",
    "agree a --space x": "evaluate --simulator both a --on x",
}


@pytest.mark.parametrize("before", SPELT)
def test_an_old_spelling_works_and_says_the_new_one(before: str, lcca: RunCommand) -> None:
    now, of_now = lcca(*before.split()), lcca(*SPELT[before].split())
    assert now.err == f"lcca: this is now spelt lcca {SPELT[before]}\n{of_now.err}"
    assert (now.status, now.out) == (of_now.status, of_now.out)
    assert "spelt" not in of_now.err
