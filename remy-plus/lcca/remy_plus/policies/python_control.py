"""A congestion control that is a class in Python, named as in ``my_cca.py:Mine`` or ``package.module:Mine:gain=0.5``.

The class has `start()` and `on_ack(ack)`, both of which return (window, gap): packets and µs between sends. It is made
anew for every flow, and its file is run anew for every trial. What `ack` has is in `Ack` and in the class's `signals`.
"""

from __future__ import annotations

import ast
import math
import os
import sys
from collections import namedtuple
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from types import CodeType, ModuleType, TracebackType
from typing import Any, ClassVar, Self, TypeVar

from lcca.inputs.assignments import assignments
from lcca.inputs.digests.imports import digest_with_imports, reached_by, sha256
from lcca.inputs.errors import InputError, about, did_you_mean, nearest
from lcca.inputs.files import read_limited
from lcca.inputs.names import CONTROL_MODULE, ClassName
from lcca.inputs.numbers import real_or_nan
from lcca.remy_plus import _core
from lcca.remy_plus.core.formulas import check_signals
from lcca.remy_plus.core.signals import SIGNALS
from lcca.remy_plus.policies.simple import LARGEST_WINDOW, Simple, digits
from lcca.remy_plus.policies.watched_code import Forbidden, caught, watch

ACK = {
    "now": "µs since the start of the trial",
    "rtt": "µs, the flow's latest round trip",
    "smallest_rtt": "µs, the flow's smallest so far",
    "sequence": "number of the packet that was acknowledged; a sender's flows are numbered on",
    "sent": "packets that the sender has sent so far, of all its flows",
    "lost": "packets of the flow that are missing just before this one",
    "late": "True for a packet of an earlier flow; only told where the class says `late = True`",
}
"""What every acknowledgement has, whatever the signals."""

Said = tuple[float, float]
P = TypeVar("P")
OnAck = Callable[[tuple[Any, ...]], Said]


