"""A run folder made up of known numbers, as a campaign would leave it."""

import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from lcca.evaluation.comparison.compare import compare_policies
from lcca.evaluation.comparison.sets import compare_sets
from lcca.evaluation.scenarios.networks import NetworkSpace
from lcca.evaluation.settling.rules import SettlingRule
from lcca.evaluation.settling.units import BLOCK
from lcca.evaluation.trials import layout
from lcca.evaluation.trials.layout import NETWORK_COLUMNS
from lcca.evaluation.trials.phases import PARTS
from lcca.evaluation.trials.store import TrialStore
from lcca.evaluation.trials.stored import read_json, write_json, write_state, write_table
from lcca.evaluation.trials.utilities import DEFAULT
from lcca.inputs.files import write_with_digest
from lcca.remy_plus.record import PHASES

sys.path.insert(0, str(Path(__file__).parent / "settling"))  # settling_conformance
pytest.register_assert_rewrite("settling_conformance")

BuildRun = Callable[..., Path]

SPACE = {
    "rtt": {"min": 20, "max": 30, "step": 1},
    "link_rate": {"min": 2, "max": 4, "step": 0.5},
    "senders": {"min": 1, "max": 16, "step": 1},
    "buffer": {"min": 100, "max": 250, "step": 25},
    "mean_on": {"min": 1000, "max": 10000, "step": 500},
    "mean_off": {"min": 100, "max": 1500, "step": 100},
    "loss": 0.001,
    "duration": 10000,
}
# What each set is worth over e2e, in bits; "link" also gains with the number of senders.
WORTH = {"e2e": 0.0, "link": 0.10, "queue": 0.005, "link+queue": 0.03}


def _trials(sets: dict[str, str], seeds: int, networks: pd.DataFrame) -> pd.DataFrame:
    rng = np.random.default_rng(7)
    n = len(networks)
    traffic = rng.normal(2.9, 0.35, n)
    parts = []
    for signal_set, label in sets.items():
        for seed in range(1, seeds + 1):
            crowd = 0.01 * (networks["senders"].to_numpy() - 8) if signal_set == "link" else 0
            luck = rng.normal(0, 0.012)
            score = traffic + WORTH[signal_set] + crowd + luck + rng.normal(0, 0.05, n)
            throughput = np.clip(0.6 + 0.1 * (score - 2.5) + rng.normal(0, 0.05, n), 0, 1)
            delay = 1.1 + 0.1 * rng.random(n) + (0.3 if signal_set == "e2e" else 0.1) * rng.random(n)
            rate, rtt = networks["link_rate"].to_numpy(), networks["rtt"].to_numpy()
            parts.append(
                pd.DataFrame(
                    {
                        "policy": f"{label}-{seed}",
                        "network": networks["network"],
                        "seed": np.int64(1),
                        "status": "ok",
                        "error": "",
                        "utility": "default",
                        "score_bits": score,
                        "throughput_share": throughput * rate,
                        "throughput_over_link": throughput,
                        "delay_us": delay * rtt,
                        "delay_over_rtt": delay,
                        "fairness": 0.04,
                        "starved": np.int64(0),
                        "below_fair_bits": 0.6 - WORTH[signal_set] - crowd,
                        "utilisation_gap_bits": 0.4 - WORTH[signal_set] - crowd,
                        "unfairness_gap_bits": -0.02,
                        "delay_gap_bits": 0.22,
                        **{f"phase_{phase}_{part}": 0.01 * k for k, phase in enumerate(PHASES) for part in PARTS},
                    }
                )
            )
    return pd.concat(parts, ignore_index=True)


def _policy(label: str, signal_set: str, seed: int, trials: pd.DataFrame) -> dict[str, Any]:
    own = trials[trials["policy"] == f"{label}-{seed}"]
    columns = ["score_bits", "throughput_share", "throughput_over_link", "delay_us", "delay_over_rtt"]
    test: dict[str, Any] = {name: float(own[name].mean()) for name in columns}
    test |= {f"{name}_se": float(own[name].sem()) for name in columns}
    test |= {"fairness": 0.04, "starved": 0, "trials": len(own)}
    return {
        "id": f"{label}-{seed}",
        "signal_set": signal_set,
        "utility": "default",
        "training_seed": seed,
        "checkpoint": "step-12",
        "rules": 31,
        "validation_score_bits": test["score_bits"] + 0.01,
        "trained": test,
        "test": test,
    }


def _learning(sets: dict[str, str], seeds: int) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    steps = np.arange(25)
    rows = []
    for signal_set, label in sets.items():
        for seed in range(1, seeds + 1):
            score = 2.9 + WORTH[signal_set] - 0.8 * np.exp(-steps / 4) + rng.normal(0, 0.01, steps.size)
            frame = pd.DataFrame({"step": steps, "score_bits": score, "packets": (steps + 1) * 3.1e6})
            rows.append(
                frame.assign(
                    policy_base=f"{label}-{seed}",
                    signal_set=signal_set,
                    utility="default",
                    training_seed=seed,
                    round=steps // 5,
                    rules=1,
                    trials=(steps + 1) * 40 + seed,
                    cpu_s=1.0,
                )
            )
    return pd.concat(rows, ignore_index=True)


