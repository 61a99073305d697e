"""`lcca estimate` with `method: model-based`: delivered, refused, stopped and gone on, and wrongly configured."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from lcca.evaluation.settling.sequence import HORIZON
from lcca.evaluation.trials.layout import part_name
from lcca.evaluation.trials.store import TrialStore
from lcca.studies.cceval.config import EstimationConfig
from tests.fixtures import Answer, RunCommand

SMALL = """\
name: small
policy: fixed-window:1000
network: {link_rate: 1, rtt: 5, traffic: {load: 0.7, sizes: "lognormal:8:1", packet_bytes: 1000}}
duration: 90
estimate:
  metric: fct_us
  quantile: 0.99
  accuracy_percent: 6
  ceiling: 6000
  method: model-based
"""
PLAIN = ("estimate.method=model-free",)
SHORT = ("estimate.importance={epochs: 1, cycles: 20, pilot: 20}", "estimate.ceiling=60")
KEYS = {"estimate", "low", "high", "confidence", "trials", "forecast_low", "forecast_high", "method"}


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small.yaml"
    path.write_text(SMALL)
    return path


def estimate(lcca: RunCommand, config: Path, run: str, changes: Sequence[str] = (), *options: object) -> Answer:
    sets = [part for change in changes for part in ("--set", change)]
    return lcca("estimate", config, "--out", config.parent / run, *sets, *options)


def kept(config: Path, run: str = "run") -> dict:
    return json.loads((config.parent / run / "summary.json").read_text())


def test_what_is_delivered(lcca: RunCommand, small: Path) -> None:
    (found,) = estimate(lcca, small, "run", (), "--json").json()["estimates"]
    assert set(found) > KEYS and None not in (found[key] for key in KEYS)
    assert found["method"].startswith("model-based: importance sampling, tail boost")
    assert found["low"] < found["estimate"] < found["high"] and found["confidence"] == 0.95
    assert found["high"] - found["low"] <= 2 * 0.06 * found["estimate"]
    assert 800 < found["forecast_low"] <= found["forecast_high"] and 800 < found["trials"] < 6000
    told = kept(small)
    assert found["accurate"] and told["importance"]["delivered"] and not told["importance"]["refused"]
    assert len(told["importance"]["checks"]) == 8 and told["importance"]["variance_ratio"] >= 2
    assert told["importance"]["simulations"] == found["trials"] == found["looks"][-1]["n"]
    answer = estimate(lcca, small, "run", ())
    assert "fct_us p99: " in answer.out and "refused" not in answer.out
    assert (small.parent / "run" / "figures" / "convergence.svg").is_file()


def test_how_well_a_lognormal_fits_the_sizes_is_told(lcca: RunCommand, small: Path) -> None:
    answer = estimate(lcca, small, "run", SHORT)
    assert [line.split()[2] for line in answer.out.splitlines() if line.startswith("size model")] == ["lognormal:"]
    (fit,) = kept(small)["size_models"]
    assert fit["family"] == "lognormal" and fit["usable"]
    assert {"rms_error", "largest_error", "mean_ratio", "quantile_error", "parameters", "p"} <= set(fit)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "name", "words"),
    [
        (SHORT, "variance ratio", "pilot variance ratio against plain trials"),
        (
            (
                "network.traffic.sizes=websearch",
                "duration=5000",
                "estimate.importance={size_model: lognormal}",
                "estimate.ceiling=810",
            ),
            "size model",
            "relative error of the size model at the target quantile",
        ),
        (
            (
                "estimate.importance={tilt: normal, bounded: false, epochs: 10, cycles: 50}",
                "duration=400",
                "estimate.ceiling=800",
            ),
            "tilt",
            "tilt strength n(Δμ/σ)²",
        ),
    ],
)
def test_refusals_are_named_and_plain_trials_take_over(
    lcca: RunCommand, small: Path, changes: tuple[str, ...], name: str, words: str
) -> None:
    changes = (*changes, "estimate.accuracy_percent=100")
    answer = estimate(lcca, small, "run", changes)
    assert f"importance sampling refused by {words}: " in answer.out
    assert f"importance sampling is refused by {words}: " in answer.err
    (found,) = estimate(lcca, small, "run", changes, "--json").json()["estimates"]
    assert set(found) > KEYS and name in found["method"].partition("; model-based refused by ")[2].split(", ")
    told = kept(small)["importance"]
    assert not told["delivered"] and name in [check["test"] for check in told["refused"]]
    plain = estimate(lcca, small, "plain", (*(c for c in changes if "importance" not in c), *PLAIN), "--json").json()
    (plain,) = plain["estimates"]
    for key in ("estimate", "low", "high"):
        assert found[key] == plain[key]
    for key in ("trials", "forecast_low", "forecast_high"):
        assert found[key] == min(plain[key] + told["simulations"], HORIZON)
    assert found["method"].startswith(plain["method"] + "; ")


@pytest.mark.slow
def test_kept_trials_of_other_flows_are_not_used(lcca: RunCommand, small: Path) -> None:
    assert estimate(lcca, small, "run", SHORT).status == 0
    store, part = TrialStore(small.parent / "run" / "trials"), part_name("importance", 0)
    rows = store.read(part)
    store.add(part, rows.assign(arrival_us=rows["arrival_us"] / 2))
    (small.parent / "run" / "summary.json").unlink()
    answer = estimate(lcca, small, "run", SHORT)
    assert answer.status == 2 and f"{part} holds other flows" in answer.err


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("  quantile: 0.99\n", "", "9: estimate.method: model-based needs a quantile"),
        ("quantile: 0.99", "target: mean-of-trials", "needs a quantile and target: pooled"),
        ("  ceiling: 6000\n", "", "9: estimate.method: model-based needs a ceiling, which is its budget"),
        ("6000", "800", "estimate.importance: search and pilot take 800 trials (epochs × cycles + pilot)"),
        ("model-based", "model-base", "10: estimate.method: must be one of 'model-free', 'model-based' or 'splitting'"),
        ("model-based", "model-free\n  importance: {}", "11: estimate.importance: is for method: model-based"),
        ("model-based", "model-based\n  importance: {tlit: x}", "11: estimate.importance.tlit: unknown key (did you"),
        ("model-based", "model-based\n  importance:\n    cycles: 5", "12: estimate.importance.cycles: must be >= 20"),
        (
            SMALL[SMALL.index("network:") : SMALL.index("estimate:")],
            "networks: {link_rate: 2, rtt: 9, senders: 2, buffer: 9, mean_on: 9, mean_off: 9, loss: 0, duration: 90}\n",
            "estimate: method: model-based needs network.traffic (one link with open flows), not networks",
        ),
    ],
)  # fmt: skip
def test_bad_configurations_are_one_clear_error(
    lcca: RunCommand, small: Path, old: str, new: str, message: str
) -> None:
    assert old in SMALL
    small.write_text(SMALL.replace(old, new))
    answer = estimate(lcca, small, "run")
    assert answer.status == 2 and f"{small}:" in answer.err and message in answer.err and "Traceback" not in answer.err
    assert not (small.parent / "run").exists()


def test_options_of_the_method_are_part_of_the_hash() -> None:
    link = {"link_rate": 3, "rtt": 25, "traffic": {"load": 0.5, "sizes": "websearch", "packet_bytes": 1000}}
    asked = {"metric": "fct_us", "quantile": 0.99, "ceiling": 2000, "method": "model-based"}
    base = {"name": "a", "policy": "aimd", "network": link, "estimate": asked}
    config = EstimationConfig.model_validate(base)
    same = EstimationConfig.model_validate(base | {"estimate": asked | {"importance": {"cycles": 200}}})
    other = EstimationConfig.model_validate(base | {"estimate": asked | {"importance": {"cycles": 100}}})
    assert config.hash == same.hash != other.hash
