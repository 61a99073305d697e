"""Gymnasium environments over the simulators (none yet)."""
