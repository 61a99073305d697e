"""Tables of what searches found, for the page: see `docs/hooks/results.py`."""

import json
from pathlib import Path
from typing import Any

from markdown_tables import table

FOLDER = Path(__file__).parent / "results"


def found(name: str) -> dict[str, Any]:
    """Return the summary of a search."""
    content: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return content


def state(bits: int | None) -> str:
    """Return bits of state in words."""
    return "any" if bits is None else f"{bits:,}"


def net(row: dict[str, Any]) -> str:
    """Return a net benefit with its interval."""
    ends = "" if row["low"] is None else f" [{row['low']:+.3f}, {row['high']:+.3f}]"
    return f"{row['difference']:+.3f}{ends}".replace("-", "−")


def answers(name: str) -> str:
    """Return what to build by budget."""
    summary = found(name)
    by_name, rows = {row["header"]: row for row in summary["confirmed"]}, []
    for each in summary["design"]:
        taken = by_name.get(each["take"])
        others = "; ".join(
            f"{word}: {', '.join(own)}" for word, own in (("as good", each["as_good"]), ("open", each["open"])) if own
        )
        rows.append(
            [
                f"{each['bytes']}",
                state(each["state_bits"]),
                f"`{each['take']}`" if taken else "none",
                net(taken) if taken else "",
                others,
            ]
        )
    return table(("bytes, at most", "state, bits, at most", "build", "net, bits", "others"), rows)


def confirmed(name: str) -> str:
    """Return what was confirmed, the best first."""
    summary = found(name)
    screened = {row["header"]: row["screened"] for row in summary["tried"]}
    rows = [
        [
            *(f"`{row['header']}`", f"{row['bytes']}", state(row["state_bits"]), f"{row['operations']}", net(row)),
            *(row["decision"], "placebo" if row["placebo"] else "oracle" if row["oracle"] else ""),
            f"{screened[row['header']]:+.3f}".replace("-", "−"),
        ]
        for row in sorted(summary["confirmed"], key=lambda row: -row["difference"])
    ]
    if summary["bound"]:
        rows.append(["all numbers, free and exact", "0", "any", "", net(summary["bound"]), "", "bound", ""])
    head = ("header", "bytes", "state, bits", "operations", "net, bits", "pays?", "", "order in the search")
    return table(head, rows)


TABLES = {}
for _file in sorted(FOLDER.glob("*.json")):
    TABLES[f"{_file.stem}-answers"] = lambda name=_file.stem: answers(name)
    TABLES[f"{_file.stem}-confirmed"] = lambda name=_file.stem: confirmed(name)
