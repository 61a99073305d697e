"""Ways in which files that users write go wrong: numbers, keys, lists, cells, lines and bytes, drawn from a stream."""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import ruamel.yaml


class Raw(str):
    """Text that is written as it is, not as a quoted value."""


class Pairs(list[list[Any]]):
    """A mapping as its keys and values in order, which may hold a key twice."""


@dataclass(frozen=True)
class Altered:
    """A file after something went wrong.

    Attributes:
        data: its bytes.
        what: was done, for a reader.
        key: at which it was done, or a column; empty for bytes and lines.
    """

    data: bytes
    what: str
    key: str = ""


NUMBERS = (
    *("0", "-1", "-0.0", "0.5", "1e-300", "1e300", "1e400", "9" * 400, "0x7fffffff", "2147483648", "4294967297"),
    *("9223372036854775807", "1e18", "1e9", "3", "true", "null", '""', "[]", "{}", "1_000", "1,000", "017", "0o17"),
    *("1:30", "٣", "1２", "2001-01-01", '"7"', "*a", "!!float 3", "!!python/object:os.system x", "=", "<<", "[1, 2]"),
)
YAML_NUMBERS = (*NUMBERS, ".nan", ".inf", "-.inf", "{min: 1, max: 2, step: 1}", "{min: 2, max: 1, step: 1}", "~")
JSON_NUMBERS = (*NUMBERS, "NaN", "Infinity", "-Infinity")
UNITS = ("us", " us", " µs", " ms", " s", " min", " ns", " Gbps", "Mbps", " B", " kB", " GB", " MiB", " packets", " %")
UNITS += (" packets/us", " parsecs", " GBps", " Gb/s", "e3", "e-9", " us us", "_us", "%")
TEXTS = ('""', '" "', "a" * 5000, "../x", "/dev/zero", ".", '"a\\0b"', '"\\ud800"', "'\u202eeman'", "1", "null", "[x]")
TEXTS += ("{x: 1}", "e2e", "dctcp", "aimd", "slowdown", "star", "a:b", "a=b", "loss", "x.yaml", "'*'", "été", "𝟙")
TOKENS = ("\0", "\t", "\x1b[31m", "\u2028", "\ufeff", "é", "&a ", "*a", "{", "}", "[", "]", ": ", "- ", "#", "'", '"')
TOKENS += (
    "\n",
    "\n\n---\n",
    "\n...\n",
    "%YAML 1.1\n---\n",
    "!!set ",
    "? ",
    "| ",
    "> ",
    "@",
    "`",
    ",",
    ";",
    "<<: ",
    "x",
)
COLUMNS = ("error_rate", "priority", "class", "x", "", "a", "src", "SIZE_BYTES", "tag", "path", "ack_path", "gbps ")


def drawn(random: random.Random, data: bytes, syntax: str) -> Altered:
    """Return a file with one thing wrong, or a few."""
    found = Altered(data, "")
    for _ in range(random.choice((1, 1, 1, 1, 2, 3))):
        ways = SYNTAXES[syntax]
        try:
            one = random.choice(ways)(random, found.data)
        except (UnicodeDecodeError, ValueError, ruamel.yaml.YAMLError, csv.Error, RecursionError):
            one = in_bytes(random, found.data)  # what was done before left no such file
        found = Altered(one.data, f"{found.what}; {one.what}".removeprefix("; "), found.key or one.key)
    return found


# Trees: YAML and JSON


def tree_of_yaml(data: bytes) -> Any:
    return _in_pairs(ruamel.yaml.YAML(typ="safe", pure=True).load(data.decode("utf-8-sig")))


def _in_pairs(value: Any) -> Any:
    if isinstance(value, dict):
        return Pairs([key, _in_pairs(item)] for key, item in value.items())
    return [_in_pairs(item) for item in value] if isinstance(value, list) else value


