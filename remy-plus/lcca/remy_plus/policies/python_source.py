"""The source of a congestion control in Python: the class in it, and the lines that errors name."""

from __future__ import annotations

import ast
import sys
from dataclasses import dataclass
from functools import cached_property
from types import CodeType, ModuleType, TracebackType
from typing import Any

from lcca.inputs.dependencies import digest_with_imports, reached_by
from lcca.inputs.errors import InputError, did_you_mean
from lcca.inputs.files import read_limited
from lcca.inputs.names import CONTROL_MODULE, ClassName


@dataclass(frozen=True)
class PythonClass:
    """A class in a text of Python, which travels to other processes and machines as that text.

    Attributes:
        path: of the file, for errors.
        text: of the file.
        package: that holds it, for relative imports; empty for a file of its own.
        name: of the class.
        imports: a hash of what the text imports, as it was when it was read; empty if that is of Python alone.
    """

    path: str
    text: str
    package: str
    name: str
    imports: str = ""

    @classmethod
    def named(cls, found: ClassName) -> PythonClass:
        """Read the file that a name means.

        Raises:
            InputError: no such file or module, no text, or a module that it imports cannot be read.
        """
        path = found.file()
        if path is None:
            raise InputError(f"{found.where}: {'no such file' if found.is_file else _no_module(found)}")
        data = read_limited(path)
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise InputError(f"{path}: not UTF-8 text (byte {error.start})") from error
        imports = reached_by(data, found.package, path.parent).digest
        return cls(str(path), text, found.package, found.name, imports)

    @cached_property
    def digest(self) -> str:
        """A hash of the text and what it imports: the text's SHA-256 if that is of Python alone."""
        return digest_with_imports(self.text.encode(), self.imports)

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave out what was made of the text."""
        return PythonClass, (self.path, self.text, self.package, self.name, self.imports)

    @cached_property
    def declared(self) -> type:
        """The class, for what it declares; trials have their own (see `fresh`)."""
        return self.fresh()

    def fresh(self) -> type:
        """Run the text anew and return its class, which shares with others only what modules that it imports keep.

        Raises:
            InputError: the text is no Python, fails, or has no such class; names the line.
        """
        module = ModuleType(f"{CONTROL_MODULE}{self.digest[:16]}")
        module.__file__, module.__package__ = self.path, self.package
        sys.modules[module.__name__] = module  # dataclasses look their module up there
        try:
            exec(self._code, module.__dict__)
        except SyntaxError as error:
            raise InputError(f"{error.filename or self.path}:{error.lineno}: {error.msg}") from error
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raise InputError(f"{self.at(error.__traceback__)}: {said(error)}") from error
        found = vars(module).get(self.name)
        if not isinstance(found, type):
            classes = [name for name, each in vars(module).items() if isinstance(each, type)]
            raise InputError(f"{self.path}: no class {self.name!r}{did_you_mean(self.name, classes)}")
        return found

    @cached_property
    def _code(self) -> CodeType:
        return compile(self.text, self.path, "exec")

    def at(self, traceback: TracebackType | None, otherwise: str = "") -> str:
        """Return the file and the innermost line of it in a traceback, or the line of a definition."""
        line = 0
        while traceback is not None:
            if traceback.tb_frame.f_code.co_filename == self.path:
                line = traceback.tb_lineno
            traceback = traceback.tb_next
        return f"{self.path}:{line}" if line else self.line_of(otherwise)

    def line_of(self, member: str = "") -> str:
        """Return the file and the line at which the class, or a method or value of it, is defined."""
        classes = (each for each in ast.parse(self.text).body if isinstance(each, ast.ClassDef))
        for found in (each for each in classes if each.name == self.name):
            inside = {name: each.lineno for each in found.body for name in _defines(each)}
            return f"{self.path}:{inside.get(member, found.lineno)}"
        return self.path


def said(error: BaseException) -> str:
    """Return an exception in a line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _defines(statement: ast.stmt) -> list[str]:
    """Return the names that a statement of a class defines."""
    if isinstance(statement, ast.FunctionDef):
        return [statement.name]
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    return [each.id for each in targets if isinstance(each, ast.Name)]


def _no_module(found: ClassName) -> str:
    if found.where == "ns3":
        return f"no such module in Python; a class of ns-3 is named ns3::{found.name}"
    return (
        "no such module in Python: is it installed, or its folder in PYTHONPATH? A file is named with its ending, "
        f"as in {found.where.rpartition('.')[2]}.py:{found.name}"
    )
