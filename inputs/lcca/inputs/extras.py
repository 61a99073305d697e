"""Packages that only some users need: a clear message where one is absent."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec

from lcca.inputs.errors import InputError


class MissingPackage(InputError, ImportError):
    """A package of an extra is not installed; the message says how to install it."""


def missing(package: str, what: str, extra: str = "drl") -> MissingPackage:
    """Return the error that `what` needs a package of an extra.

    Examples:
        >>> str(missing("gymnasium", "environments"))
        "environments need the package gymnasium: pip install 'lcca[drl]'"
    """
    return MissingPackage(f"{what} need the package {package}: pip install 'lcca[{extra}]'")


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