def tree_of_json(data: bytes) -> Any:
    return json.loads(data, object_pairs_hook=lambda pairs: Pairs([key, value] for key, value in pairs))


def content_of(syntax: str, data: bytes) -> Any:
    """Return what a file holds, by another reader than the project's: values, or cells by column."""
    if syntax == "yaml":
        return ruamel.yaml.YAML(typ="safe", pure=True).load(data.decode("utf-8-sig"))
    if syntax == "json":
        return json.loads(data)
    if syntax == "csv":
        rows = [[cell.strip() for cell in row] for row in csv.reader(data.decode("utf-8-sig").splitlines())]
        return sorted(column for column in zip(*(row for row in rows if row), strict=True) if any(column[1:]))
    return data


def flow(value: Any) -> str:
    """Return a tree on one line, which is YAML and, but for raw text, JSON."""
    if isinstance(value, Pairs):
        return "{" + ", ".join(f"{flow(key)}: {flow(item)}" for key, item in value) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(flow, value)) + "]"
    return str(value) if isinstance(value, Raw) else json.dumps(value, ensure_ascii=False, default=str)


def block(value: Any, indent: str = "") -> Iterator[str]:
    """Yield the lines of YAML, one key a line."""
    if isinstance(value, Pairs):
        for key, item in value:
            name = key if isinstance(key, str) and key.isidentifier() else flow(key)
            yield from _entry(f"{indent}{name}:", item, indent)
    else:
        for item in value:
            yield from _entry(f"{indent}-", item, indent)


def _entry(head: str, item: Any, indent: str) -> Iterator[str]:
    if isinstance(item, Pairs) or (isinstance(item, list) and any(isinstance(each, Pairs) for each in item)):
        if item:
            yield head
            yield from block(item, indent + "  ")
            return
    yield f"{head} {flow(item)}"


def yaml_of(tree: Any) -> bytes:
    if not isinstance(tree, list) or not tree:
        return flow(tree).encode("utf-8", "surrogatepass")
    return "\n".join([*block(tree), ""]).encode("utf-8", "surrogatepass")


def json_of(tree: Any) -> bytes:
    return flow(tree).replace(", ", ",\n ").encode("utf-8", "surrogatepass")


Place = tuple[list[Any], int, str]
"""A list, the number of one of its items (of pairs the number of a key), and the dotted key."""


def places(tree: Any, dotted: str = "") -> Iterator[Place]:
    """Yield every place that holds a value."""
    if isinstance(tree, list):
        for i, item in enumerate(tree):
            name = f"{dotted}.{item[0] if isinstance(tree, Pairs) else i}".removeprefix(".")
            yield tree, i, name
            yield from places(item[1] if isinstance(tree, Pairs) else item, name)


def _value(place: Place) -> Any:
    holder, i, _ = place
    return holder[i][1] if isinstance(holder, Pairs) else holder[i]


def _put(place: Place, value: Any) -> None:
    holder, i, _ = place
    if isinstance(holder, Pairs):
        holder[i] = [holder[i][0], value]
    else:
        holder[i] = value


def _changed_number(random: random.Random, value: float, numbers: Sequence[str]) -> Any:
    way = random.randrange(4)
    if way == 0:
        return random.choice((value * 1000, value / 1000, -value, value + 1, value - 1, value * (1 + 1e-15), value * 2))
    return Raw(f"{value:g}{random.choice(UNITS)}") if way == 1 else Raw(random.choice(numbers))


