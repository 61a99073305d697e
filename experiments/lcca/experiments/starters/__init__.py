"""Campaigns to start from, with comments, as `lcca init` writes them: each runs as it is, on a budget of seconds."""

from importlib import resources

STARTERS = {
    "signals": "which signals of the network are worth having?",
    "headers": "which header brings more than its bytes cost?",
    "fabric-headers": "which header brings more than its bytes cost in a datacenter?",
    "drl": "what does PPO make of the signals? (needs the extra drl)",
}
"""What each asks, by name."""


def starter(name: str) -> str:
    """Return the text of a starting campaign, one of `STARTERS`."""
    return (resources.files(__name__) / f"{name}.yaml").read_text(encoding="utf-8")
