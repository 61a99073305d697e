"""What a user's text imports counts: own modules by their content, installed ones by their version."""

from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import pytest

from lcca.inputs.digests import imports
from lcca.inputs.digests.imports import reached_by


@pytest.fixture(autouse=True)
def nothing_kept() -> Iterator[None]:
    """What is installed is looked up anew, here and in tests that follow."""
    yield
    imports._distributions.cache_clear()


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which Python finds modules."""
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def digest(text: str, beside: Path, package: str = "") -> str:
    imports._distributions.cache_clear()
    return reached_by(text.encode(), package, beside).digest


def test_what_is_of_python_alone_has_none(tmp_path: Path) -> None:
    assert digest("import math\nfrom collections import deque\nimport os.path", tmp_path) == ""
    assert digest("no python at all", tmp_path) == ""


@pytest.mark.parametrize(
    "text",
    [
        "import lcca_t_steps",
        "from lcca_t_steps import STEP",
        "class C:\n    def f(self):\n        from lcca_t_steps import STEP",
        "import lcca_t_middle",  # which imports it
        "from lcca_t_pack import inner",  # whose package does
        "import lcca_t_pack.inner",
    ],
)
def test_a_change_in_an_own_module_counts_wherever_it_is_imported(place: Path, text: str) -> None:
    (place / "lcca_t_middle.py").write_text("def f():\n    import lcca_t_steps")
    (place / "lcca_t_pack").mkdir()
    (place / "lcca_t_pack" / "__init__.py").write_text("import lcca_t_steps")
    (place / "lcca_t_pack" / "inner.py").write_text("")
    found = []
    for step in (1, 1, 2):
        (place / "lcca_t_steps.py").write_text(f"STEP = {step}")
        (place / "lcca_t_other.py").write_text(f"OTHER = {len(found)}")  # nobody imports it
        found.append(digest(text, place))
    assert found[0] == found[1] != found[2]


def test_modules_beside_a_text_and_in_its_package_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python does not look beside a file by itself, but a file may tell it to."""
    (tmp_path / "lcca_t_kept").mkdir()
    (tmp_path / "lcca_t_kept" / "__init__.py").write_text("")
    steps = tmp_path / "lcca_t_kept" / "lcca_t_beside.py"

    def both() -> tuple[str, str]:
        with monkeypatch.context() as patch:
            patch.syspath_prepend(str(tmp_path))
            inside = digest("from .lcca_t_beside import STEP", steps.parent, "lcca_t_kept")
        return digest("import lcca_t_beside", steps.parent), inside

    steps.write_text("STEP = 1")
    first = both()
    steps.write_text("STEP = 2")
    assert all(a != b for a, b in zip(first, both(), strict=True))
    assert digest("from ...far import STEP", tmp_path) == ""  # fails when it runs


def test_installed_libraries_count_by_their_version(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library, told = place / "lcca_t_library.py", place / "lcca_t_library-1.0.dist-info"
    told.mkdir()
    (told / "RECORD").write_text("lcca_t_library.py,,\nlcca_t_library-1.0.dist-info/METADATA,,\n")
    found = []
    for version, content in (("1.0", "A = 1"), ("1.0", "A = 2"), ("1.1", "A = 2")):
        (told / "METADATA").write_text(f"Metadata-Version: 2.1\nName: lcca_t_library\nVersion: {version}\n")
        library.write_text(content)
        found.append(digest("import lcca_t_library", place))
    assert found[0] == found[1] != found[2]
    assert metadata.version("lcca_t_library") == "1.1"


def test_what_is_installed_to_be_edited_counts_by_its_content(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its files are elsewhere than what describes it."""
    told, source = place / "lcca_t_edited-1.0.dist-info", place.parent / f"{place.name}-source"
    told.mkdir()
    source.mkdir()
    monkeypatch.syspath_prepend(str(source))
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: lcca_t_edited\nVersion: 1.0\n")
    (told / "top_level.txt").write_text("lcca_t_edited\n")
    (told / "RECORD").write_text("lcca_t_edited-1.0.dist-info/METADATA,,\n")
    found = []
    for content in ("A = 1", "A = 2"):
        (source / "lcca_t_edited.py").write_text(content)
        found.append(digest("import lcca_t_edited", place))
    assert found[0] != found[1]


def test_lcca_itself_counts_by_its_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed = SimpleNamespace(name="lcca", read_text={"top_level.txt": "lcca"}.get)
    monkeypatch.setattr(imports.metadata, "distributions", lambda: [installed])
    before = digest("from lcca.remy_plus.network import Network", tmp_path)
    monkeypatch.setattr(imports, "read_limited", lambda file: pytest.fail(f"{file} was read"))
    assert digest("import lcca.inputs.errors", tmp_path) == before != ""
    monkeypatch.setattr(imports.metadata, "version", lambda name: "9")
    assert digest("import lcca.inputs.errors", tmp_path) != before


def test_what_a_package_offers_to_type_checkers_is_not_loaded_with_it(place: Path) -> None:
    (place / "lcca_t_offers").mkdir()
    offer = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from lcca_t_offers.offered import STEP\n"
    (place / "lcca_t_offers" / "__init__.py").write_text(offer)
    (place / "lcca_t_offers" / "taken.py").write_text("")
    found = []
    for content in ("STEP = 1", "STEP = 2"):
        (place / "lcca_t_offers" / "offered.py").write_text(content)
        texts = ("import lcca_t_offers.taken", "import lcca_t_offers.offered")
        found.append([digest(text, place) for text in texts])
    assert found[0][0] == found[1][0] and found[0][1] != found[1][1]
