"""Scenarios of the paper: hosts, oversubscription, load of the fullest link."""

SCENARIOS = {
    "pred/n-to-1-small": (19, 0, 18 * 4500.5 * 8 / 200e3 / 10),
    "pred/n-to-1-large": (19, 0, 18 * 315_000.5 * 8 / 6e6 / 10),
    "pred/n-to-1-mixed": (19, 0, 18 * (315_000.5 / 6e6 + 4500.5 / 1e6) * 8 / 10),
    "pred/n-to-1-alternating": (19, 0, 18 * 315_000.5 * 8 / 6e6 / 10),
    "pred/star-16": (17, 0, 0.9),
    "pred/websearch": (128, 2, 0.9),
    "pred/datamining": (128, 2, 0.9),
    "pred/websearch-100g": (128, 2, 0.8),
    "pred/datamining-100g": (128, 2, 0.8),
    "pred/incast-1000": (128, 2, 1000 * 45_000.5 * 8 / 6e6 / 100),
    "pred/dcqcn-40g": (21, 0, 20 * 8 / 10 / 40),
    "pred/dcqcn-40g-2": (21, 0, 2 * 8 / 10 / 40),
}
