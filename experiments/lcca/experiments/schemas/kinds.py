"""The kinds of YAML files that users write, by name: what reads each, and how a file of another kind is told."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, TypeVar

from lcca.inputs.errors import ConfigError, Problem
from lcca.inputs.studies import added

if TYPE_CHECKING:
    from lcca.inputs.documents import Document
    from lcca.inputs.model import Model

M = TypeVar("M", bound="Model")

_BESIDES = frozenset({"extends", "grid"})
"""Keys that are gone when a file is checked against its model."""


@dataclass(frozen=True)
class FileKind:
    """A kind of file.

    Attributes:
        what: it is, with an article.
        use: what takes it.
        place: module and class of its model, imported when asked for.
        several: whether the file is a list of such models.
    """

    what: str
    use: str
    place: str
    several: bool = False

    @cached_property
    def model(self) -> type[Model]:
        """Return the class that checks its files, or their items."""
        module, _, name = self.place.partition(":")
        found: type[Model] = getattr(import_module(f"lcca.{module}"), name)
        return found

    def has(self, keys: Iterable[str]) -> bool:
        """Return whether files of this kind may have all of these keys."""
        return not self.several and set(keys) - _BESIDES <= set(self.model.model_fields)

    def needs(self) -> set[str]:
        """Return the keys without which there is no such file."""
        return {name for name, field in self.model.model_fields.items() if field.is_required()}


KINDS: Mapping[str, FileKind] = {
    "campaign": FileKind("a campaign", "lcca sweep FILE", "experiments.campaign.config:CampaignConfig"),
    "study": FileKind("a study", "lcca study FILE", "experiments.studies.config:StudyConfig"),
    "tune": FileKind("a tuning", "lcca tune FILE", "experiments.tuning.config:TuningConfig"),
    "networks": FileKind(
        "a network space",
        "`--on FILE`, or `networks: FILE` in a campaign",
        "evaluation.scenarios.networks:NetworkSpace",
    ),
    "spaces": FileKind(
        "several network spaces",
        "`--on FILE`, or `networks: FILE` in a campaign",
        "evaluation.scenarios.spaces:NetworkSpaces",
    ),
    "network-list": FileKind(
        "a list of networks", "lcca evaluate --on FILE", "evaluation.scenarios.networks:ListedNetwork", True
    ),
    "scenario": FileKind(
        "a fabric scenario",
        "`--on FILE`, or `networks: {fabric: FILE}` in a campaign",
        "evaluation.fabric.scenario:FabricScenario",
    ),
    "flow-sizes": FileKind(
        "a table of flow sizes", "`sizes: FILE` in a workload", "evaluation.scenarios.sizes:SizeTable"
    ),
    "signal-set": FileKind(
        "a signal set", "`signal_sets: [e2e, FILE]` in a campaign", "signal_sets.signal_set:SignalSet"
    ),
    "header": FileKind("a header", "`headers: [FILE]` in a campaign", "signal_sets.headers.header:Header"),
    **{
        name: FileKind(each.what, each.use, f"studies.{study}.{each.model}")
        for name, (study, each) in added("files").items()
    },
}
"""Every kind, by the name that `lcca schema` takes."""


def require_kind(document: Document, model: type[Model]) -> None:
    """Check that a mapping is not a file of another kind: fourteen unknown keys would not say that.

    Raises:
        ConfigError: if no kind but another one has all its keys; it says which, and what takes it.
    """
    keys = set(document.data)
    asked = [kind for kind in KINDS.values() if kind.model is model]
    if any(kind.has(keys) for kind in asked):
        return
    other = next((kind for kind in KINDS.values() if kind.has(keys) and kind.needs() <= keys), None)
    if other and asked:
        text = f"this is {other.what}, not {asked[0].what}; what takes it: {other.use}"
        raise ConfigError(Problem(document.place(()), (), text))


def of_kind(document: Document, model: type[M]) -> M:
    """Return a document as a model of its kind.

    Raises:
        ConfigError: listing every problem, or that it is a file of another kind.
    """
    from lcca.inputs.validation import validate  # `lcca schema --help` names the kinds

    require_kind(document, model)
    found = validate(document, model)
    vars(found)["document"] = document  # for the problems that a run shows; no part of the configuration
    return found


def read_kind(path: str | os.PathLike[str], model: type[M]) -> M:
    """Read a file of a kind; see `of_kind`."""
    from lcca.inputs.validation import read_document

    return of_kind(read_document(path), model)
