"""Files of every kind that users write, each with something wrong, given to the command that takes them.

``python -m tests.cli.attacks.mutations --cases 5000 --seed 1`` prints what became of them by kind, and every fault: a
traceback, a signal, an error that does not say where, a number that is none, an answer that does not notice a change.
``--kinds trace,links`` draws among these kinds; a case runs alone with ``--first CASE --cases 1`` and the same kinds.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .alterations import Altered, content_of, drawn
from .children import MOST_BYTES, Ended, imported_by, run
from .valid_files import Subject, Words, subjects

UNLIKE = re.compile("config_hash|campaign|version|costs|tried|name|trainings|cpu_s|time_s|wall_s")
"""Keys of results that tell of names, texts and times, and of how many trials were tried in a time."""

STILL = re.compile(r"(^|\.)(provenance|source|reference|doc|title|asks|theirs|figure|name|id|signal_set|rule_hits)\b")
"""Keys that no result depends on."""

LONGEST = 5000
"""Letters of an error: all problems of a file at once."""

INTERNAL = re.compile(
    r"Traceback|[Ii]nternal error|\w+Error: |object at 0x|NoneType|<class |pydantic|invalid literal|Input should|"
    r"unhashable|subscriptable|std::|nanobind|Warning: "
)
BY_NAME = re.compile(r"no flow starts in \d+ trials of \w+")
"""What names a scenario by its own name, since no line of a file is wrong."""
NOT_A_NUMBER = re.compile(r"(?<![\w.])(-?inf|nan|NaN|None|-?Infinity)(?![\w.-])")

KINDS = tuple(dict.fromkeys(name.split()[0] for name in subjects()))
"""Of files, by the first words of their names: policies are one."""


@dataclass(frozen=True)
class Case:
    """A case: what is altered how, and the command that takes it."""

    number: int
    kind: str
    subject: Subject
    words: Words
    altered: Altered


def case_of(number: int, seed: int, among: Sequence[str] = KINDS) -> Case:
    """Return a case by its number, drawn among some kinds of file."""
    draws = random.Random(f"{seed}:{number}")
    named = [name for name in subjects() if name.split()[0] in among]
    kinds = [name for name in named for _ in range(1 if name.startswith("policy") else 2)]
    kind = kinds[number % len(kinds)]
    subject = draws.choice(subjects()[kind])
    commands = subject.runs if subject.runs and draws.random() < 0.1 else subject.commands
    return Case(number, kind, subject, draws.choice(commands), drawn(draws, subject.valid, subject.syntax))


def faults_of(case: Case, folder: Path) -> Iterator[tuple[str, str]]:
    """Run a case and yield what became of it, and then what is wrong with it."""
    case.subject.write(folder, case.altered.data)
    answer = run((*case.words, "--json"), folder)
    yield "cpu_s", str(answer.cpu_s)
    if answer.status == 2:
        yield "refused", ""
        yield from faults_of_error(case, answer)
    elif answer.status == 0:
        yield "accepted", ""
        yield from faults_of_answer(case, answer, folder)
    else:
        yield "failed", f"status {answer.status}: {answer.err[-600:]}"


def faults_of_error(case: Case, answer: Ended) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with an error."""
    error = answer.err[answer.err.rfind("lcca: ") :].strip()
    own = case.subject.syntax == "py" and "Traceback" not in error  # errors that another's text raises have its words
    if not own and (found := INTERNAL.search(answer.err)):
        yield "fault", f"internal words {found[0]!r}: {error}"
    if len(error) > LONGEST:
        yield "fault", f"an error of {error.count(chr(10)) + 1} lines, {len(error)} letters: {error[:300]}"
    name, others = case.subject.file, [f"{each}:" for each in case.subject.files]
    if name not in error:
        weak = any(each in error for each in others) or BY_NAME.search(error)
        yield "weak" if weak else "fault", f"the error does not name {name}: {error}"
    elif name.endswith((".yaml", ".csv")) and not re.search(r"\.(yaml|csv)(:\d+|.*\bline \d+)|too deeply", error):
        yield "weak", f"the error does not name a line: {error}"


def faults_of_answer(case: Case, answer: Ended, folder: Path) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with an answer."""
    if len(answer.out) > MOST_BYTES:
        yield "fault", f"{len(answer.out)} bytes of output"
        return
    if found := INTERNAL.search(answer.err):
        yield "fault", f"internal words {found[0]!r}: {answer.err[-500:]}"
    try:
        content = json.loads(answer.out, parse_constant=refuse)
    except ValueError as error:
        yield "fault", f"no JSON: {error}: {answer.out[:200]!r}"
        return
    for key in nonsense(content):
        yield "fault", f"{key} in the result; {answer.err[-300:]}"
    same, equal = same_content(case), alike(content) == alike(valid_answer(case.subject, case.words))
    if same and not equal:
        yield "fault", "another answer of the same content"
    plain = case.subject.syntax == "py" or STILL.search(case.altered.key)
    if equal and not same and not plain and not {"--plan", "show"}.intersection(case.words):
        usual = re.search(r": (left out|null|list or mapping emptied|.* is (null|None|''))$", case.altered.what)
        yield "default" if usual else "unnoticed", case.altered.key
    if case.number % 3 == 0:
        text = run(case.words, fresh(folder, case))
        if text.status or (found := NOT_A_NUMBER.search(text.out)):
            yield "fault", f"as text: status {text.status}, {found and found[0]}: {(text.out + text.err)[-600:]}"


def fresh(folder: Path, case: Case) -> Path:
    """Return the folder with the case's files alone, as it was before the first run."""
    shutil.rmtree(folder)
    folder.mkdir()
    case.subject.write(folder, case.altered.data)
    return folder


