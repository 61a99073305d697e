"""The bytes of a packet have one default, in one place."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
OWN = {"gym-envs/lcca/gym_envs/ns3/plan.py"}
"""ns-3's short segments: those of another study's scenarios."""

_A_NUMBER = re.compile(r"^\s*_?packet_(bytes|bits)\b.*(= |default=)[0-9_]+([,)]|$)", re.MULTILINE | re.IGNORECASE)


def test_there_is_one_default() -> None:
    files = [file for file in ROOT.glob("*/lcca/**/*.py") if _A_NUMBER.search(file.read_text())]
    assert {str(file.relative_to(ROOT)) for file in files} - OWN == {"inputs/lcca/inputs/units.py"}