@dataclass(frozen=True)
class PythonClass:
    """A class in a text of Python, which travels to other processes and machines as that text.

    Attributes:
        path: of the file, for errors.
        text: of the file.
        package: that holds it, for relative imports; empty for a file of its own.
        name: of the class.
        imports: a hash of what the text imports, as it was when it was read; empty if that is of Python alone.
        reads: the SHA-256 of the file, of own modules that it imports and of files that it names, by their real paths.
    """

    path: str
    text: str
    package: str
    name: str
    imports: str = ""
    reads: Mapping[str, str] = field(default_factory=dict, compare=False)

    @classmethod
    def named(cls, found: ClassName) -> Self:
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
        reached = reached_by(data, found.package, path.parent)
        reads = {os.path.realpath(path): sha256(data), **reached.contents}
        return cls(str(path), text, found.package, found.name, reached.digest, reads)

    @cached_property
    def digest(self) -> str:
        """A hash of the text and what it imports: the text's SHA-256 if that is of Python alone."""
        return digest_with_imports(self.text.encode(), self.imports)

    @cached_property
    def module(self) -> str:
        """The name of the module that it runs in."""
        return f"{CONTROL_MODULE}{sha256(f'{self.path} {self.name} {self.digest}'.encode())[:16]}"

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave out what was made of the text."""
        return type(self), (self.path, self.text, self.package, self.name, self.imports, self.reads)

    @cached_property
    def declared(self) -> type:
        """The class, for what it declares; trials have their own (see `fresh`)."""
        found: type = self.fresh()
        return found

    def fresh(self, watched: bool = True) -> Any:
        """Run the text anew, watched or not, and return its class.

        It shares with others only what modules that it imports keep.

        Raises:
            InputError: the text is no Python, fails, or has no such class; names the line.
        """
        module = ModuleType(self.module)
        module.__file__, module.__package__ = self.path, self.package
        sys.modules[module.__name__] = module  # dataclasses look their module up there
        if watched:
            watch(self)
        try:
            exec(self._code, module.__dict__)
        except SyntaxError as error:
            raise InputError(f"{error.filename or self.path}:{error.lineno}: {error.msg}") from error
        except (KeyboardInterrupt, Forbidden):
            raise
        except BaseException as error:
            raise InputError(f"{self.at(error.__traceback__)}: {said(error)}") from error
        self.require_allowed()
        return self._picked(vars(module))

    def require_allowed(self) -> None:
        """Raise the error of what the code has done that it may not, if it went on after that."""
        if self.module in caught:
            raise caught[self.module]

    def _picked(self, members: Mapping[str, Any]) -> Any:
        found = members.get(self.name)
        if not isinstance(found, type):
            classes = [name for name, each in members.items() if isinstance(each, type)]
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
        """Return the file and the line at which the class or function, or a member of it, is defined."""
        defined = (each for each in ast.parse(self.text).body if isinstance(each, ast.ClassDef | ast.FunctionDef))
        for found in (each for each in defined if each.name == self.name):
            inside = {name: each.lineno for each in found.body for name in _defines(each)}
            return f"{self.path}:{inside.get(member, found.lineno)}"
        return self.path


class PythonFunction(PythonClass):
    """A function in a text of Python; see `PythonClass`."""

    def _picked(self, members: Mapping[str, Any]) -> Any:
        found = members.get(self.name)
        if not callable(found):
            functions = [name for name, each in members.items() if callable(each)]
            raise InputError(f"{self.path}: no function {self.name!r}{did_you_mean(self.name, functions)}")
        return found


@dataclass(frozen=True)
class PythonControl(Simple):
    """A congestion control that is a class in Python.

    Attributes:
        source: the class.
        parameters: keyword arguments that it is made with.
        time_scale: µs that a µs of its trials stands for: all times that it is told and says are real ones.

    Raises:
        InputError: no such class, one without `start` or `on_ack`, or unknown signals; the message names the line.
    """

    kind: ClassVar[str] = "python"
    title: ClassVar[str] = "class in Python"
    example: ClassVar[str] = "my_cca.py:Mine (your own class)"

    source: PythonClass
    parameters: tuple[tuple[str, float], ...] = ()
    time_scale: float = 1.0

    def __post_init__(self) -> None:
        """Check the class."""
        for method in ("start", "on_ack"):
            if not callable(getattr(self.source.declared, method, None)):
                raise InputError(f"{self.source.line_of()}: class {self.source.name} has no method {method}")
        if self.signals:
            with about(self.source.line_of("signals")):
                check_signals(self.signals)

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave out what was made of the source."""
        return PythonControl, (self.source, self.parameters, self.time_scale)

    @classmethod
    def named(cls, text: str) -> PythonControl:
        """See `Simple`; the text is the whole name."""
        found = ClassName.of(text)
        if found is None:
            raise InputError(f"{text[:60]!r}: name a class as in {cls.example.split()[0]}")
        with about(f"{found.name}:{found.parameters}" if found.parameters else found.name):
            parameters = parameters_of(found.parameters)
        return cls(PythonClass.named(found), parameters)

    @property
    def signals(self) -> tuple[str, ...]:
        """Signals that it looks at: the class's `signals`."""
        given = getattr(self.source.declared, "signals", ())
        if not isinstance(given, tuple | list):
            raise InputError(f"{self.source.line_of('signals')}: signals: must be names, as in ('rtt_ratio',)")
        return tuple(given)

    @property
    def late(self) -> bool:
        """Whether it is told of late packets of earlier flows: the class's `late`."""
        return bool(getattr(self.source.declared, "late", False))

    def compile(self) -> _core.Policy:
        """See `Simple`."""
        return _core.Policy.python(self)

    def lines(self) -> list[str]:
        """See `Simple`."""
        given = [f"{name} = {digits(value)}" for name, value in self.parameters]
        signals = f"signals: {', '.join(self.signals) or 'none'}"
        return [f"{self.source.name} of {self.source.line_of()}", *given, signals, f"SHA-256 {self.source.digest}"]

    @cached_property
    def _ack(self) -> type[tuple[Any, ...]]:
        """What `on_ack` is given."""
        return namedtuple("Ack", (*ACK, *self.signals))

    def trial(self) -> Callable[[], tuple[OnAck, Said]]:
        """Begin a trial: return what begins each of its flows.

        A flow that begins is what the engine calls with the values of each acknowledgement, and the first answer.

        Raises:
            InputError: the class fails, or says what is no window or no gap; names the file and the line.
        """
        return partial(self._begin, self.source.fresh())

    def _begin(self, made_from: Callable[..., Any]) -> tuple[OnAck, Said]:
        flow = self._called("__init__", lambda: made_from(**dict(self.parameters)))
        first = self._called("start", flow.start)
        step, made, new, checked = flow.on_ack, self._ack, tuple.__new__, self._checked
        module = self.source.module

        def on_ack(values: tuple[Any, ...]) -> Said:
            try:
                answer = step(new(made, values))
            except (KeyboardInterrupt, Forbidden):
                raise
            except BaseException as error:
                raise self._failed(error, "on_ack") from error
            if module in caught:
                raise caught[module]
            return checked(answer, "on_ack")

        return on_ack, checked(first, "start")

    def _called(self, method: str, call: Callable[[], Any]) -> Any:
        try:
            found = call()
        except (KeyboardInterrupt, Forbidden):
            raise
        except BaseException as error:
            raise self._failed(error, method) from error
        self.source.require_allowed()
        return found

    def _checked(self, answer: Any, method: str) -> Said:
        """Return a window and a gap as the engine takes them."""
        try:
            window, gap = answer
            window, gap = float(window), float(gap)
        except (TypeError, ValueError, OverflowError):
            raise self._wrong(method, f"{answer!r:.60}; it must be a window in packets and a gap in µs") from None
        if not window >= 0:
            raise self._wrong(method, f"a window of {window:g} packets; it must be 0 or more, math.inf for none")
        if not 0 <= gap < math.inf:
            raise self._wrong(method, f"a gap of {gap:g} µs; it must be 0 or more, and finite")
        return min(window, float(LARGEST_WINDOW)), gap

    def _wrong(self, method: str, what: str) -> InputError:
        return InputError(f"{self.source.line_of(method)}: {self.source.name}.{method} returned {what}")

    def _failed(self, error: BaseException, method: str) -> InputError:
        """Return what went wrong in the class, and where."""
        where = f"{self.source.at(error.__traceback__, method)}: {self.source.name}.{method}"
        if isinstance(error, AttributeError) and type(error.obj) is self._ack:
            return InputError(f"{where}: ack has no {error.name!r}; {self._hint(error.name)}")
        return InputError(f"{where}: {said(error)}")

    def _hint(self, name: str | None) -> str:
        if name in SIGNALS:
            return f"add it to the class: signals = {(*self.signals, name)!r}"
        known = (*ACK, *self.signals)
        return f"it has {', '.join(known)}{nearest(name, (*known, *SIGNALS))}"


def in_real_time(policy: P, time_scale: float) -> P:
    """Return a policy for trials each of whose µs stands for so many: a class in Python is told and says real ones.

    What was learnt, or has parameters of its own, is meant for the µs of the trials, and stays as it is.
    """
    return replace(policy, time_scale=time_scale) if isinstance(policy, PythonControl) else policy


def parameters_of(text: str) -> tuple[tuple[str, float], ...]:
    """Return the parameters in a text such as ``gain=0.5,initial=4``."""
    found: dict[str, float] = {}
    for item, key, value in assignments(text):
        number = real_or_nan(value or "")
        if value is None or not key.isidentifier() or not math.isfinite(number):
            raise InputError(f"{item[:60]!r}: write name=number")
        found[key] = int(number) if value.lstrip("+-").isdigit() else number
    return tuple(found.items())


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
