"""`lcca evaluate`: what policies do on networks or a fabric, whether both simulators agree, and what is possible."""

from __future__ import annotations

import argparse

from lcca.cli.options.common import print_json
from lcca.cli.options.running import report_failures, run_or_plan
from lcca.experiments.verbs.meeting import Agree, Evaluate
from lcca.inputs.errors import require
from lcca.inputs.options import options_of
from lcca.inputs.units import PACKET_BYTES

EXAMPLES = """\
  lcca evaluate aimd --on configs/networks/examples.yaml --seeds 10
  lcca evaluate policy.json --on configs/networks/examples.yaml --set duration=20000 --simulator ns3
  lcca evaluate dctcp dcqcn timely hpcc swift powertcp --on configs/fabric/leaf-spine.yaml --out run
  lcca evaluate dcqcn dcqcn:increase_us=55 --on configs/fabric/incast.yaml --set switch.pfc=false --trials 20
  lcca evaluate e2e.json aimd --on configs/networks/default.yaml --set topology=line --simulator both:header_bytes=0
  lcca evaluate --bound --on configs/networks/default.yaml --utility 2t --json"""


def run(verb: Evaluate, options: argparse.Namespace) -> int:
    from lcca.cli.printing.fabric import print_fabric
    from lcca.cli.printing.policies import print_networks
    from lcca.cli.printing.tables import print_gap
    from lcca.evaluation.fabric.space import FabricTrials
    from lcca.experiments.recipes.evaluate import evaluating, fabric_trials

    if not verb.policies:
        return _bound_alone(verb, options)
    simulator, _, settings = (verb.simulator or "").partition(":")
    if simulator == "both" or "+" in (verb.simulator or ""):
        return _in_both(verb, options, f"ns3:{settings}" if simulator == "both" else str(verb.simulator))
    prepared = evaluating(verb)
    if (result := run_or_plan(prepared, verb, options)) is None:
        return 0
    content, place = result.content, prepared.experiment.place
    if not isinstance(place, FabricTrials):
        if options.json:
            print_json(content)
        else:
            print_networks(content["policies"], getattr(prepared.meeting.space, "packet_bytes", PACKET_BYTES))
            print_gap(result.rows if verb.bound else result.rows[:0])
        return report_failures(list(result.rows["error"]))
    if options.json:
        print_json(content | {"rows": [each.row(place.utility) for each in fabric_trials(result.rows, place)]})
    else:
        scenario, score = place.space.scenarios[0], place.utility.name
        print_fabric(scenario, score, content["policies"], place.simulator, options.tables)
    return 0


def _bound_alone(verb: Evaluate, options: argparse.Namespace) -> int:
    """Print what is possible, whatever the policy."""
    from lcca.cli.printing.tables import print_ideals
    from lcca.experiments.recipes.evaluate import possible

    require(verb.bound, "name a policy, or ask with --bound what is possible")
    for name in ("simulator", "seeds", "out", "plan"):
        require(not getattr(options, name), f"--{name}: needs a policy")
    found = possible(verb.on, trials=verb.trials, utility=verb.utility, seed=verb.seed, overrides=verb.overrides)
    print_json(found) if options.json else print_ideals(found, f"what is possible on {verb.on}")
    return 0


def _in_both(verb: Evaluate, options: argparse.Namespace, simulators: str) -> int:
    """Run policies in two simulators: exit status 0 whatever the verdict, 1 if a trial failed in the second."""
    from lcca.cli.printing.policies import print_agreement
    from lcca.experiments.recipes.agree import agreeing

    require(not verb.seeds, "--seeds: not with two simulators, which have one trial on each network")
    require(not verb.bound, "--bound: not with two simulators")
    both = {each.key: getattr(verb, each.key) for each in options_of(Agree) if hasattr(verb, each.key)}
    if (result := run_or_plan(agreeing(Agree(**both | {"simulator": simulators})), verb, options)) is None:
        return 0
    print_json(result.content) if options.json else print_agreement(result.content)
    return 1 if result.content["failed"] else 0