def refuse(constant: str) -> Any:
    raise ValueError(constant)


def nonsense(content: Any, key: str = "") -> Iterator[str]:
    """Yield the keys of scores and means that are no numbers, and of no flows."""
    if isinstance(content, dict):
        for name, value in content.items():
            number = (name == "mean" and "merit" not in key) or name.endswith(("score_bits", "difference"))
            if number and value is None and not numberless(name, content):
                yield f"{key}.{name} null"
            if name == "flows" and value == 0:
                yield f"{key}.{name} 0"
            yield from nonsense(value, f"{key}.{name}".removeprefix("."))
    elif isinstance(content, list):
        for i, item in enumerate(content):
            yield from nonsense(item, f"{key}.{i}")


def numberless(name: str, record: dict[str, Any]) -> bool:
    """Return whether a record may lack this number: nobody sent, or there are too few trainings to take the best of."""
    if name == "best_of_score_bits":
        return bool(len(record["training_seeds"]) < record["best_of"])
    return record.get("delay_us", "none") is None


def alike(content: Any) -> Any:
    """Return a result without names and times."""
    if isinstance(content, dict):
        return {key: alike(value) for key, value in content.items() if not UNLIKE.search(key)}
    return [alike(item) for item in content] if isinstance(content, list) else content


_VALID: dict[tuple[int, Words], Any] = {}


def valid_answer(subject: Subject, words: Words) -> Any:
    """Return the result of the valid file, for which all that the command imports is imported."""
    key = id(subject), words
    if key not in _VALID:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            subject.write(folder)
            answer = imported_by((*words, "--json"), folder)
        assert answer.status == 0, (words, answer.err)
        _VALID[key] = json.loads(answer.out)
    return _VALID[key]


def same_content(case: Case) -> bool:
    """Return whether another reader finds the same values in the altered file."""
    syntax, valid = case.subject.syntax, case.subject.valid
    try:
        return content_of(syntax, case.altered.data) == content_of(syntax, valid)
    except Exception:  # any that the other reader has
        return False


def attacked(numbers: Sequence[int], seed: int, kinds: Sequence[str]) -> Iterator[tuple[Case, str, str]]:
    """Run cases of some kinds and yield what became of each, and what is wrong."""
    for number in numbers:
        case = case_of(number, seed, kinds)
        valid_answer(case.subject, case.words)
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name) / "case"
            folder.mkdir()
            for what, text in faults_of(case, folder):
                yield case, what, text


FAULTS = ("failed", "fault", "unnoticed")
"""What must not become of a case. Besides: weak, an error without a line; default, the answer of a key's default."""


def line_of(case: Case, what: str, text: str) -> str:
    """Return a fault on one line."""
    words = " ".join(case.words)
    return f"{case.number} {case.kind}: {what}: lcca {words}: {case.altered.what[:200]!r}: {text}".replace("\n", " ⏎ ")


def table(became: Counter[tuple[str, str]]) -> Iterator[str]:
    """Yield the lines of a table by kind."""
    heads = ("refused", "accepted", *FAULTS, "weak", "default")
    yield f"{'kind':<24}" + "".join(f"{head:>11}" for head in ("tried", *heads))
    kinds = list(dict.fromkeys(kind for kind, _ in became))
    for kind in [*kinds, "all"]:
        counts = [sum(n for (of, what), n in became.items() if what == head and kind in (of, "all")) for head in heads]
        tried = counts[0] + counts[1] + counts[2]
        yield f"{kind:<24}" + "".join(f"{count:>11}" for count in (tried, *counts))


def main() -> int:
    """Run cases, print each fault as it is found and a table in the end."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=5000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--keep", type=Path, help="folder that the altered files of faults are written to")
    options = parser.parse_args()
    became, cpu_s = Counter[tuple[str, str]](), 0.0
    numbers = range(options.first, options.first + options.cases)
    with suppress(KeyboardInterrupt):
        for case, what, text in attacked(numbers, options.seed, options.kinds.split(",")):
            if what == "cpu_s":
                cpu_s += float(text)
                continue
            became[case.kind, what] += 1
            if what in (*FAULTS, "weak"):
                print(line_of(case, what, text), flush=True)
                if options.keep:
                    folder = options.keep / f"{options.seed}-{case.number}"
                    folder.mkdir(parents=True, exist_ok=True)
                    case.subject.write(folder, case.altered.data)
    print(*table(became), f"{cpu_s:.0f} CPU seconds", sep="\n")
    return int(any(what in FAULTS for _, what in became))


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    sys.exit(main())
