"""What is done with policies and places, as Python functions: the commands of `lcca` print what these return."""

from __future__ import annotations

from lcca.inputs.studies import added, full_name

_OWN = ("agree", "compare", "evaluate", "rank", "study", "sweep", "tune")
FUNCTIONS: dict[str, tuple[str, ...]] = {
    **{name: (f"{__name__}.{name}", name) for name in _OWN},
    **{name: tuple(full_name(study, at).split(":")) for name, (study, at) in added("functions").items()},
}
"""Module and name of the functions of `lcca.api` that are made of a verb, which is their attribute `verb`."""
