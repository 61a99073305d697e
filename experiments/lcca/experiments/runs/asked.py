"""The configuration of a run that a command line or a Python call asks for, without a file of its own."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, ClassVar

from pydantic import SerializeAsAny

from lcca.experiments.runs.config import RunConfig
from lcca.experiments.runs.kinds import Kind
from lcca.inputs.model import Model
from lcca.inputs.names import FileOrName

FIXED_BEFOREHAND = "group-sequential"


class Named(Model):
    """Something that an argument names: a file, whose content counts, or something by its name."""

    name: FileOrName


class Asked(RunConfig):
    """What a command was asked for: all that its result depends on.

    Attributes:
        policies: that it runs.
        place: that they meet on, with everything filled in that its file, what that extends, and overrides say.
        options: all others that a result depends on, by name.
    """

    count: ClassVar[str] = "options.trials"
    libraries: ClassVar[Mapping[str, str]] = {}

    policies: tuple[Named, ...]
    place: SerializeAsAny[Model]
    options: dict[str, Any]

    def grows(self, changed: Mapping[str, tuple[Any, Any]]) -> bool:
        """Tell whether only the number of trials was smaller, and the rule is valid at any number of them."""
        if not self._only_count(changed) or self._fixed_beforehand:
            return False
        before, now = changed[self.count]
        return isinstance(before, int) and isinstance(now, int) and now > before

    def advice(self, changed: Mapping[str, tuple[Any, Any]]) -> str:
        """Return what to do where it may not go on."""
        if not (self._only_count(changed) and self._fixed_beforehand):
            return super().advice(changed)
        return (
            f"the rule {FIXED_BEFOREHAND} spends its error rate over a number that is fixed beforehand; choose another "
            "--out, or begin with --rule t-mixture to add trials later"
        )

    def _only_count(self, changed: Mapping[str, tuple[Any, Any]]) -> bool:
        return self.run_kind.grows and self.count in changed and changed.keys() <= {self.count, "options.rule.ceiling"}

    @property
    def _fixed_beforehand(self) -> bool:
        return bool(self.options["rule"]["kind"] == FIXED_BEFOREHAND)


@cache
def asked_of(kind: Kind) -> type[Asked]:
    """Return the class of what runs of a kind are asked for."""
    words = f"What runs of the kind {kind.name} were asked for."
    own = {"__module__": __name__, "__doc__": words, "run_kind": kind, "libraries": kind.libraries}
    return type(f"{kind.name.title()}Asked", (Asked,), own)
