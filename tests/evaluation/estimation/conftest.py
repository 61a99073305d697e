"""Modules of the benchmarks, whose parts are tested here."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks"))
