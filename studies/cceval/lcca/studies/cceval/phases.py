"""Phases of an estimation, besides that of importance sampling: they begin the names of its parts of trials."""

ESTIMATION, DURATION, CONTROL = "estimate", "duration", "control"
