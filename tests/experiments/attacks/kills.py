"""Every kind of run killed at random moments and gone on with, until it is done: no other bytes, nothing stuck.

``python -m tests.experiments.attacks.kills --kills 300 --seed 1`` prints a table by kind of run, and every fault; an
attack runs alone with ``--first ATTACK --kills 1``. Moments are of CPU time, so that they do not depend on the load.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pandas as pd

from ...cli.attacks.children import Ended, ended, imported_by, started
from ...cli.attacks.valid_files import LAWS, PPO
from ...fixtures import undrawn
from ..runs.run_files import SPACE, RunKind
from ..runs.run_kinds import KINDS

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
CALM = {-signal.SIGKILL, -signal.SIGTERM, 128 + signal.SIGTERM, 128 + signal.SIGINT, 0}
"""How a killed command may end; 0: it was done before."""

STUCK_S = 240
"""Wall time without an end, after which a command is stuck."""

TICKS = os.sysconf("SC_CLK_TCK")
TIMES = re.compile(r"cpu|time|wall|seconds|trials_per|_s$")
UNREAD = {".lock", "log.txt", "claims", "study.sqlite3", ".out", ".err", ".modules"}
"""Files and folders that tell of processes alone, or in what order something was tried."""

ALL: Mapping[str, RunKind] = {
    **{name: kind for name, kind in KINDS.items() if name != "evaluate-both" or find_spec("ns")},
    "sweep-laws": RunKind(("sweep", "c.yaml"), {"c.yaml": LAWS, "space.yaml": SPACE}, ("", ""), []),
    "sweep-ppo": RunKind(("sweep", "c.yaml"), {"c.yaml": PPO, "space.yaml": SPACE}, ("", ""), [], ("torch",)),
}


@dataclass(frozen=True)
class Whole:
    """A run that was never broken.

    Attributes:
        kind: of run.
        folder: with its files, and the run in `run`.
        content: of the run's files.
        answer: of the command.
    """

    kind: RunKind
    folder: Path
    content: dict[str, Any]
    answer: Ended


def content_of(run: Path) -> dict[str, Any]:
    """Return what must be the same of all files of a run: their bytes, or what does not tell of time."""
    files = [file for file in sorted(run.rglob("*")) if file.is_file() and not UNREAD.intersection(file.parts)]
    return {str(file.relative_to(run)): timeless(file) for file in files if not file.name.startswith("events.out")}


def timeless(file: Path) -> Any:
    """Return the content of a file without what tells of time."""
    if file.name.startswith("learning.parquet"):
        return (
            None if file.suffix == ".sha256" else pd.read_parquet(file).drop(columns="cpu_s", errors="ignore").to_dict()
        )
    if file.name == "costs.json":
        phases = json.loads(file.read_text())["phases"]
        return [(phase["name"], phase["trials"], phase["packets"]) for phase in phases]
    if file.name.endswith(".monitor.csv"):
        return [line.split(",")[:2] for line in file.read_text().splitlines()[1:]]  # reward and length, not the time
    if "training" in file.parts and file.suffix == ".json":
        return without_times(json.loads(file.read_text().partition("\n")[2]))  # the first line is a digest
    if file.name == "report.html":
        costs = r'(?s)<section id="costs">.*?</section>|<h3>What this run cost</h3>.*?</p>|[\d.,]+ CPU (s|min|h)'
        return re.sub(costs, "", file.read_text())
    return file.read_bytes()


def without_times(content: Any) -> Any:
    if isinstance(content, dict):
        return {key: without_times(value) for key, value in content.items() if not TIMES.search(key)}
    return [without_times(item) for item in content] if isinstance(content, list) else content


def whole(kind: RunKind, folder: Path) -> Whole:
    """Run a kind of run without a break."""
    kind.write(folder)
    answer = imported_by([*kind.command, "--out", "run", "--jobs", "1", "--json"], folder)
    assert answer.status == 0, answer.err
    return Whole(kind, folder, content_of(folder / "run"), answer)


def cpu_s(process: int) -> float:
    """Return the CPU time of a process and those of its children that have ended; infinite after its own end."""
    try:
        words = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return float("inf")
    return float("inf") if words[0] == "Z" else sum(map(int, words[11:15])) / TICKS


def killed(words: Sequence[str], folder: Path, after_cpu_s: float, sent: signal.Signals) -> Ended | None:
    """Start a command, send it a signal after so much CPU time, and return how it ended; None if it is stuck."""
    process = started(words, folder)
    until = time.monotonic() + STUCK_S
    while cpu_s(process) < after_cpu_s and time.monotonic() < until:
        time.sleep(0.005)
    if cpu_s(process) < float("inf"):
        os.killpg(process, sent) if sent == signal.SIGINT else os.kill(process, sent)  # as a terminal does
    return ended_in_time(process, folder, until)


def ended_in_time(process: int, folder: Path, until: float) -> Ended | None:
    while cpu_s(process) < float("inf"):
        if time.monotonic() > until:
            os.killpg(process, signal.SIGKILL)
            ended(process, folder)
            return None
        time.sleep(0.005)
    return ended(process, folder)


def attack(whole: Whole, draws: random.Random, out: str) -> Iterator[tuple[str, str]]:
    """Kill a run one to three times, go on to its end, and yield every kill and every fault."""
    folder, words = whole.folder, [*whole.kind.command, "--out", out, "--json"]
    for _ in range(draws.choice((1, 2, 2, 3))):
        sent, jobs = draws.choice(SIGNALS), draws.choice((1, 2, 3))
        moment = whole.answer.cpu_s * draws.random()
        answer = killed([*words, "--jobs", str(jobs)], folder, moment, sent)
        how = f"{sent.name} after {moment:.2f} CPU s of {whole.answer.cpu_s:.2f}, --jobs {jobs}"
        yield ("stuck", how) if answer is None else ("late" if answer.status == 0 else "kills", how)
        if answer and ("Traceback" in answer.err or answer.status not in CALM):
            yield "tracebacks", f"{how}: status {answer.status}: {answer.err[-800:]}"
    answer = ended_in_time(started([*words, "--jobs", "2"], folder), folder, time.monotonic() + STUCK_S)
    if answer is None or answer.status:
        yield "stuck" if answer is None else "tracebacks", f"going on: {answer and answer.err[-800:]}"
        return
    if answer.out != whole.answer.out:
        yield "other bytes", f"in what is printed: {answer.out[:200]}"
    found = content_of(folder / out)
    for name in sorted(found.keys() | whole.content.keys()):
        if name not in found or name not in whole.content or found[name] != whole.content[name]:
            yield "other bytes", name


HEADS = ("kills", "late", "tracebacks", "stuck", "other bytes")


def table(became: Counter[tuple[str, str]]) -> Iterator[str]:
    """Yield the lines of a table by kind of run."""
    yield f"{'run':<22}" + "".join(f"{head:>13}" for head in HEADS)
    for name in [*dict.fromkeys(name for name, _ in became), "all"]:
        counts = [sum(n for (of, what), n in became.items() if what == head and name in (of, "all")) for head in HEADS]
        yield f"{name:<22}" + "".join(f"{count:>13}" for count in counts)


def main() -> int:
    """Attack kinds of runs in turn until there were so many kills; print faults as they are found, and a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=300)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kinds", default=",".join(ALL))
    parser.add_argument("--keep", type=Path, help="folder that broken runs with a fault are moved to")
    options = parser.parse_args()
    names = [name for name in options.kinds.split(",") if all(map(find_spec, ALL[name].needs))]
    wholes: dict[str, Whole] = {}
    became = Counter[tuple[str, str]]()
    with undrawn(), tempfile.TemporaryDirectory() as place, suppress(KeyboardInterrupt):
        number = options.first
        while sum(n for (_, what), n in became.items() if what == "kills") < options.kills:
            name = names[number % len(names)]
            if name not in wholes:
                Path(place, name).mkdir()
                wholes[name] = whole(ALL[name], Path(place, name))
            out = f"attack-{number}"
            for what, text in attack(wholes[name], random.Random(f"{options.seed}:{number}"), out):
                became[name, what] += 1
                if what not in ("kills", "late"):
                    print(f"{number} {name}: {what}: {text}".replace("\n", " ⏎ "), flush=True)
                    if options.keep:
                        shutil.copytree(Path(place, name), options.keep / name, dirs_exist_ok=True)
            shutil.rmtree(Path(place, name, out), ignore_errors=True)
            number += 1
    print(*table(became), sep="\n")
    return int(any(what in HEADS[2:] for _, what in became))


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    sys.exit(main())