@pytest.fixture(scope="session")
def build_run(tmp_path_factory: pytest.TempPathFactory) -> BuildRun:
    """Return a function that writes a run folder: `build_run(seeds=3, count=120, names={})`."""

    def build(seeds: int = 3, count: int = 120, names: dict[str, str] | None = None) -> Path:
        folder = tmp_path_factory.mktemp("run")
        sets = {name: (names or {}).get(name, name) for name in WORTH}
        drawn = NetworkSpace.model_validate(SPACE).draw(seed=11, count=count)
        networks = pd.DataFrame([asdict(network) for network in drawn]).rename(columns={"id": "network"})
        trials = _trials(sets, seeds, networks)
        half, store = len(trials) // 2, TrialStore(folder / layout.TRIALS)
        parameters = networks.assign(topology=[str(network.topology) for network in drawn])
        whole = trials.merge(parameters[["network", *NETWORK_COLUMNS]], on="network")
        store.add(layout.part_name(layout.TEST, "default", 1), whole.iloc[half:])
        store.add(layout.part_name(layout.TEST, "default", 0), whole.iloc[:half])
        for seed in range(1, seeds + 1):  # the same trials, as if every training seed had networks of its own
            own = whole[whole["policy"].str.endswith(f"-{seed}")]
            own = own.assign(network=own["network"] + 1000 * seed)
            store.add(layout.part_name(layout.TRAININGS_TEST, "default", seed), own)
        write_table(folder / layout.LEARNING, _learning(sets, seeds))
        _write_records(folder, sets, seeds, trials)
        return folder

    return build


def _capacity(name: str, rules: int, comparison: dict[str, Any]) -> dict[str, Any]:
    row = {"utility": "default", "name": name, "rules": rules, "training_seeds": 3, "score_bits_sd": 0.02}
    return row | {"score_bits": 2.8 + WORTH[name] + rules / 160, "comparison": None if name == "e2e" else comparison}


def _write_records(folder: Path, sets: dict[str, str], seeds: int, trials: pd.DataFrame) -> None:
    by_policy = {str(name): rows["score_bits"].to_numpy() for name, rows in trials.groupby("policy")}
    rule = SettlingRule(ceiling=100)
    found = []
    for signal_set in list(WORTH)[1:]:
        base, label = sets["e2e"], sets[signal_set]
        a = {seed: by_policy[f"{base}-{seed}"] for seed in range(1, seeds + 1)}
        b = {seed: by_policy[f"{label}-{seed}"] for seed in range(1, seeds + 1)}
        means = ({seed: float(scores.mean()) for seed, scores in of.items()} for of in (a, b))
        found.append(compare_sets("e2e", signal_set, *means, utility=DEFAULT, rule=rule, comparisons=3))
        found += [
            compare_policies(
                f"{base}-{seed}", f"{label}-{seed}", a[seed], b[seed],
                utility=DEFAULT, rule=rule, comparisons=3 * seeds,
            )
            for seed in a
        ]  # fmt: skip
    policies = [_policy(sets[s], s, seed, trials) for s in WORTH for seed in range(1, seeds + 1)]
    summary = {
        "format": 2,
        "kind": "sweep",
        "block": BLOCK,
        "campaign": "made-up",
        "config_hash": "0123abcd",
        "version": "0.1.0",
        "policies": policies,
        "capacity": [_capacity(name, rules, found[0].to_json()) for name in WORTH for rules in (1, 16)],
        "comparisons": [{"phase": "test", "condition": "", **each.to_json()} for each in found],
    }
    looks = [{"phase": "test", "condition": "", **each.to_json(history=True)} for each in found]
    verdicts = {"format": 2, "comparisons": looks}
    costs = {
        "phases": [
            {"name": "train", "cpu_s": 312.5, "wall_s": 160.0, "trials": 52000, "packets": 1.9e9},
            {"name": "test", "cpu_s": 21.0, "wall_s": 11.0, "trials": 1440, "packets": 2.1e8},
        ]
    }
    manifest = {"kind": "sweep", "version": "0.1.0", "commit": "abc1234", "seed": 1, "state": "done"}
    write_json(folder / layout.SUMMARY, summary)
    write_json(folder / layout.VERDICTS, verdicts)
    write_state(folder / layout.COSTS, costs)
    write_state(folder / layout.MANIFEST, manifest)
    write_with_digest(folder / layout.CONFIG, b"campaign: made-up\nsettling: {margin_percent: 3}\n")


@pytest.fixture(scope="session")
def add_per_network() -> Callable[[Path], None]:
    """Return a function that adds repeated trials of the first training's policies to a run folder."""

    def add(folder: Path, count: int = 30, seeds: int = 10) -> None:
        rng = np.random.default_rng(21)
        networks = NetworkSpace.model_validate(SPACE).draw(seed=12, count=count)
        senders = np.array([network.senders for network in networks])[:, None]
        traffic = rng.normal(2.9, 0.1, (count, seeds))
        parts = []
        for policy in read_json(folder / layout.SUMMARY, "")["policies"]:
            if policy["training_seed"] != 1:
                continue
            name = policy["signal_set"]
            score = traffic + WORTH[name] + (0.03 * (senders - 8) if name == "link" else 0)
            score = score + rng.normal(0, 0.02, (count, seeds))
            parts += [
                pd.DataFrame(
                    {
                        "policy": policy["id"],
                        "network": network.id,
                        "seed": np.arange(seeds),
                        "status": "ok",
                        "error": "",
                        "utility": policy["utility"],
                        "score_bits": score[i],
                        "throughput_share": np.exp2(score[i] - 2.9),
                        "delay_us": 25 - score[i] + rng.normal(0, 0.1, seeds),
                        **{name: getattr(network, name) for name in NETWORK_COLUMNS},
                        "topology": str(network.topology),
                    }
                )
                for i, network in enumerate(networks)
            ]
        utilities = {str(name): rows for name, rows in pd.concat(parts).groupby("utility")}
        for name, rows in utilities.items():
            TrialStore(folder / layout.TRIALS).add(layout.part_name(layout.PER_NETWORK, name), rows)

    return add
