"""Some of the altered files that `mutations.py` tries by the thousand, and what it makes of commands that misbehave."""

import json
import os
import signal
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from . import children
from .alterations import SYNTAXES, content_of
from .mutations import FAULTS, KINDS, attacked, case_of, faults_of, line_of, valid_answer
from .valid_files import subjects

QUICK = ("header", "network-list", "links", "trace", "flow-sizes")


def faults(numbers: Sequence[int], kinds: Sequence[str], those: Sequence[str] = FAULTS) -> list[str]:
    tried = list(attacked(numbers, 7, kinds))
    assert sum(what in ("refused", "accepted", "failed") for _, what, _ in tried) == len(numbers)
    return [line_of(case, what, text) for case, what, text in tried if what in those]


def test_altered_files_are_refused_in_words_or_have_an_answer_of_their_own() -> None:
    assert faults(range(20), QUICK) == []


@pytest.mark.full
@pytest.mark.parametrize("kind", KINDS)
def test_altered_files_of_each_kind(kind: str) -> None:
    """Answers that stay as they were are looked at by hand: a larger window need not matter in 16 trials."""
    assert faults(range(135 if kind == "policy" else 20), (kind,), ("failed", "fault")) == []


def test_a_case_is_the_same_each_time_and_all_syntaxes_are_altered() -> None:
    cases = [case_of(number, 3) for number in range(200)]
    assert [case.altered for case in cases] == [case_of(number, 3).altered for number in range(200)]
    assert {case.subject.syntax for case in cases} == set(SYNTAXES)
    assert {case.kind.split()[0] for case in cases} == set(KINDS)
    assert sum(case.altered.data != case.subject.valid for case in cases) > 150
    assert all(case.altered.what for case in cases)


@pytest.mark.parametrize("kind", KINDS)
def test_valid_files_are_valid(kind: str, tmp_path: Path) -> None:
    for subject in (each for name, found in subjects().items() if name.split()[0] == kind for each in found):
        content_of(subject.syntax, subject.valid)
        subject.write(tmp_path)
        assert (tmp_path / subject.file).read_bytes() == subject.valid


def crashes(words: Sequence[str]) -> int:
    raise RuntimeError("planted")


def dies(words: Sequence[str]) -> int:
    os.kill(os.getpid(), signal.SIGSEGV)
    return 0


def names_no_file(words: Sequence[str]) -> int:
    os.write(2, b"lcca: something is wrong\n")
    return 2


def says_nan(words: Sequence[str]) -> int:
    print(json.dumps({"policies": [{"score_bits": float("nan")}]}))
    return 0


def says_null(words: Sequence[str]) -> int:
    print(json.dumps({"policies": [{"score_bits": None}]}))
    return 0


def says_null_of_a_network(words: Sequence[str]) -> int:
    print(json.dumps({"policies": [{"score_bits": None, "delay_us": 3.0}]}))
    return 0


def says_null_of_the_best(words: Sequence[str]) -> int:
    print(json.dumps({"signal_sets": [{"best_of_score_bits": None, "best_of": 2, "training_seeds": [1, 2]}]}))
    return 0


def has_no_flows(words: Sequence[str]) -> int:
    print(json.dumps({"policies": [{"flows": 0}]}))
    return 0


def says_internal_words(words: Sequence[str]) -> int:
    os.write(2, b"lcca: flows.csv:2: could not: Input should be a valid integer\n")
    return 2


def never_ends(words: Sequence[str]) -> int:
    while True:
        pass


@pytest.mark.parametrize(
    ("command", "what", "words"),
    [
        (crashes, "failed", "RuntimeError: planted"),
        (dies, "failed", "status -11"),
        (never_ends, "failed", "status -24"),
        (names_no_file, "fault", "does not name flows.csv"),
        (says_nan, "fault", "no JSON: NaN"),
        (says_null, "fault", "score_bits null"),
        (says_null_of_a_network, "fault", "score_bits null"),
        (says_null_of_the_best, "fault", "best_of_score_bits null"),
        (has_no_flows, "fault", "flows 0"),
        (says_internal_words, "fault", "internal words 'Input should'"),
    ],
)
def test_a_command_that_misbehaves_is_found(
    command: Callable[[Sequence[str]], int], what: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = case_of(0, 1, ("trace",))
    valid_answer(case.subject, case.words)
    monkeypatch.setattr(children, "CPU_S", 1)
    monkeypatch.setattr(children, "main", command)
    assert [text for found, text in faults_of(case, tmp_path) if found == what and words in text]


def test_an_answer_that_does_not_notice_a_change_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cases = (case_of(number, 1, ("trace",)) for number in range(200))
    case = next(  # of a row, not of the names of columns
        case for case in cases if case.altered.key == "size_bytes" and "line 1:" not in case.altered.what
    )
    answer = json.dumps(valid_answer(case.subject, case.words))

    def says_the_same(words: Sequence[str]) -> int:
        print(answer)
        return 0

    monkeypatch.setattr(children, "main", says_the_same)
    assert ("unnoticed", "size_bytes") in faults_of(case, tmp_path)