def _other(random: random.Random, value: Any, numbers: Sequence[str]) -> tuple[Any, str]:
    """Return another value in place of one, and what was done."""
    if isinstance(value, list):
        ways: dict[str, Callable[[], Any]] = {
            "emptied": lambda: type(value)(),
            "doubled": lambda: type(value)([*value, *value]),
            "turned": lambda: type(value)(value[::-1]),
            "nested": lambda: [value],
            "many": lambda: type(value)(list(value) * 300) if len(value) < 20 else value,
            "a number": lambda: Raw(random.choice(numbers)),
            "nested deep": lambda: Raw("[" * 300 + "]" * 300),
        }
        way = random.choice(list(ways))
        return ways[way](), f"list or mapping {way}"
    if isinstance(value, bool) or value is None:
        other = random.choice((True, False, None, 0, 1, "yes", Raw("off"), Raw("[]")))
        return other, f"{value} is {other!r}"
    if isinstance(value, int | float):
        other = _changed_number(random, value, numbers)
        return other, f"{value:g} is {str(other)[:40]}"
    other = Raw(random.choice(TEXTS)) if random.random() < 0.6 else value[:-1] + random.choice(("", "x", "s", " ", ","))
    return other, f"{str(value)[:20]!r} is {str(other)[:30]!r}"


def in_tree(
    random: random.Random, data: bytes, read: Callable[[bytes], Any], write: Callable[[Any], bytes], numbers: Any
) -> Altered:
    """Change a value or a key."""
    tree = read(data)
    found = list(places(tree))
    if not found:
        return in_bytes(random, data)
    place = holder, i, key = random.choice(found)
    value, way = _value(place), random.randrange(10)
    if way < 5:
        other, what = _other(random, value, numbers)
        _put(place, other)
    elif way == 5:
        del holder[i]
        what = "left out"
    elif way == 6:
        holder.insert(random.randrange(len(holder) + 1), holder[i])
        what = "there twice"
    elif way == 7:
        _put(place, _value(random.choice(found)))
        what = "the value of another key"
    elif way == 8 and isinstance(holder, Pairs):
        name = str(holder[i][0])
        holder[i] = [random.choice((name[:-1], name.upper(), f"{name}x", f"{name} ", f"x_{name}", "", 1, "é")), value]
        what = f"renamed {holder[i][0]!r}"
    else:
        _put(place, None)
        what = "null"
    return Altered(write(tree), f"{key}: {what}", key)


def in_yaml(random: random.Random, data: bytes) -> Altered:
    return in_tree(random, data, tree_of_yaml, yaml_of, YAML_NUMBERS)


def in_json(random: random.Random, data: bytes) -> Altered:
    return in_tree(random, data, tree_of_json, json_of, JSON_NUMBERS)


# Tables


def in_table(random: random.Random, data: bytes) -> Altered:
    """Change a cell, a column or a row of a CSV file."""
    rows = [row for row in csv.reader(io.StringIO(data.decode("utf-8-sig"))) if row]
    if not rows:
        return in_bytes(random, data)
    column, row = random.randrange(max(1, len(rows[0]))), random.randrange(len(rows))
    name, way = (rows[0] + [""])[column], random.randrange(9)
    if way < 4:
        cells = rows[row]
        at = random.randrange(len(cells))
        other = random.choice((*NUMBERS, "nan", "inf", "", " ", "1.5", "-5", "x", f"{cells[at]}{random.choice(UNITS)}"))
        what = f"line {row + 1}: {cells[at]!r} is {other[:30]!r}"
        cells[at], name = other, (rows[0] + [""] * 9)[at]
    elif way == 4:
        name, value = random.choice(COLUMNS), random.choice(("0", "1", "0.001", "9", "", "1-2", "x"))
        rows = [[*cells[:column], name if i == 0 else value, *cells[column:]] for i, cells in enumerate(rows)]
        what = f"a column {name!r} of {value!r}"
    elif way == 5:
        rows = [cells[:column] + cells[column + 1 :] for cells in rows]
        what = f"without column {name}"
    elif way == 6:
        rows[0][column] = random.choice((name.upper(), f" {name}", f"{name}s", f'"{name}"', "", *COLUMNS))
        what = f"column {name} is {rows[0][column]!r}"
    elif way == 7:
        rows = random.choice((rows[:row] + rows[row + 1 :], [*rows, rows[row]], rows[::-1], rows[:row], rows * 50))
        what = "rows left out, twice or in another order"
    else:
        return _separated(random, rows)
    return Altered("".join(",".join(cells) + "\n" for cells in rows).encode(), f"{name}: {what}", name)


