"""Tables of what adopters gain, for the page: see `docs/hooks/results.py`."""

import json
from pathlib import Path
from typing import Any

from markdown_tables import judged, table

FOLDER = Path(__file__).parent / "results"


def measured() -> dict[str, Any]:
    """Return what was measured."""
    content: dict[str, Any] = json.loads((FOLDER / "adoption.json").read_text(encoding="utf-8"))
    return content


def adoption(of: str) -> str:
    """Return what adopters gain and others pay, by share of adopters, of the questions on a place."""
    rows = []
    for name, found in measured()["adoption"].items():
        if of != found["place"] or " in " in name:
            continue
        pair, _, where = name.partition(" ")
        first = " ".join(filter(None, (pair.replace("|", " beside "), where.removeprefix(f"on {of}"))))
        for each in found["adoption"]:
            cells = [cell for who in ("adopters", "others") for cell in judged(each[who])]
            taken = f"{each['fairness']['taken_adopters']['mean']:.2f}"
            rows.append([first, f"{100 * each['share']:g} %", *cells, taken])
            first = ""
        everyone = found["everyone"]
        rows.append(["", "all", *judged(everyone), "", "", ""])
    return table(("", "adopt", "adopters, bits", "", "others, bits", "", "adopters take"), rows)


def adoption_in_both() -> str:
    """Return what half of the senders gain, and what all do, in the engine and in ns-3 on the same trials."""
    every, rows = measured()["adoption"], list[list[str]]()
    for name in (each for each in every if each.endswith(" in ns-3")):
        pair = name.removesuffix(" in ns-3")
        for words, part in (("half: adopters", "adopters"), ("half: others", "others"), ("all", "")):
            cells = []
            for where in ("the engine", "ns-3"):
                found = every.get(f"{pair} in {where}")
                row = found and (found["adoption"][0][part] if part else found["everyone"])
                cells += judged(row) if row else ["", ""]
            rows.append([pair.replace("|", " beside ") if words.startswith("half: a") else "", words, *cells])
    return table(("", "adopt", "in the engine, bits", "", "in ns-3, bits", ""), rows)


def stamping() -> str:
    """Return what laws whose header some switches write are worth, against none and against all switches, bits."""
    rows = []
    for each in measured()["stamping"]:
        if each["A"] == "e2e":
            rows.append([f"`{each['law']}`", each["place"], each["B"], *judged(each), "", ""])
        else:
            rows[-1][-2:] = judged(each)
    return table(("header", "scenario", "who writes", "against no header", "", "against all switches", ""), rows)


TABLES = {
    "adoption-networks": lambda: adoption("default"),
    "adoption-hadoop": lambda: adoption("hadoop-incast-lossy"),
    "adoption-websearch": lambda: adoption("websearch-lossy"),
    "adoption-ns3": adoption_in_both,
    "adoption-stamping": stamping,
}
