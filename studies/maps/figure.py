"""Draws the map of a fabric on the page on headers, from `results/reference`: `python studies/maps/figure.py`."""

import json
from pathlib import Path

from lcca.evaluation.report.figures.saving import save_png
from lcca.studies.maps.report.figures import draw_heat_maps

ROOT = Path(__file__).resolve().parents[2]

if __name__ == "__main__":
    fabric = json.loads((ROOT / "results" / "reference" / "maps-fabric.json").read_text(encoding="utf-8"))
    save_png(draw_heat_maps(fabric["maps"], fabric["over"]), ROOT / "docs" / "figures", "map-fabric")
