"""A function of one's own as a utility: rehearsed as a class is, part of what results are kept by, and watched."""

from pathlib import Path

import numpy as np
import pytest

from lcca.evaluation.trials.utilities import OwnUtility, Utility, utilities_of, utility
from lcca.inputs.errors import InputError
from lcca.workers.processes import Processes

FUNCTION = """\
{head}
import os, random, time
import numpy as np
from pathlib import Path
BESIDE = Path(__file__).parent
{before}
def f(throughput, delay):
    weight = 1
    {inside}
    return np.log2(throughput) - weight * np.log2(delay)
"""
READ = 'float((BESIDE / "weight.txt").read_text())'


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "weight.txt").write_text("3")
    monkeypatch.chdir(tmp_path)


def own(head: str = "", before: str = "", inside: str = "") -> Utility:
    Path("my.py").write_text(FUNCTION.format(head=head, before=before, inside=inside))
    return utility("my.py:f")


@pytest.mark.parametrize(
    ("where", "differs"),
    [
        ("before", "os.getpid() % 997"),
        ("before", "random.random()"),
        ("before", "hash('a') % 997 + hash('b') % 997 / 997"),
        ("before", "int(time.time() / 3600) % 997"),  # the same for an hour
        ("inside", "__import__('datetime').date.today().toordinal() % 997"),
        ("inside", "os.getpid() % 997"),
    ],
)
def test_what_is_not_always_the_same_is_refused(where: str, differs: str) -> None:
    otherwise = r"^my.py:\d: f does otherwise (with the same seed: what it returns must follow from|in another process)"
    with pytest.raises(InputError, match=rf"{otherwise}|^my.py: f: .* nor on when it is asked for$"):
        own(before=f"ADDED = {differs}", inside=f"weight += ({differs if where == 'inside' else 'ADDED'}) / 1e3")


def test_what_has_a_memory_is_refused() -> None:
    with pytest.raises(InputError, match=r"^my.py: f: .* nor on when it is asked for$"):
        own(before="calls = []", inside="calls.append(1); weight += len(calls) / 1e3")


CAUGHT = f"try: W = {READ}\nexcept: pass"


@pytest.mark.parametrize("lines", [{"before": CAUGHT}, {"inside": f"weight = {READ}"}])
def test_a_file_that_it_reads_has_to_be_named(lines: dict[str, str]) -> None:
    remedy = r'and nobody would notice its changes; add to the file: files = \("weight.txt",\)$'
    with pytest.raises(InputError, match=rf"^my.py:\d: f reads weight.txt, {remedy}"):
        own(**lines)
    found = own('files = ("weight.txt",)', **lines)
    assert isinstance(found, OwnUtility) and found.of(2.0, 8.0) == (1 - 3 * 3 if "inside" in lines else 1 - 3)
    before = found.content()
    Path("weight.txt").write_text("4")
    assert utility("my.py:f").content() != before


LATE = f"if throughput.size > 1000: weight = {READ}"


@pytest.mark.parametrize("processes", [0, 1])
def test_a_file_that_it_reads_late_has_to_be_named(processes: int) -> None:
    found = own(inside=LATE)
    assert isinstance(found, OwnUtility)
    many = np.ones(1001)
    with pytest.raises(InputError, match=r"^my.py:7: f reads weight.txt, and nobody would notice"):
        if processes:
            with Processes(1) as pool:
                pool.map(_scores, [(found, many)])
        else:
            found.of(many, many)
    assert own('files = ("weight.txt",)', inside=LATE).of(many, 2 * many)[0] == -3  # type: ignore[attr-defined]


def _scores(asked: tuple[OwnUtility, np.ndarray]) -> np.ndarray:
    return asked[0].of(asked[1], asked[1])


def test_one_that_ends_the_process_late_is_an_error() -> None:
    found = own(inside="if throughput.size > 1000: os._exit(0)")
    with pytest.raises(InputError, match=r"^my.py:7: f ends the process that it runs in, with status 0$"):
        found.of(np.ones(1001), 1.0)  # type: ignore[attr-defined]


def test_one_that_has_changed_since_explains_no_scores() -> None:
    text, files = "utilities: ['my.py:f']", {"utilities.0.python": own().content()["python"]}
    assert list(utilities_of(text, ["f"], files)) == list(utilities_of(text, ["f"])) == ["f"]
    own(inside="weight = 2")
    assert utilities_of(text, ["f"], files) == {}
