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


def orders(name: str) -> str:
    """Return what the first screening said of headers and what full trainings say."""
    content = found(name)
    rows = [[f"`{row['header']}`", _signed(row["screened"]), _signed(row["trained"])] for row in content["headers"]]
    rho = [f"**{content[key]:.2f}**" for key in ("spearman", "spearman_of_better_half")]
    rows += [["rank correlation, all", "", rho[0]], ["rank correlation, the better half", "", rho[1]]]
    return table(("header", "order in the first screening", f"net of {content['seeds']} trainings, bits"), rows)


def third(name: str) -> str:
    """Return what is left of confirmed headers on a third set of training seeds and networks."""
    rows = [
        [
            *(f"`{row['header']}`", _signed(row["screened"]), net(row | {"difference": row["confirmed"]})),
            *(_signed(row["third"]), "yes" if row["within"] else "**no**"),
        ]
        for row in found(name)["headers"]
    ]
    return table(("header", "last screening", "confirmed, bits", "third set", "within the interval"), rows)


def wrong() -> str:
    """Return how many searches of placebos alone, and of placebos and one number that decides, are right."""
    rows = []
    for name, what in (("null", "placebos alone: none is to pay"), ("planted", "exact counts of flows among placebos")):
        content = found(name)
        best = [max(row["confirmed"], key=lambda one: one["difference"])["difference"] for row in content["searches"]]
        ends = f"{_signed(min(best))} to {_signed(max(best))}"
        rows.append([what, f"{content['right']} of {len(content['searches'])}", ends])
    return table(("numbers", "searches that are right", "the best that was confirmed, bits"), rows)


def nested() -> str:
    """Return what one more signal brings, in two orders."""
    rows = [[f"`{row['signal']}`", f"{row['beside']}", f"{row['order']}", net(row)] for row in found("nested")["pairs"]]
    return table(("one more", "beside so many others", "order", "brings, bits"), rows)


def _signed(number: float) -> str:
    return f"{number:+.3f}".replace("-", "−")


TABLES = {"design-wrong": wrong, "design-nested": nested}
for _file in sorted(FOLDER.glob("design-*.json")):
    if _file.stem.endswith(("-order", "-third")):
        TABLES[_file.stem] = lambda name=_file.stem: (third if name.endswith("-third") else orders)(name)
    else:
        TABLES[f"{_file.stem}-answers"] = lambda name=_file.stem: answers(name)
        TABLES[f"{_file.stem}-confirmed"] = lambda name=_file.stem: confirmed(name)
