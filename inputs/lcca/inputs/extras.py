"""Packages that only some users need: a clear message where one is absent."""

from __future__ import annotations

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
