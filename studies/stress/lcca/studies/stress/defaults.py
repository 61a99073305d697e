"""How much a search runs unless an option says otherwise; `--help` names these."""

STRESSED = {"candidates": 400, "seeds": 4, "networks": 8, "fresh": 100}
"""Candidates, trials on each, networks that are confirmed, and fresh trials on each."""
