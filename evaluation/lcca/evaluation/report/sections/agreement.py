"""The section on the validation in ns-3: verdicts there, and the agreement of the two simulators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from lcca.evaluation.comparison.agreement import paired
from lcca.evaluation.report.figures.agreement import draw_agreement
from lcca.evaluation.report.sections.section import BOTH, SELECTED, Content
from lcca.evaluation.report.words.headline import MINUS
from lcca.evaluation.report.words.statements import counted_units, coverages, sign_and_size
from lcca.evaluation.report.words.table import Table
from lcca.evaluation.trials import layout
from lcca.evaluation.trials.tables import RunTables

Json = dict[str, Any]


def ns3_validation(tables: RunTables) -> Content | None:
    """Scatter of both simulators, verdicts in ns-3, and bias and spread per policy and topology."""
    records: list[Json] = list(tables.summary.get("ns3", []))
    return _content(records, tables.run.rows(layout.NS3_VALIDATION)) if records else None


def both_simulators(tables: RunTables) -> Content | None:
    """Return the same of `lcca agree`."""
    found = tables.summary
    return _content([{**found, "comparisons": []}], tables.run.rows("agree")) if "order_flips" in found else None


def _content(records: Sequence[Json], trials: pd.DataFrame) -> Content:
    fast, real = (trials[(trials["simulator"] == "engine") == engine] for engine in (True, False))
    names = list(dict.fromkeys(record["topology"] for record in records))
    both = {name: paired(*(part[part["topology"] == name] for part in (fast, real))) for name in names}
    figure = draw_agreement(both, ("fast engine", records[0]["simulator"]))
    data = pd.concat([rows.assign(topology=name) for name, rows in both.items()], ignore_index=True)
    caption = (
        "Score, throughput share and mean delay of the same trials in both simulators: the same networks, seeds, "
        "on/off times and random losses. A dot is a trial; on the grey line they agree. ns-3 charges the bytes of "
        "in-network signals and simulates TCP with acknowledgements and retransmissions. Figure and agreement are of "
        "selected policies."
    )
    if _has_sets(records):
        caption += " Verdicts on signal sets: the unit is a training seed with networks of its own; they hold together."
    whose = BOTH if _has_sets(records) else SELECTED
    tables = (*((_verdicts(records),) if records[0]["comparisons"] else ()), _agreement(records))
    return Content(caption, figure, _answer(records), tables, whose, data)


def _answer(records: Sequence[Json]) -> str:
    scores = [a for record in records for a in record["agreement"] if a["metric"] == "score_bits"]
    agreed = sum(a["verdict"].startswith("agree") for a in scores)
    largest = max((abs(a["difference"]) for a in scores if a["difference"] is not None), default=0.0)
    flips = [flip for record in records for flip in record["order_flips"]]
    sure = sum(flip["settled"] for flip in flips)
    order = "rank all policies alike" if not flips else f"rank {len(flips)} pairs differently ({sure} settled)"
    return (
        f"{agreed} of {len(scores)} mean scores agree within {scores[0]['margin']:g} bits; the largest difference is "
        f"{largest:.3f} bits. The simulators {order}."
        if scores
        else "Nothing ran in both simulators."
    )


def _verdicts(records: Sequence[Json]) -> Table:
    several = len({record["utility"] for record in records}) > 1
    each = [(c, record) for record in records for c in record["comparisons"]]
    rows = [
        (
            record["topology"] + (f" ({record['utility']})" if several else ""),
            c["B"],
            c["A"],
            _number(c["difference"]),
            _ends(c["low"], c["high"]),
            sign_and_size(c),
            counted_units(c),
        )
        for c, record in sorted(each, key=lambda pair: pair[0]["level"] != "set")
    ]
    head = ("topology", "B", "against A", "difference, bits", "interval", "sign and size", "n")
    first = "Signal sets over training seeds, then policies" if _has_sets(records) else "Policies"
    title = f"{first} in {records[0]['simulator']}, paired on fresh networks"
    return Table(f"{title}; intervals of {coverages([c for c, _ in each])}" if each else title, head, rows, left=3)


def _has_sets(records: Sequence[Json]) -> bool:
    return any(c["level"] == "set" for record in records for c in record["comparisons"])


def _agreement(records: Sequence[Json]) -> Table:
    rows = [
        (
            a["topology"],
            a["policy"],
            a["metric"] + (", bits" if a["metric"] == "score_bits" else ", %"),
            _number(a["difference"]),
            _ends(a["low"], a["high"]),
            _number(a["spread"]).lstrip("+"),
            f"{a['starved']}: {_number(a['without_starved'])}",
            a["verdict"] or "–",
        )
        for record in records
        for a in record["agreement"]
    ]
    head = (
        "topology",
        "policy",
        "metric",
        "ns-3 − engine",
        "95 %",
        "spread",
        "networks starved in one simulator only: difference without them",
        "verdict",
    )
    return Table("Differences between the simulators", head, rows, left=3)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:+.3f}".replace("-", MINUS)


def _ends(low: float | None, high: float | None) -> str:
    return "no interval yet" if low is None or high is None else f"[{_number(low)}, {_number(high)}]"
