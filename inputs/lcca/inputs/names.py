"""What users write in place of a file or a class in Python: ``my_cca.py:Mine``, ``package.module:Mine``, a path."""

from __future__ import annotations

import importlib.util
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

YAML_ENDINGS = (".yaml", ".yml")

NAMES_A_FILE = "names a file, or something packaged"
"""In the type of a key: a text there may name a file, relative to the file that says it."""

FileOrName = Annotated[str, NAMES_A_FILE]
"""A text that may name a file, a class in one (`control.py:Mine`) or a transport with one (`dcqcn@acc:model.json`)."""

MIXTURE = re.compile(r"mix:(?P<share>[^(]*)\((?P<adopted>.*)\|(?P<other>.*)\)", re.DOTALL)
"""Of a mixture of two policies by their names, as in `mix:0.25(a.json|dctcp)`: a quarter of senders has the first."""

_NAME = re.compile(
    r"(?P<where>[^:]+\.py|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*):(?P<name>[A-Za-z_]\w*)(?::(?P<parameters>.*))?"
)

CONTROL_MODULE = "lcca_control_"
"""What the names of the modules begin with that congestion controls in Python run in."""


@dataclass(frozen=True)
class ClassName:
    """A class as a user names it.

    Attributes:
        where: a file that ends in ``.py``, or a module.
        name: of the class.
        parameters: the text after a second colon.
    """

    where: str
    name: str
    parameters: str = ""

    @classmethod
    def of(cls, text: str) -> ClassName | None:
        """Return what a text names; None if it has not the form of one."""
        found = _NAME.fullmatch(text)
        return cls(found["where"], found["name"], found["parameters"] or "") if found else None

    @property
    def is_file(self) -> bool:
        """Whether it is in a file rather than a module."""
        return self.where.endswith(".py")

    def file(self) -> Path | None:
        """Return the file that holds it; None if there is no such file or module."""
        if self.is_file:
            return Path(self.where) if Path(self.where).is_file() else None
        try:
            spec = importlib.util.find_spec(self.where)  # imports the packages around it
        except (ImportError, ValueError):
            return None
        return Path(spec.origin) if spec is not None and spec.origin and spec.origin.endswith(".py") else None

    @property
    def package(self) -> str:
        """The package that holds it, for relative imports; empty for a file of its own."""
        file = self.file()
        around = "" if self.is_file else self.where.rpartition(".")[0]
        return self.where if not self.is_file and file and file.name == "__init__.py" else around


def one_name(text: str) -> str:
    """Return the name of a class in a file with its path from the current folder, or from the root if it is elsewhere.

    So it has one name, however its path is written. Any other text is returned as it is.
    """
    found = ClassName.of(text)
    if found is None or not found.is_file or found.file() is None or Path(text).is_file():
        return text
    here, path = Path.cwd().resolve(), Path(found.where).resolve()
    return f"{path.relative_to(here) if path.is_relative_to(here) else path}{text[len(found.where) :]}"
