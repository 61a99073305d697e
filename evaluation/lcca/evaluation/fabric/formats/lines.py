"""Lines of words in files of other programs; a mistake names file, line, word and what to do."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lcca.inputs.errors import ConfigError, Place, Problem, did_you_mean, shown
from lcca.inputs.files import read_limited
from lcca.inputs.numbers import real_or_nan
from lcca.inputs.tables import whole


@dataclass(frozen=True)
class Line:
    """A line that is not empty.

    Attributes:
        path: the file.
        number: of the line, from 1.
        words: of it, without what stands behind a comment's sign.
    """

    path: str
    number: int
    words: Sequence[str]

    def wrong(self, word: str, text: str) -> ConfigError:
        """Return the error that something is wrong with a word."""
        return ConfigError(Problem(Place(self.path, self.number), (word,) if word else (), text))

    def word(self, at: int, key: str) -> str:
        """Return the word at a place, where a key's value stands."""
        if at >= len(self.words):
            raise self.wrong(key, "its value is missing at the end of the line; write it, or leave the key out")
        return self.words[at]

    def whole(self, at: int, key: str, least: int = 0, most: int = 2**31 - 1) -> int:
        """Return the word at a place as a whole number."""
        try:
            return int(whole(least, most)(self.word(at, key)))
        except ValueError as error:
            raise self.wrong(key, str(error)) from None

    def real(self, at: int, key: str, least: float = 0.0) -> float:
        """Return the word at a place as a finite number."""
        value = real_or_nan(text := self.word(at, key))
        if not (math.isfinite(value) and value >= least):
            raise self.wrong(key, f"must be a number of at least {least:g}, found {shown(text)}")
        return value

    def unknown(self, word: str, known: Iterable[str]) -> ConfigError:
        """Return the error that a word is none of those that are known."""
        return self.wrong(word, f"unknown here{did_you_mean(word, known)}; leave it out or correct it")


def lines_of(path: str | os.PathLike[str], comment: str = "#") -> list[Line]:
    """Return the lines of a text file that hold more than a comment.

    Raises:
        InputError: it cannot be read, is no text, or holds nothing.
    """
    name, data = os.fspath(path), read_limited(path)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        place = Place(name, data[: error.start].count(b"\n") + 1)
        raise ConfigError(Problem(place, (), "not UTF-8 text; is it the right file?")) from None
    rows = ((number, line.partition(comment)[0].split()) for number, line in enumerate(text.splitlines(), 1))
    found = [Line(name, number, words) for number, words in rows if words]
    if not found:
        raise ConfigError(Problem(Place(name), (), "holds nothing; is it the right file?"))
    return found
