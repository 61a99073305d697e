"""Files to start from, with comments, as `lcca init` writes them: each runs as it is, on a budget of seconds."""

from importlib import resources

from lcca.inputs.studies import added, full_name

OF_STUDIES = added("starters")

STARTERS = {
    "signals": "which signals of the network are worth having?",
    "headers": "which header brings more than its bytes cost?",
    "fabric-headers": "which header brings more than its bytes cost in a datacenter?",
    "drl": "what does PPO make of the signals? (needs the extra drl)",
} | {name: each.question for name, (_, each) in OF_STUDIES.items()}
"""What each asks, by name."""


def starter(name: str) -> str:
    """Return the text of a file to start from, one of `STARTERS`."""
    study, each = OF_STUDIES.get(name, ("", None))
    folder, file = (full_name(study, "study").rpartition(".")[0], each.file) if each else (__name__, f"{name}.yaml")
    return (resources.files(folder) / file).read_text(encoding="utf-8")


def command_of(name: str) -> str:
    """Return the command that takes it."""
    return OF_STUDIES[name][1].command if name in OF_STUDIES else "sweep"
