"""Scenarios of the paper: hosts, oversubscription, load of the fullest link."""

SCENARIOS = {
    "paraleon/hadoop": (128, 4, 0.3),
    "paraleon/hadoop-32": (32, 4, 0.3),
    "paraleon/training": (128, 4, None),
    "paraleon/training-32": (32, 4, None),
    "paraleon/influx": (128, 4, 0.3),
    "paraleon/exploring": (16, 4, 0.3),
    "paraleon/explored": (16, 4, 0.3),
}