def _separated(random: random.Random, rows: list[list[str]]) -> Altered:
    between = random.choice((";", "\t", " ", ", ", "|", ',"'))
    text = "".join(between.join(cells) + random.choice(("\n", "\n", "\r\n", "\r")) for cells in rows)
    return Altered(text.encode(), f"cells separated by {between!r}")


# Lines and bytes


def in_lines(random: random.Random, data: bytes) -> Altered:
    """Change the order, number or ends of lines."""
    lines = data.splitlines(keepends=True)
    if not lines:
        return in_bytes(random, data)
    i, j, way = random.randrange(len(lines)), random.randrange(len(lines)), random.randrange(7)
    if way == 0:
        lines[i], lines[j] = lines[j], lines[i]
    elif way == 1:
        del lines[i]
    elif way == 2:
        lines.insert(j, lines[i])
    elif way == 3:
        lines[i] = random.choice((b" ", b"  ", b"\t", b"- ", b"# ")) + lines[i]
    elif way == 4:
        lines[i] = lines[i].lstrip()
    elif way == 5:
        lines = [line.replace(b"\n", b"\r\n") for line in lines]
    else:
        lines = lines * 2
    what = (
        "swapped",
        "left out",
        "there twice",
        "moved right",
        "moved left",
        "ended by CRLF",
        "the file is there twice",
    )
    return Altered(b"".join(lines), f"line {i + 1}: {what[way]}")


def in_bytes(random: random.Random, data: bytes) -> Altered:
    """Flip, insert or cut bytes, or write all in another encoding."""
    at, way = random.randrange(len(data) + 1), random.randrange(8)
    token = random.choice(TOKENS).encode()
    if way == 0:
        flipped = bytes([data[at % len(data)] ^ 1 << random.randrange(8)]) if data else b"\xff"
        return Altered(data[:at] + flipped + data[at + 1 :], f"byte {at} flipped")
    if way in (1, 2, 3):
        return Altered(data[:at] + token + data[at:], f"{token!r} inserted at byte {at}")
    if way == 4:
        return Altered(data[:at], f"cut at byte {at}")
    if way == 5:
        return Altered(b"\xef\xbb\xbf" + data, "byte order mark")
    if way == 6:
        digits = str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")
        return Altered(data.decode("utf-8", "replace").translate(digits).encode(), "digits of another script")
    return Altered(data.decode("utf-8", "replace").encode("utf-16"), "UTF-16")


def in_numbers(random: random.Random, data: bytes) -> Altered:
    """Put another word in place of a number of a program's text."""
    words = data.split(b" ")
    numbers = [i for i, word in enumerate(words) if any(48 <= byte < 58 for byte in word)]
    if not numbers:
        return in_bytes(random, data)
    at = random.choice(numbers)
    other = random.choice(("0", "-1", "1e400", "None", "()", "(1, 2)", "'7'", "1 / 0", "float('nan')", "[]", "10**400"))
    what = f"{words[at].decode()!r} is {other}"
    words[at] = other.encode() + (b"\n" if words[at].endswith(b"\n") else b"")
    return Altered(b" ".join(words), what)


Way = Callable[[random.Random, bytes], Altered]
SYNTAXES: dict[str, tuple[Way, ...]] = {
    "yaml": (in_yaml,) * 8 + (in_lines, in_bytes),
    "json": (in_json,) * 8 + (in_lines, in_bytes),
    "csv": (in_table,) * 8 + (in_lines, in_bytes),
    "dna": (in_bytes,),
    "py": (in_numbers, in_numbers, in_lines, in_bytes),
}
"""Ways by the syntax of a file; those that keep most of it in order are drawn more often."""
