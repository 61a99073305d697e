"""What a polish of a neural network reaches: the evolution strategy that polishes tables, on all weights of a policy.

    python benchmarks/polish_network.py POLICY.json --budget 150000 --sigma 0.1 --seed 1 [--json]

Starts from a policy file of a trained network (`lcca sweep configs/drl/quickstart.yaml` makes some). Candidates of a
generation, mirrored in pairs, run on the same fresh block of networks of the default space, as in the polish of rule
tables. The last point and the mean of the last half are scored on the fresh networks of `benchmarks/polish.py`; costs
are CPU seconds on one thread, scores not counted.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcca.evaluation.scenarios.networks import NetworkSpace
from lcca.evaluation.trials.running import run_trials
from lcca.evaluation.trials.utilities import utility
from lcca.inputs.validation import read_config
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.files import policyfile
from lcca.remy_plus.policies.agents import MlpPolicy
from lcca.trainers.rplus.evolution import Evolution, usual_population

SPACE = Path(__file__).parents[1] / "configs" / "networks" / "default.yaml"
TEST_SEED = 9_000_000
TRAINING_SEED = 4_000_000
Floats = NDArray[np.float64]


def flat(policy: MlpPolicy) -> Floats:
    """Return all weights and biases in one row."""
    return np.concatenate([np.asarray(each, dtype=float).ravel() for each in policy.arrays()])


def widths(policy: MlpPolicy, share: float) -> Floats:
    """Return a first standard deviation for every number: a share of its array's root mean square."""
    return np.concatenate([np.full(x.size, share * (float(np.sqrt(np.mean(x**2))) or 1)) for x in policy.arrays()])


def with_weights(policy: MlpPolicy, row: Floats) -> MlpPolicy:
    """Return the policy with other weights, of a network without memory."""
    layers, at = [], 0
    for layer in policy.layers:
        ends = at + layer.weights.size, at + layer.weights.size + layer.biases.size
        weights = row[at : ends[0]].reshape(layer.weights.shape).astype(np.float32)
        layers.append(replace(layer, weights=weights, biases=row[ends[0] : ends[1]].astype(np.float32)))
        at = ends[1]
    return replace(policy, layers=tuple(layers))


def score(space: NetworkSpace, policy: MlpPolicy, count: int) -> float:
    """Return the mean score on fresh networks, in bits."""
    rows = run_trials(
        Engine(space.duration), {"it": policy}, space.draw(TEST_SEED, count), [TEST_SEED], utility("default")
    )
    return float(rows["score_bits"].mean())


def generations(
    options: argparse.Namespace, space: NetworkSpace, policy: MlpPolicy, search: Evolution
) -> Iterator[int]:
    """Move the search, generation by generation; yield the trials so far."""
    half = (options.population or usual_population(search.point.size)) // 2
    rng, engine, block = np.random.default_rng(options.seed), Engine(space.duration, jobs=1), space.block
    cost = 2 * half * options.blocks * block
    for number in range(options.budget // cost):
        half_directions = rng.standard_normal((half, search.point.size))
        directions = np.concatenate([half_directions, -half_directions])
        candidates = {str(i): with_weights(policy, row) for i, row in enumerate(search.candidates(directions))}
        seed = TRAINING_SEED + 10_000 * options.seed
        networks = space.draw(seed, options.blocks * block, number * options.blocks * block)
        rows = run_trials(engine, candidates, networks, [seed + number], utility("default"))
        scores = rows.groupby("policy")["score_bits"].mean()
        search.move(directions, np.array([scores[name] for name in candidates]))
        if 2 * number >= options.budget // cost:
            search.count()
        yield (number + 1) * cost


def main() -> None:
    """Print what the policy scores before, on the way and at the end."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("policy", type=Path, help="file of a trained network without memory")
    parser.add_argument("--budget", type=int, default=150_000, help="trials")
    parser.add_argument("--population", type=int, default=0, help="candidates of a generation; 0 for the usual number")
    parser.add_argument("--blocks", type=int, default=1, help="blocks of networks of a generation")
    parser.add_argument(
        "--sigma", type=float, default=0.1, help="first standard deviations, in units of their array's root mean square"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--networks", type=int, default=1440, help="fresh networks of the scores")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    space, policy = read_config(SPACE, NetworkSpace), policyfile.load(options.policy).policy
    if not isinstance(policy, MlpPolicy) or policy.memory is not None:
        sys.exit(f"{options.policy}: not a network without memory")
    search = Evolution.at(flat(policy), widths(policy, options.sigma))
    rows: list[dict[str, Any]] = [{"trials": 0, "cpu_s": 0.0, "score_bits": score(space, policy, options.networks)}]
    begun, shown, trials = time.process_time(), 0.0, 0
    for trials in generations(options, space, policy, search):
        if trials >= shown + options.budget / 10:
            shown, spent = float(trials), time.process_time() - begun
            print(f"  {trials:,} trials, {spent:.0f} CPU s, σ {search.sigma.mean():.4f}", file=sys.stderr, flush=True)
    spent = time.process_time() - begun
    for name, row in (("last point", search.point), ("mean of the last half", search.average)):
        found = {"what": name, "trials": trials, "cpu_s": spent}
        rows.append(found | {"score_bits": score(space, with_weights(policy, row), options.networks)})
    for each in rows:
        print(json.dumps(each) if options.json else each)


if __name__ == "__main__":
    main()
