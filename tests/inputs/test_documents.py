import math
from pathlib import Path

import pytest

from lcca.inputs.documents import Document
from lcca.inputs.errors import ConfigError, InputError, Place
from lcca.inputs.validation import apply_overrides, read_document


def write(folder: Path, text: str | bytes, name: str = "a.yaml") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def read(folder: Path, text: str | bytes, *overrides: str) -> Document:
    return read_document(write(folder, text), overrides)


def error(folder: Path, text: str | bytes, *overrides: str) -> str:
    with pytest.raises(ConfigError) as caught:
        read(folder, text, *overrides)
    return str(caught.value).replace(f"{folder}/", "")


def test_yaml_is_1_2(tmp_path: Path) -> None:
    text = (
        "on: 1000\noff: no\nrate: 1e-3\nbig: 1E6\ncount: 010\nhex: 0x1f\nbuffer: .inf\nword: inf\n"
        "yes: true\nempty:\ntext: '1e-3'\nlong: 1_000\n"
    )
    data = read(tmp_path, text).data
    assert data == {
        "on": 1000, "off": "no", "rate": 1e-3, "big": 1e6, "count": 10, "hex": 31, "buffer": math.inf,
        "word": "inf", "yes": True, "empty": None, "text": "1e-3", "long": 1000,
    }  # fmt: skip
    assert [type(value) for value in data.values()] == [
        int, str, float, float, int, int, float, str, bool, type(None), str, int,
    ]  # fmt: skip


def test_values_are_plain(tmp_path: Path) -> None:
    data = read(tmp_path, "a: &x {b: [1, '2']}\nc: *x\n")
    assert type(data.data) is dict
    assert type(data.data["a"]) is dict
    assert type(data.data["a"]["b"]) is list
    assert type(data.data["a"]["b"][1]) is str
    assert data.data["c"] == data.data["a"]


def test_places_name_file_and_line(tmp_path: Path) -> None:
    document = read(tmp_path, "# comment\na: 1\n\nb:\n  c:\n    - x\n    - y: 2\n")
    path = str(document.path)
    assert document.place(("a",)) == Place(path, 2)
    assert document.place(("b", "c")) == Place(path, 5)
    assert document.place(("b", "c", 0)) == Place(path, 6)
    assert document.place(("b", "c", 1, "y")) == Place(path, 7)
    assert document.place(("b", "missing", "deeper")) == Place(path, 4)
    assert document.place(()) == Place(path, 2)
    assert str(document.place(("a",))) == f"{path}:2"


def test_merge_keys_and_anchors_have_places(tmp_path: Path) -> None:
    document = read(tmp_path, "base: &b {x: 1}\ntop:\n  <<: *b\n  y: 2\n")
    assert document.data["top"] == {"x": 1, "y": 2}
    assert document.place(("top", "y")).line == 4
    assert document.place(("top", "x")).line is not None


def test_byte_order_mark_is_skipped(tmp_path: Path) -> None:
    assert read(tmp_path, b"\xef\xbb\xbfa: 1\n").data == {"a": 1}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "a.yaml: is empty; expected keys with values (`key: value`)"),
        ("# only a comment\n---\n", "a.yaml: is empty; expected keys with values (`key: value`)"),
        ("- 1\n- 2\n", "a.yaml:1: expected keys with values (`key: value`), found a list"),
        ("hello\n", "a.yaml:1: expected keys with values (`key: value`), found text"),
        ("42\n", "a.yaml:1: expected keys with values (`key: value`), found a number"),
        ("a: 1\nb: 2\na: 3\n", 'a.yaml:3: duplicate key "a"; keep one of the two'),
        ("a:\n  b: 1\n  b: 1\n", 'a.yaml:3: a: duplicate key "b"; keep one of the two'),
        ("a:\n\tb: 1\n", "a.yaml:2: a tab where YAML wants spaces; indent with spaces"),
        ("%YAML 1.1\n---\na: 017\n", "a.yaml:1: files are YAML 1.2, without directives (%); leave this line out"),
        ("# c\n\n%TAG ! !x\n---\na: 1\n", "a.yaml:3: files are YAML 1.2, without directives"),
        ("a:\n  - {b: 1, c}\n", "a.yaml:2: a.0.c: has no value; write one behind a colon"),
        ("a: {b: 1, c: , d: 2}\n", "a.yaml:1: a.c: has no value; write one behind a colon"),
        (b"a: 1\nb: \xff\n", "a.yaml:2: not UTF-8 text; save the file as UTF-8"),
        ("1: x\n", "a.yaml:1: key 1 must be text; put it in quotes"),
        ("a:\n  true: x\n", "a.yaml:2: a: key true must be text; put it in quotes"),
        ("a: 1\nb: !!python/object:os.system x\n", "a.yaml:2: b: YAML tags and sets are not supported here"),
        ("a: !secret x\n", "a.yaml:1: a: YAML tags and sets are not supported here"),
        ("a: 1\nb: &x [{c: *x}]\n", "a.yaml:2: an alias (*) contains itself"),
        ("a: " + "[" * 5000, "nested too deeply"),
        ("a: 1\n---\nb: 2\n", "a.yaml:2: not YAML: "),
        ("a: [1, 2\n", "a.yaml:2: not YAML: "),
        ("a: b: c\n", "a.yaml:1: not YAML: "),
        ("a: *nowhere\n", "a.yaml:1: not YAML: "),
        ("a: \x00\n", "a.yaml"),
    ],
)
def test_broken_files_give_one_clear_error(tmp_path: Path, text: str | bytes, expected: str) -> None:
    message = error(tmp_path, text)
    assert expected in message
    assert message.startswith("a.yaml")
    assert "\n" not in message


