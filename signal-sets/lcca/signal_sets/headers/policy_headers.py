"""Headers of policy files: by name or written out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from lcca.inputs.errors import InputError, shown
from lcca.signal_sets.headers.catalogue import header as catalogue_header
from lcca.signal_sets.headers.catalogue import packaged_headers
from lcca.signal_sets.headers.header import Header


def described(header: Header) -> str | dict[str, Any]:
    """Return a header as a policy file has it: its name where that is the catalogue's, else all of it."""
    known = packaged_headers().get(header.name)
    return header.name if known == header else header.model_dump(mode="json")


def header_of(named: str | Mapping[str, Any]) -> Header:
    """Return the header that a policy file names or describes.

    Raises:
        InputError: an unknown name, or a description outside the vocabulary.
    """
    if isinstance(named, str):
        return catalogue_header(named)
    if not isinstance(named, Mapping):
        raise InputError(f"header: must be a name or a description, found {shown(named)}")
    try:
        return Header.model_validate(dict(named))
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(
            f"header: {'.'.join(map(str, first['loc']))}: {first['msg'].removeprefix('Value error, ')}"
        ) from None
