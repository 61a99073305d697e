"""Units of formulas, and fields that grant a rate."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from lcca.evaluation.trials.running import run_trials
from lcca.evaluation.trials.utilities import utility
from lcca.inputs.errors import InputError
from lcca.remy_plus.core.formulas import Expression
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.network import Network
from lcca.remy_plus.policies.law import Law
from lcca.remy_plus.policies.policy import WithHeader
from lcca.signal_sets.headers.header import Header, packaged_headers
from lcca.signal_sets.headers.simulated import header_signals, stamping
from lcca.signal_sets.headers.sources import SOURCES
from lcca.signal_sets.headers.units import check_units

NAMES = {name: None if name == "const" else source.unit for name, source in SOURCES.items()}


@pytest.mark.parametrize(
    ("formula", "unit"),
    [
        ("link_rate / flows", "bit/s"),
        ("qlen_bytes / (1 + buf_bytes)", "share"),
        ("util + 8000000000 * qlen_bytes / (link_rate * base_rtt)", "share"),
        ("ts_out - ts_in", "ns"),
        ("max(qdelay, drain_time) + 300", "ns"),
        ("ts_in % 1000000000", "ns"),
        ("abw / link_rate", "share"),
        ("qlen_pkts > 9 and link_rate > abw", ""),
        ("link_rate * qdelay / (link_rate * qdelay)", "share"),
        ("qlen_bytes / 100 + 2", "us"),  # 100 may be bytes/us
        ("0.5", "share"),
        ("0.95 * link_rate / flows", "bit/s"),
        ("0.000001 * link_rate / flows", "Mbit/s"),
        ("8 * 1000000000 * qlen_bytes / link_rate", "ns"),
        ("ceil(512 * (util + 8000000000 * qlen_bytes / (link_rate * 30000))) / 512", "share"),  # 30 us
        ("8 * min(hop_count, flows)", ""),
        ("qdelay > const", None),
    ],
)
def test_formulas_whose_units_fit(formula: str, unit: str) -> None:
    check_units(Expression(formula), unit, NAMES)


@pytest.mark.parametrize(
    ("formula", "unit", "message"),
    [
        ("link_rate / flows", "Mbit/s", "numbers are of 1e-06 Mbit/s each: multiply it with 1e-06, or write another"),
        ("qlen_bytes / link_rate", "ns", r"numbers are of 8e\+09 ns each: multiply it with 8e"),
        ("0.95 * link_rate / flows", "Mbit/s", "numbers are of 1.05263e-06 Mbit/s each"),
        ("link_rate / flows", "us", "is in bit/s, and the field in us"),
        ("qlen_bytes / qlen_pkts", "bytes", r"is in bytes packets\^-1, and the field in bytes"),
        ("util", "percent", "numbers are of 100 percent each"),
        ("qlen_bytes + link_rate", None, r"\+ of bytes and bit/s, which are not of one unit"),
        ("min(qdelay, qlen_pkts)", "ns", "min of ns and packets"),
        ("qdelay > link_rate", None, "> of ns and bit/s"),
        ("flows + link_rate", None, r"\+ of a number and bit/s"),
    ],
)
def test_formulas_whose_units_do_not_fit(formula: str, unit: str | None, message: str) -> None:
    with pytest.raises(InputError, match=message):
        check_units(Expression(formula), unit, NAMES)


def granting(**changes: Any) -> Header:
    field = {"name": "share", "source": "expr:link_rate / flows", "unit": "bit/s", "bits": 48, "agg": "min"}
    content = {"name": "granting", "title": "Granting", "placement": {"layer": "l4"}}
    return Header.model_validate(content | {"fields": [field | {"grants": True} | changes]})


def test_a_granted_formula_is_a_rate_that_laws_send_at() -> None:
    """The same law by a header's share of the link, and by capacity and flows that are free."""
    found = granting()
    assert header_signals(found) == ("fair_rate",) and header_signals(granting(grants=False)) == ("available_capacity",)
    terms = {"pull": 1.0, "pace_target": 1.0, "target": 0.3, "pace_queue": 0.1}
    known = WithHeader(Law.of(terms, rate="fair_rate"), stamping(found, charged=False))
    policies = {"header": known, "free": Law.of(terms, rate="capacity/flows"), "other": Law.of(terms)}
    network = Network(id=1, senders=4, rtt=25.0, link_rate=3.0, buffer=150, mean_on=3000.0, mean_off=400.0, loss=0.0)
    rows = run_trials(Engine(20_000.0), policies, [network], [1], utility("default")).set_index("policy")["score_bits"]
    assert rows["header"] == pytest.approx(rows["free"], abs=0.02)
    assert rows["header"] > rows["other"] + 0.05


@pytest.mark.parametrize(
    "changes", [{"unit": ""}, {"source": "qlen_bytes", "unit": ""}, {"scope": "src_once", "agg": "last"}]
)
def test_only_rates_of_hops_are_granted(changes: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="what a hop grants is a rate that it writes"):
        granting(**changes)


@pytest.mark.parametrize("changes", [{"agg": "max"}, {"agg": "last"}, {"agg": "or", "bits": 1, "encode": "flag"}])
def test_the_smallest_granted_rate_counts(changes: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="the smallest rate that hops grant counts"):
        granting(**changes)


def test_what_has_no_unit_of_its_own_goes_with_any() -> None:
    """A constant that the sender writes, and a formula without a unit."""
    target = {"name": "target", "source": "const", "scope": "src_once", "init": 50, "bits": 16}
    share = {"name": "share", "source": "expr:link_rate / flows", "bits": 48}
    least = {"name": "least", "source": "expr:min(share, link_rate)", "unit": "bit/s", "bits": 48, "agg": "min"}
    fields = [target, share, least | {"when": "qdelay > target"}]
    content = {"name": "own", "title": "Own", "placement": {"layer": "l4"}, "fields": fields}
    assert Header.model_validate(content).field("least").formula
    in_us = content | {"fields": [target | {"unit": "us"}, share, least | {"when": "qdelay > target"}]}
    with pytest.raises(ValidationError, match="> of ns and us"):
        Header.model_validate(in_us)


def test_headers_keep_their_names_by_content() -> None:
    """Fields have no new keys where these have their defaults: hashes of policies stay."""
    assert all("grants" not in field for found in packaged_headers().values() for field in found.model_dump()["fields"])