def test_unreadable_files(tmp_path: Path) -> None:
    write(tmp_path, "a: 1", "quickstart.yaml")
    with pytest.raises(InputError, match=r"cannot be read: No such file .*\(did you mean 'quickstart.yaml'\?\)"):
        read_document(tmp_path / "quikstart.yaml")
    with pytest.raises(InputError, match="cannot be read: Is a directory"):
        read_document(tmp_path)
    with pytest.raises(InputError, match="cannot be read"):
        read_document("a\0b")
    with pytest.raises(InputError, match="cannot be read"):
        read_document(tmp_path / "nowhere" / "a.yaml")


def test_lists_as_roots(tmp_path: Path) -> None:
    document = read_document(write(tmp_path, "- {link_rate: 3.0}\n- {link_rate: 1e0}\n"), root="list")
    assert document.data == [{"link_rate": 3.0}, {"link_rate": 1.0}]
    assert document.place((1, "link_rate")).line == 2
    with pytest.raises(ConfigError, match=r"expected a list .* found a mapping"):
        read_document(write(tmp_path, "a: 1\n"), root="list")


# extends


def test_extends_merges_deeply_and_keeps_places(tmp_path: Path) -> None:
    base = write(tmp_path, "name: base\nsearch:\n  rounds: 5\n  grid: [1, 2]\nseeds: [1, 2, 3]\n", "base/b.yaml")
    document = read(tmp_path, "extends: base/b.yaml\nsearch:\n  rounds: 1\nseeds: [4]\n")
    assert document.data == {"name": "base", "search": {"rounds": 1, "grid": [1, 2]}, "seeds": [4]}
    assert document.place(("name",)) == Place(str(base), 1)
    assert document.place(("search",)) == Place(str(document.path), 2)
    assert document.place(("search", "rounds")) == Place(str(document.path), 3)
    assert document.place(("search", "grid", 1)) == Place(str(base), 4)
    assert document.place(("seeds", 0)) == Place(str(document.path), 4)
    assert document.place(("seeds", 2)) == Place(str(document.path), 4)


def test_extends_chains_and_is_relative_to_the_file_that_says_it(tmp_path: Path) -> None:
    write(tmp_path, "a: 1\nb: 1\nc: 1\n", "deep/er/z.yaml")
    write(tmp_path, "extends: er/z.yaml\nb: 2\nc: 2\n", "deep/y.yaml")
    assert read(tmp_path, "extends: deep/y.yaml\nc: 3\n").data == {"a": 1, "b": 2, "c": 3}


def test_a_value_may_become_a_mapping_and_back(tmp_path: Path) -> None:
    write(tmp_path, "a: 1\nb: {c: 1}\n", "b.yaml")
    document = read(tmp_path, "extends: b.yaml\na: {x: 1}\nb:\n")
    assert document.data == {"a": {"x": 1}, "b": None}
    assert ("b", "c") not in document.places


def test_another_kind_replaces_the_mapping(tmp_path: Path) -> None:
    write(tmp_path, "trainer: {kind: rplus, rounds: 5}\nsame: {kind: x, a: 1}\n", "b.yaml")
    document = read(tmp_path, "extends: b.yaml\ntrainer: {kind: ppo}\nsame: {kind: x, b: 2}\n")
    assert document.data == {"trainer": {"kind": "ppo"}, "same": {"kind": "x", "a": 1, "b": 2}}


