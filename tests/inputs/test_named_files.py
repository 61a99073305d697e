"""Names of files in YAML are relative to the file that says them, wherever a key's type says that it may name one."""

from collections.abc import Iterator
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import pytest
from pydantic import BaseModel

from lcca.experiments.schemas.kinds import KINDS
from lcca.inputs.digests.files import digests_of_named_files
from lcca.inputs.model import Model
from lcca.inputs.names import NAMES_A_FILE, FileOrName
from lcca.inputs.validation import apply_overrides, read_config, read_document, with_files

Way = tuple[str | int, ...]


def ways(shape: Any, marked: bool = False, seen: tuple[Any, ...] = ()) -> Iterator[Way]:
    """Yield the keys in a type that name files: 0 stands for an item of a list, "item" for any name."""
    origin, inner = get_origin(shape), get_args(shape)
    if isinstance(shape, type) and issubclass(shape, BaseModel) and shape not in seen:
        if marked:
            yield ()
        for name, field in shape.model_fields.items():
            for way in ways(field.annotation, NAMES_A_FILE in field.metadata, (*seen, shape)):
                yield (name, *way)
    elif shape is str and marked:
        yield ()
    elif origin is Annotated:
        yield from ways(inner[0], marked or NAMES_A_FILE in inner[1:], seen)
    elif origin in (tuple, dict):
        yield from ((0 if origin is tuple else "item", *way) for way in ways(inner[origin is dict], False, seen))
    elif origin in (Union, UnionType):
        yield from (way for each in inner for way in ways(each, marked, seen))


CASES = [(kind, way) for kind in KINDS for way in dict.fromkeys(ways(KINDS[kind].model))]


def test_many_keys_name_files() -> None:
    assert {(kind, way[-1]) for kind, way in CASES} >= {
        *(("study", key) for key in ("policy", "links")),
        *(("campaign", key) for key in ("header", "baseline", "item", "flows")),
        ("tune", "policy"),
    }
    assert ("campaign", ("signal_sets", 0)) in CASES


@pytest.mark.parametrize(
    ("kind", "way"), CASES, ids=lambda each: each if isinstance(each, str) else ".".join(map(str, each))
)
def test_a_file_is_beside_the_one_that_names_it(
    kind: str, way: Way, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the base of an extending file in another folder says it; in an override in the working folder."""
    base, top, here = (tmp_path / name for name in ("base", "top", "here"))
    for folder in (base, top, here):
        folder.mkdir()
        (folder / "named.yaml").write_text("")
    monkeypatch.chdir(here)
    value: Any = "named.yaml"
    for step in reversed(way):
        value = [value] if step == 0 else {step: value}
    (base / "file.yaml").write_text(repr(value))
    (top / "file.yaml").write_text("extends: ../base/file.yaml\n")
    document = with_files(read_document(top / "file.yaml"), KINDS[kind].model)
    assert document.at(way) == str(base / "named.yaml")
    told = apply_overrides(read_document(top / "file.yaml"), [".".join(map(str, way)) + "=named.yaml"])
    assert with_files(told, KINDS[kind].model).at(way) == str(here / "named.yaml")


class Inner(Model):
    against: tuple[FileOrName, ...] = ()


class Asked(Model):
    policy: FileOrName
    title: str = ""
    sizes: FileOrName | None = None
    inner: Inner = Inner()


def test_every_file_counts_one_in_a_list_and_the_model_of_a_tuner_too(tmp_path: Path) -> None:
    file = tmp_path / "model.json"
    file.write_text("1")
    names = {
        "policy": Asked(policy=f"dcqcn@acc:{file},interval_us=50"),
        "sizes": Asked(policy="aimd", sizes=str(file)),
        "inner.against.1": Asked(policy="aimd", inner=Inner(against=("hpcc", str(file)))),
    }
    before = {key: digests_of_named_files(asked) for key, asked in names.items()}
    assert [list(found) for found in before.values()] == [[key] for key in names]
    file.write_text("2")
    assert all(digests_of_named_files(asked) != before[key] for key, asked in names.items())
    assert digests_of_named_files(Asked(policy="dctcp@red:pmax=0.1", title=str(file))) == {}


@pytest.mark.parametrize("text", ["{0}", "{0}:Mine", "dcqcn@acc:{1}", "dctcp@red:pmax=0.1@acc: {1},interval_us=50"])
def test_files_inside_of_texts(text: str, tmp_path: Path) -> None:
    for name in ("control.py", "model.json"):
        (tmp_path / name).write_text("")
    (tmp_path / "file.yaml").write_text(f"policy: '{text.format('control.py', 'model.json')}'")
    expected = text.replace(": {", ":{").format(tmp_path / "control.py", tmp_path / "model.json")
    assert read_config(tmp_path / "file.yaml", Asked).policy == expected


@pytest.mark.parametrize("text", ["cubic", "vegas:alpha=2", "gone.json", "lognormal:9:1", "dctcp@red:pmax=0.1"])
def test_other_texts_stay(text: str, tmp_path: Path) -> None:
    (tmp_path / "file.yaml").write_text(f"policy: '{text}'")
    (tmp_path / "cubic").write_text("")
    assert read_config(tmp_path / "file.yaml", Asked).policy == text
