"""`lcca compare` and `evaluate` with a folder: stopped ones go on, and end as if they had not been stopped."""

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from lcca.cli.main import main
from lcca.evaluation.fabric import space as fabrics
from lcca.evaluation.trials import place
from lcca.evaluation.trials import source as spaces
from lcca.gym_envs.ns3.plan import Ns3Options
from lcca.remy_plus.engine import Engine

CONFIGS = Path(__file__).parents[2] / "configs"
SPACE = str(CONFIGS / "networks" / "default.yaml")
INCAST = ["--on", str(CONFIGS / "fabric" / "incast.yaml"), "--set", "duration_us=100"]

NETWORKS = "".join(
    f"- {{link_rate: {1 + i}, rtt: 100, senders: 2, buffer: 50, mean_on: 1000, mean_off: 1000, loss: 0}}\n"
    for i in range(12)
)


class SlowEngine(Engine):
    """Stands for ns-3: the same trials by another name."""

    name = "ns-3"
    options = Ns3Options()

    def __init__(self, duration: float, model: Any, jobs: int, *_: Any) -> None:
        super().__init__(duration, model, jobs)


@pytest.fixture
def networks(tmp_path: Path) -> str:
    (tmp_path / "networks.yaml").write_text(NETWORKS)
    return str(tmp_path / "networks.yaml")


def commands(networks: str) -> dict[str, tuple[ModuleType, str, list[str]]]:
    """By name: what runs a block, and what is asked for."""
    compare = ["compare", "aimd", "fixed-window:9", "--on", SPACE, "--trials", "128", "--set", "duration=2000"]
    fabric = ["evaluate", "dctcp", "dcqcn", *INCAST, "--trials", "5"]
    both = ["evaluate", "aimd", "--on", SPACE, "--trials", "32", "--set", "duration=2000"]
    return {
        "compare": (spaces, "run_trials", [*compare, "--rule", "step=16"]),
        "evaluate": (spaces, "run_trials", ["evaluate", "aimd", "--on", networks, "--seeds", "30"]),
        "evaluate-fabric": (fabrics, "run_fabric_trials", fabric),
        "both": (spaces, "run_trials", [*both, "--simulator", "both:header_bytes=0"]),
    }


def stops_after(calls: int, run: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that Ctrl-C reaches after so many calls."""
    left = [calls]

    def wrapped(*arguments: Any, **named: Any) -> Any:
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        return run(*arguments, **named)

    return wrapped


@pytest.mark.slow
def test_what_is_kept_is_what_is_told_without_a_folder(
    networks: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = [*commands(networks)["evaluate-fabric"][2], "--json"]
    assert main(asked) == 0
    plain = capsys.readouterr().out
    assert main([*asked, "--out", str(tmp_path / "run")]) == 0
    assert capsys.readouterr().out == plain


def test_without_a_folder_nothing_is_kept_and_the_message_says_so(
    networks: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    module, function, asked = commands(networks)["compare"]
    monkeypatch.setattr(module, function, stops_after(0, getattr(module, function)))
    assert main(asked) == 130
    assert "nothing was kept: with --out FOLDER" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["compare", "evaluate", "evaluate-fabric", "both"])
def test_a_plan_runs_a_few_trials_and_leaves_nothing(
    name: str, networks: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(place, "Ns3", SlowEngine)
    monkeypatch.setattr("lcca.experiments.runs.forecast.cpu_s", iter(range(100)).__next__)
    asked = [*commands(networks)[name][2], "--jobs", "2", "--plan", "--json", "--out", str(tmp_path / "run")]
    assert main(asked) == 0
    found = json.loads(capsys.readouterr().out)
    last = found["costs"][-1]
    assert last["time_s"] == last["cpu_s"] / 2 and not (tmp_path / "run").exists()
    if name == "evaluate-fabric":  # stretches of 1, 2 and 2 seeds take a second each, by this clock
        assert (found["tried"], last["seeds"], last["cpu_s"]) == (5, 5, pytest.approx(3))
    if name == "evaluate":  # 1, 2, 4 and 5 networks
        assert (found["tried"], last["cpu_s"]) == (12, pytest.approx(4))
