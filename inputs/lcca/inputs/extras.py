"""Packages that only some users need: a clear message where one is absent."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec

from lcca.inputs.errors import InputError

EXTRA_OF = {
    "pyarrow": ("pyarrow", "run folders", "runs"),
    "matplotlib": ("matplotlib", "figures", "runs"),
    "jinja2": ("jinja2", "reports", "runs"),
    "google": ("protobuf", ".dna files", "dna"),
}
"""Of modules that are imported at the top of others: the package, what needs it, and the extra that has it."""


class MissingPackage(InputError, ImportError):
    """A package of an extra is not installed; the message says how to install it."""


def missing(package: str, what: str, extra: str = "drl") -> MissingPackage:
    """Return the error that `what` needs a package of an extra.

    Examples:
        >>> str(missing("gymnasium", "environments"))
        "environments need the package gymnasium: pip install 'lcca[drl]'"
    """
    return MissingPackage(f"{what} need the package {package}: pip install 'lcca[{extra}]'")


def absent(error: ImportError) -> MissingPackage | None:
    """Return the message for a module of `EXTRA_OF` that could not be imported; None for any other."""
    known = EXTRA_OF.get((error.name or "").partition(".")[0]) if isinstance(error, ModuleNotFoundError) else None
    return missing(*known) if known else None


def require_libraries(libraries: Mapping[str, str], what: str, extra: str = "drl") -> None:
    """Check that the libraries of an extra are installed, without importing them.

    Args:
        libraries: modules, and the packages that have them.
        what: needs them, in the plural, for the message.
        extra: that has them.

    Raises:
        MissingPackage: one is not; the message says how to install it.
    """
    for module, package in libraries.items():
        if find_spec(module) is None:
            raise missing(package, what, extra)
