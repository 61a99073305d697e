"""Several spaces as one place: shares of blocks, draws that are those of the parts, and what is refused."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from lcca.evaluation.bounds.summary import population_fair_bits
from lcca.evaluation.scenarios.design import passes
from lcca.evaluation.scenarios.networks import NetworkSpace
from lcca.evaluation.scenarios.spaces import NetworkSpaces
from lcca.evaluation.trials.blocks import Block
from lcca.evaluation.trials.place import Execution
from lcca.evaluation.trials.utilities import utility
from lcca.experiments.places import space_of
from lcca.gym_envs.interface.episode import networks_from
from lcca.gym_envs.ns3.plan import Ns3Options, trial_plan
from lcca.inputs.errors import InputError
from lcca.remy_plus.engine import Engine, Model
from lcca.remy_plus.network import Network, NetworkList
from lcca.remy_plus.policies.explicit import FairShare
from lcca.remy_plus.policies.policy import Aimd, compile_policy, with_header
from lcca.remy_plus.topology import KINDS, Topology
from lcca.signal_sets.headers.header import header
from lcca.signal_sets.headers.simulated import stamping

SPACE: dict[str, Any] = {
    "link_rate": {"min": 1, "max": 3, "step": 0.5}, "rtt": 20, "senders": {"min": 1, "max": 4, "step": 1},
    "buffer": 100, "mean_on": 500, "mean_off": 200, "loss": 0.001, "duration": 1500,
}  # fmt: skip
LISTED: dict[str, Any] = {"link_rate": 2, "rtt": 20, "senders": 2, "buffer": 50, "mean_on": 500, "mean_off": 200}
ONE = NetworkSpace.model_validate(SPACE)
FILE = "link_rate: 2\nrtt: 20\nsenders: 2\nbuffer: 50\nmean_on: 500\nmean_off: 200\nduration: 1500\n"


def spaces(*parts: Any) -> NetworkSpaces:
    return NetworkSpaces.model_validate({"spaces": list(parts)})


def on(kind: str, **more: Any) -> dict[str, Any]:
    return {"networks": SPACE, "topology": kind, **more}


ALL = spaces(*(on(kind) for kind in KINDS))
WEIGHTED = spaces(SPACE, on("line", weight=3), {"networks": [LISTED | {"rtt": rtt} for rtt in (5, 6, 7)], "name": "l"})


def bare(network: Network) -> Network:
    """Return a network as it is drawn from its part alone."""
    assert network.stream is not None
    return replace(network, id=network.stream, stream=None)


UNLIKE = spaces(SPACE, on("line") | {"networks": SPACE | {"senders": {"min": 1, "max": 5, "step": 1}}})


@pytest.mark.parametrize(("place", "block"), [(ALL, 64), (WEIGHTED, 80), (UNLIKE, 160)])
def test_every_block_has_every_part_in_its_share(place: NetworkSpaces, block: int) -> None:
    assert place.block == block
    for number in (0, 5):
        names = Counter(place.stratum(network.id) for network in place.draw(3, block, number * block))
        weights = {each.title: each.weight for each in place.parts}
        assert names == {name: block * weight // sum(weights.values()) for name, weight in weights.items()}
        assert all(names[each.title] % each.block == 0 for each in place.parts)


def test_parts_are_those_of_the_space_alone() -> None:
    """Block by block, a part's networks are the space's own, topology apart, with the same traffic."""
    drawn = ALL.draw(7, 2 * ALL.block, ALL.block)
    for kind in KINDS:
        own = sorted((bare(n) for n in drawn if n.topology == Topology(kind)), key=lambda each: each.id)
        assert own == [replace(each, topology=Topology(kind)) for each in ONE.draw(7, 2 * ONE.block, ONE.block)]


def test_no_two_blocks_have_anything_in_common() -> None:
    """Parts of one space but other weights would, if each went on with its own numbers: blocks are independent."""
    blocks = [{n.stream for n in WEIGHTED.draw(1, 80, 80 * number)} for number in range(6)]
    assert all(not one & other for at, one in enumerate(blocks) for other in blocks[:at])


def test_few_networks_have_all_parts_and_all_levels() -> None:
    """A quarter of a block: each topology four times, and the senders as evenly spread as in a block of one space."""
    drawn = ALL.draw(7, 16)
    assert set(Counter(n.topology.kind for n in drawn).values()) == {4}
    assert sorted(bare(n).id for n in drawn) == list(range(16))


def test_trials_are_those_of_the_parts() -> None:
    """Scores are the same to the last bit, and ns-3 is told the same."""
    scored, execution = utility("default"), Execution()
    place = ALL.trials(5, scored, execution)
    rows = place.rows({"aimd": Aimd()}, Block(0, 0, ALL.block)).set_index("network")
    for kind in KINDS:
        alone = ONE.changed({"topology": kind}).trials(5, scored, execution).rows({"aimd": Aimd()}, Block(0, 0, 16))
        own = {n.stream: n for n in ALL.draw(5, ALL.block) if n.topology.kind == kind}
        mixed = rows.loc[[own[at].id for at in range(16)]]
        assert mixed["score_bits"].to_numpy() == pytest.approx(alone["score_bits"].to_numpy(), abs=0, nan_ok=True)
        assert set(mixed["stratum"]) == {kind}
    (network,) = ALL.draw(5, 1, ALL.block + 1)
    told = [trial_plan(each, {}, 1, 100.0, Model(), Ns3Options(), False) for each in (network, bare(network))]
    assert told[0] == told[1] and network.id != network.drawn_by


def test_a_network_depends_on_seed_and_number_alone() -> None:
    for place in (ALL, WEIGHTED):
        assert place.draw(3, 100)[40:60] == place.draw(3, 20, first_id=40)
        assert place.draw(3, 100) != place.draw(4, 100)
        assert [network.id for network in place.draw(3, 3, first_id=77)] == [77, 78, 79]
        assert NetworkSpaces.model_validate_json(place.model_dump_json()).draw(1, 90) == place.draw(1, 90)


def test_lists_are_met_evenly_and_at_random() -> None:
    """Sixteen of three: five times each, and one a sixth time, which is each of them equally often."""
    counts = np.array([[passes(1, str(b), 16, 3).count(entry) for entry in range(3)] for b in range(300)])
    assert counts.min() == 5 and counts.max() == 6
    assert np.abs((counts == 6).sum(axis=0) - 100).max() < 30  # 3.7 standard deviations
    met = [n.rtt for n in WEIGHTED.draw(1, WEIGHTED.block) if WEIGHTED.stratum(n.id) == "l"]
    assert sorted(Counter(met)) == [5, 6, 7] and len(met) == 16


def test_what_follows_from_parts() -> None:
    scored = utility("default")
    own = [population_fair_bits(ONE.changed({"topology": kind}), scored) for kind in ("dumbbell", "line")]
    both = spaces(SPACE, on("line", weight=3))
    assert own[0] is not None and own[1] is not None and own[0] != own[1]
    assert population_fair_bits(both, scored) == pytest.approx((own[0] + 3 * own[1]) / 4, rel=1e-12)
    assert population_fair_bits(WEIGHTED, scored) is None  # a list has no population
    alone = both.changed({"senders": 1})
    assert alone.topology == both.topology and {n.senders for n in alone.draw(1, 40)} == {1}


@pytest.mark.parametrize(
    ("parts", "place", "message"),
    [
        ([SPACE, SPACE], (), "part 1 is called 'dumbbell', as one before it"),
        ([SPACE, on("line") | {"networks": SPACE | {"duration": 900}}], (1,), "900 µs, those before 1500"),
        (
            [SPACE, on("line") | {"networks": SPACE | {"packet_bytes": 999}}],
            (1,),
            "packets of 999 bytes, not the 1,500",
        ),
        ([SPACE, {"networks": [LISTED | {"rtt": 2000}], "name": "far"}], (1,), "nothing would arrive"),
        ([on("lin")], (0, "part", "topology"), "unknown kind 'lin'"),
        ([SPACE, on("line", weight=0)], (1, "part", "weight"), "greater than or equal to 1"),
        ([SPACE, [LISTED | {"senders": 0}]], (1, "tuple", 0, "senders"), "whole number from 1"),
        ([SPACE | {"senders": {"min": 1, "max": 37, "step": 1}}, on("line", weight=9)], (), "has 5,920 networks"),
        ([], (), "at least 1"),
    ],
)
def test_what_does_not_go_together(parts: list[Any], place: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ValidationError) as caught:
        spaces(*parts)
    found = caught.value.errors()[0]
    assert message in found["msg"]
    assert found["loc"] in (("spaces", *place), place)


def test_parts_in_files_and_their_problems(tmp_path: Path) -> None:
    (tmp_path / "one.yaml").write_text(FILE)
    (tmp_path / "list.yaml").write_text(f"- {{{', '.join(f'{key}: {value}' for key, value in LISTED.items())}}}\n")
    file = tmp_path / "several.yaml"
    file.write_text("spaces:\n  - one.yaml\n  - {networks: list.yaml, weight: 2, name: hard}\n")
    found = space_of(file)
    assert isinstance(found, NetworkSpaces) and found.topology == "dumbbell, hard" and found.duration == 1500
    assert networks_from(str(file), 3, 5) == found.draw(3, 5)
    changed = space_of(file, ["spaces.0.rtt=30", "spaces.1.weight=1"])
    assert isinstance(changed, NetworkSpaces) and changed.block == 32
    (tmp_path / "list.yaml").write_text("- {link_rate: 2}\n- {link_rat: 2}\n")
    with pytest.raises(InputError) as caught:
        space_of(file)
    assert f"{tmp_path / 'list.yaml'}:2: spaces.1.networks.1.link_rat: unknown key" in str(caught.value)
    assert f"{tmp_path / 'list.yaml'}:1: spaces.1.networks.0.rtt: required key is missing" in str(caught.value)


def test_links_of_a_part_write_as_they_do_in_the_part_alone() -> None:
    silent = Topology.of("line:stamping=0.5")
    drawn = [replace(each, topology=silent) for each in ALL.draw(1, 12)]
    policy = compile_policy(with_header(FairShare(), stamping(header("fair-share"))))
    own, alone = (
        Engine(1500.0, jobs=1).run([policy], NetworkList(found), [0] * 12, range(12), [1] * 12)["sender_sent"]
        for found in (drawn, [bare(each) for each in drawn])
    )
    np.testing.assert_array_equal(own, alone)