def test_nothing_is_read_where_it_is_written_so(tmp_path: Path) -> None:
    """An explicit null, a key alone in its line and an empty text stay what they are; `%YAML 1.2` says what is so."""
    (tmp_path / "a.yaml").write_text("%YAML 1.2\n---\na: {b: null, c: ~, d: ''}\ne:\nf: 017\n")
    assert read_document(tmp_path / "a.yaml").data == {"a": {"b": None, "c": None, "d": ""}, "e": None, "f": 17}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x: 1\nextends: a.yaml\n", "a.yaml:2: extends: a.yaml extends this file again (a cycle)"),
        ("extends: loop.yaml\n", "loop.yaml:1: extends: a.yaml extends this file again (a cycle)"),
        (
            "extends: lop.yaml\n",
            "a.yaml:1: extends: lop.yaml: cannot be read: No such file or directory (did you mean 'loop.yaml'?)",
        ),
        (
            "extends: [b.yaml, c.yaml]\n",
            "a.yaml:1: extends: must name one file, relative to this one; found a list",
        ),
        ("extends:\n", "a.yaml:1: extends: must name one file, relative to this one; found nothing"),
        ("extends: empty.yaml\n", "empty.yaml: is empty; expected keys with values (`key: value`)"),
        ("extends: list.yaml\n", "list.yaml:1: expected keys with values (`key: value`), found a list"),
    ],
)
def test_broken_extends(tmp_path: Path, text: str, expected: str) -> None:
    write(tmp_path, "extends: a.yaml\n", "loop.yaml")
    write(tmp_path, "", "empty.yaml")
    write(tmp_path, "- 1\n", "list.yaml")
    assert error(tmp_path, text) == expected


# --set

TEXT = "a:\n  b: 1\nlist:\n  - {x: 1}\n  - {x: 2}\n"


@pytest.mark.parametrize(
    ("override", "keys", "value"),
    [
        ("a.b=2", ("a", "b"), 2),
        ("a.b=1e-3", ("a", "b"), 1e-3),
        ("a.b=text with = sign", ("a", "b"), "text with = sign"),
        ("a.b=[1, 2]", ("a", "b"), [1, 2]),
        ("a={c: on}", ("a",), {"c": "on"}),
        ("a.b=", ("a", "b"), None),
        ("new.deep.key=true", ("new", "deep", "key"), True),
        ("list.1.x=7", ("list", 1, "x"), 7),
        ("list.0={y: 1}", ("list", 0), {"y": 1}),
        ("a.0=zero", ("a", "0"), "zero"),
    ],
)
def test_overrides(tmp_path: Path, override: str, keys: tuple[str | int, ...], value: object) -> None:
    document = read(tmp_path, TEXT, override)
    node = document.data
    for key in keys:
        node = node[key]
    assert node == value
    assert document.place(keys) == Place("--set")
    assert document.place(()).line == 1


def test_overrides_leave_the_rest_and_the_original_alone(tmp_path: Path) -> None:
    document = read(tmp_path, TEXT)
    changed = apply_overrides(document, ["list.1.x=7", "list.1.y=8", "list.1.y=9"])
    assert changed.data == {"a": {"b": 1}, "list": [{"x": 1}, {"x": 7, "y": 9}]}
    assert document.data["list"][1] == {"x": 2}
    assert changed.place(("list", 0, "x")).line == 4


def test_overridden_mapping_forgets_old_places(tmp_path: Path) -> None:
    document = read(tmp_path, TEXT, "a={c: 1}")
    assert document.place(("a", "b")) == Place("--set")


@pytest.mark.parametrize(
    ("override", "expected"),
    [
        ("a.b", "--set: 'a.b' must look like key.key=value"),
        ("=1", "--set: '=1' must look like key.key=value"),
        ("a..b=1", "--set: 'a..b=1' must look like key.key=value"),
        ("list.2.x=1", "--set: list.2: no item 2; the list has 2, counted from 0"),
        ("list.-1=1", "--set: list.-1: no item -1; the list has 2, counted from 0"),
        ("list.x=1", "--set: list.x: no item x; the list has 2, counted from 0"),
        ("a.b.c=1", "--set: a.b.c: a.b is a number and has no keys"),
        ("a.b=[1", "--set: a.b: not YAML: "),
        ("a.b={x: 1, x: 2}", '--set: a.b: duplicate key "x"'),
        ("extends=b.yaml", "--set: extends: cannot be set here; write it into the file"),
    ],
)
def test_broken_overrides(tmp_path: Path, override: str, expected: str) -> None:
    assert error(tmp_path, TEXT, override).startswith(expected)


def test_all_broken_overrides_are_told(tmp_path: Path) -> None:
    assert len(error(tmp_path, TEXT, "a", "list.9=1", "a.b=2").splitlines()) == 2
