"""A search for a header: what it lists, how codes fit a place, what its front says, how it goes on when stopped."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path
from typing import Any

import pytest

from lcca.evaluation.trials.stored import read_state, write_state
from lcca.inputs.files import digest_file, write_checked
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.network import NetworkList
from lcca.remy_plus.policies.policy import FixedWindow, WithHeader, compile_policy
from lcca.signal_sets.headers.costs import switch_cost
from lcca.signal_sets.headers.header import header
from lcca.signal_sets.headers.simulated import header_signals, stamping
from lcca.studies.design.config import Budget, DesignConfig
from lcca.studies.design.front import answers, budgets
from lcca.studies.design.ground import Ground
from lcca.studies.design.listing import Listing, Tried
from lcca.studies.design.numbers import Number, Windows, numbers, placebos
from lcca.studies.design.port import steps
from lcca.studies.design.recipe import CONFIRMATION, FINALISTS, design
from lcca.studies.design.screen import FOLDER, Screening
from tests.fixtures import RunCommand

from .cases import RUNS

GROUNDS = {
    "networks": Ground(False, (24e9, 48e9), (20e3, 30e3), 16, 1500),
    "fabric": Ground(True, (1e11, 1e11), (8e3, 8e3), 256, 1056),
}


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DesignConfig:
    monkeypatch.chdir(tmp_path)
    RUNS["design"].write(tmp_path)
    return read("small.yaml")


def read(file: str) -> DesignConfig:
    from lcca.experiments.runs.grid import read_one

    return read_one(file, DesignConfig)


def every(ground: Ground) -> list[Number]:
    return [*numbers(ground, Windows((0.5, 1), (64,), oracles=True)), *placebos(ground, 8)]


@pytest.mark.parametrize("place", GROUNDS)
@pytest.mark.parametrize("bits", [4, 8, 16])
def test_codes_reach_from_end_to_end(place: str, bits: int) -> None:
    """The largest code is of the largest number, the least of the smallest, and both fit their field."""
    from lcca.signal_sets.headers.codec import code_of, decoded

    for number in every(GROUNDS[place]):
        made = Tried(((number, bits),)).header
        field = made.field(number.name.replace("-", "_"))
        top = code_of(field, number.high)
        assert top >= 2**bits - 2 or number.scale == "count", number
        if number.scale != "count" or number.high < 2**bits:
            assert decoded(field, top) == pytest.approx(number.high, rel=1e-9), number
        assert code_of(field, number.high * 2) == top or number.scale == "count", number
        low = decoded(field, code_of(field, number.low))
        assert low == pytest.approx(number.low, rel=0.5, abs=number.high / 2**bits), number


@pytest.mark.parametrize("place", GROUNDS)
def test_a_port_makes_every_number_of_what_it_has_said_before(place: str) -> None:
    for number in every(GROUNDS[place]):
        made = Tried(((number, 8),)).header
        field, lines = made.field(number.name.replace("-", "_")), steps(made)
        known = {line.split(" = ")[0] for line in lines}
        assert field.measured <= known and lines[-1].startswith(f"header.{field.name} = {field.agg}("), number
        bits = switch_cost(made).state_bits or 0
        assert number.oracle or bits == 0 or "#" in "".join(lines), number  # what it keeps is said


@pytest.mark.parametrize("place", GROUNDS)
def test_each_number_is_a_signal_of_its_own(place: str) -> None:
    for number in every(GROUNDS[place]):
        told = header_signals(Tried(((number, 8),)).header)
        assert len(told) == 1 and (told[0] == "fair_rate") == (number.grants or number.name == "rcp")


def test_the_engine_says_every_number(config: DesignConfig) -> None:
    """No number of a place is one that its field cannot say, maps that have met nobody included."""
    drawn = NetworkList(config.networks.draw(1, 4))
    for number in every(GROUNDS["networks"]):
        policy = WithHeader(FixedWindow(20), stamping(Tried(((number, 8),)).header))
        record = Engine(300.0, jobs=1).run([compile_policy(policy)], drawn, [0] * 4, range(4), [1] * 4)
        assert record["sender_delivered"].sum() > 0, number


def test_headers_are_within_the_budget_and_once() -> None:
    search = read_search(most={"bytes": 2, "state_bits": 600, "operations": 30})
    listing = Listing(search, GROUNDS["networks"])
    pairs = listing.pairs(listing.singles)
    codes = listing.codes(pairs, [each.name for each in pairs])
    tried = [*listing.singles, *pairs, *codes]
    assert len({each.name for each in tried}) == len(tried) > 60
    for each in tried:
        cost = switch_cost(each.header)
        assert each.bytes <= 2 and cost.operations <= 30 and (each.oracle or (cost.state_bits or 0) <= 600)
        assert len(header_signals(each.header)) == len(each.numbers)


def test_two_numbers_share_what_senders_say() -> None:
    listing = Listing(read_search(), GROUNDS["networks"])
    pairs = {each.content: each for each in listing.pairs(listing.singles)}
    pair = pairs["share-of-senders", "senders"]
    assert [field.source for field in pair.header.fields].count("gap") == 1
    assert pair.bytes == 4


def read_search(**changed: Any) -> Any:
    from lcca.studies.design.config import SearchConfig

    return SearchConfig.model_validate(changed)


def test_exact_counts_are_oracles_and_maps_are_none() -> None:
    found = {each.label(8): each.oracle for each in every(GROUNDS["networks"])}
    assert found["flows-8b"] and found["flows-8b-1rtt-list"] and not found["flows-8b-1rtt-map64"]
    assert Tried(((next(each for each in every(GROUNDS["networks"]) if each.oracle), 8),)).state_bits is None


# --- the front


def confirmed(
    name: str, size: int, state: int | None, net: float, decision: str = "pays", **more: Any
) -> dict[str, Any]:
    own = {"header": name, "bytes": size, "state_bits": state, "operations": 5, "difference": net, "decision": decision}
    return own | {"placebo": False} | more


def pair(one: str, other: str, low: float, high: float) -> dict[str, Any]:
    return {"A": f"{one}+bytes", "B": f"{other}+bytes", "low": low, "high": high}


@pytest.mark.parametrize(
    ("rows", "pairs", "taken"),
    [
        ([confirmed("a", 1, 64, 0.04), confirmed("b", 2, 64, 0.05)], [pair("a", "b", -0.01, 0.03)], "a"),
        ([confirmed("a", 1, 64, 0.04), confirmed("b", 2, 64, 0.05)], [pair("a", "b", 0.001, 0.03)], "b"),
        ([confirmed("a", 1, 64, 0.04), confirmed("b", 1, 0, 0.04)], [pair("a", "b", -0.01, 0.01)], "b"),
        ([confirmed("a", 1, 64, 0.01, "open"), confirmed("b", 1, 0, 0.0, "does not pay")], [], None),
        ([confirmed("a", 1, 64, 0.04, placebo=True)], [], None),
        ([confirmed("a", 1, None, 0.04)], [], None),
        ([confirmed("a", 1, 5000, 0.04)], [], None),
        # worse than one that does not pay is no matter, and the best of those that pay decides
        ([confirmed("a", 1, 64, 0.04), confirmed("b", 2, 64, 0.9, "open")], [pair("a", "b", 0.5, 1.0)], "a"),
    ],
)
def test_the_cheapest_that_pays_and_is_not_worse(rows: list[Any], pairs: list[Any], taken: str | None) -> None:
    (found,) = answers(rows, pairs, [(2, 4096)])
    assert found["take"] == taken


def test_budgets_end_at_the_most() -> None:
    found = budgets(Budget(bytes=3, state_bits=500), oracles=True)
    assert found[0] == (1, 64) and found[-2:] == [(3, 500), (3, None)]
    assert {size for size, _ in found} == {1, 2, 3}
    assert budgets(Budget(bytes=64, state_bits=1 << 20), oracles=False)[-1] == (64, 1 << 20)


@pytest.mark.parametrize("bits", [1, 8])
@pytest.mark.parametrize(
    "ground",
    [Ground(False, (12e9, 12e9), (20e3, 20e3), 1, 1500), Ground(False, (1e7, 1e7), (1e5, 1e5), 4, 1500)],
    ids=["one sender", "less than a packet in an RTT"],
)
def test_every_place_has_headers(ground: Ground, bits: int) -> None:
    made = [Tried(((number, bits),)).header for number in every(ground)]
    assert len(made) > 10


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (["search.memories=[64,64]"], "search.memories: 64 is listed twice"),
        (["search.sources=[flows,rank]"], "search.sources: rank: nothing that ports of these networks can say"),
        (["search.most.bytes=0"], "search.most: no header is within it; the smallest, "),
        (["search.finalists=12", "search.bits=[2,3,4,5,6,7,8,9,10]", "search.codes=40"], "training_seeds: with 6 no"),
        (["signal_sets=[flows]", "baseline=flows"], "baseline: flows sees flows of the network"),
        (["trainer.stages=[{trials: 64}]"], "trainer.stages: a search needs stages without signals first"),
    ],
)
def test_what_cannot_be_is_refused_before_a_search(
    config: DesignConfig, lcca: RunCommand, changes: list[str], said: str
) -> None:
    answer = lcca("design", "small.yaml", "--plan", *(word for each in changes for word in ("--set", each)))
    assert answer.status == 2 and said in answer.err and "Traceback" not in answer.err


def test_finalists_of_another_version_are_refused(searched: Path, lcca: RunCommand, tmp_path: Path) -> None:
    other = tmp_path / "run"
    shutil.copytree(searched, other)
    manifest = read_state(other / "manifest.json", "")
    write_state(other / "manifest.json", manifest | {"state": "testing"})
    (other / "summary.json").unlink()
    write_checked(other / FOLDER / FINALISTS, json.dumps(["of-another-version"]).encode())
    answer = lcca("design", searched.parent / "small.yaml", "--out", other)
    assert answer.status == 2 and "of-another-version: not tried by this version's search; remove it" in answer.err
    assert "Traceback" not in answer.err


def test_what_other_code_has_screened_is_screened_anew(searched: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(searched.parent)
    file = next((searched / FOLDER).glob("1-*/none.json"))
    screening = Screening.__new__(Screening)
    screening.code = json.loads(file.read_text().partition("\n")[2])["code"]
    assert screening._kept(file)["scores"]
    screening.code = "other"
    assert screening._kept(file) == {}


# --- whole searches


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("design")
    RUNS["design"].write(folder)
    design(str(folder / "small.yaml"), out=folder / "run")
    return folder / "run"


def test_what_was_tried_is_said_and_finalists_are_confirmed_elsewhere(searched: Path, lcca: RunCommand) -> None:
    summary = json.loads((searched / "summary.json").read_text())
    finalists = [row["header"] for row in summary["confirmed"]]
    assert {row["header"] for row in summary["tried"]} >= set(finalists)
    assert sum(row["placebo"] for row in summary["confirmed"]) == 1
    assert {each["bytes"] for each in summary["design"]} == {1} and len(summary["design"]) == 2
    told = json.loads((searched / CONFIRMATION / "summary.json").read_text())
    nets = {row["header"]: row["net_set"] for row in told["net_benefit"]["rows"]}
    assert [nets[row["header"]]["difference"] for row in summary["confirmed"]] == [
        row["difference"] for row in summary["confirmed"]
    ]
    assert lcca("report", searched).status == 0
    report = (searched / "report.html").read_text()
    assert all(name in report for name in finalists) and "Not tried" in report


def test_a_winner_is_a_header_that_commands_take(searched: Path, lcca: RunCommand) -> None:
    summary = json.loads((searched / "summary.json").read_text())
    if (whole := summary["design"][-1])["take"] is None:
        pytest.skip("no header pays there")
    made = header(searched / "winner.yaml")
    assert made.name == whole["take"] and lcca("show", "header", searched / "winner.yaml").status == 0


@pytest.mark.slow
def test_stopped_anywhere_it_ends_with_the_same_bytes(searched: Path) -> None:
    """A part of what was kept is lost, as after a kill: it is made again, and finalists stay what was written down."""
    folder = searched.parent
    whole = (searched / "summary.json").read_bytes()
    design(str(folder / "small.yaml"), out=folder / "other")
    other = folder / "other"
    assert (other / "summary.json").read_bytes() == whole
    manifest = read_state(other / "manifest.json", "")
    assert manifest["state"] == "complete"
    lost = next((other / FOLDER).glob("1-*/queue*.json"))
    names = (other / FOLDER / FINALISTS).read_bytes()
    for file in (lost, other / "summary.json", digest_file(other / "summary.json")):
        file.unlink()
    write_state(other / "manifest.json", manifest | {"state": "testing"})
    design(str(folder / "small.yaml"), out=other, resume=True)
    assert (other / "summary.json").read_bytes() == whole and (other / FOLDER / FINALISTS).read_bytes() == names


def test_the_starter_is_a_search(tmp_path: Path, lcca: RunCommand, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    answer = lcca("init", "design")
    assert answer.status == 0 and "lcca design design.yaml" in answer.out
    config = read("design.yaml")
    assert config.name == "design" and math.isfinite(config.ground.bdp)
