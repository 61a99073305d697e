"""Run folders into which anybody may have written anything: lists and pages say so, and show the others."""

import hashlib
import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lcca.evaluation.trials.stored import write_json, write_state, write_table
from lcca.experiments.reading.listing import runs_in
from lcca.experiments.runs.costs import Costs
from lcca.experiments.runs.folder import RunFolder, is_locked
from lcca.experiments.runs.progress import Reporter
from lcca.inputs.errors import InputError
from lcca.inputs.files import write_with_digest

from ...fixtures import RunCommand

pytest.importorskip("flask")

from flask import Flask

from lcca.experiments.reading.serving import application

SECRET = "not for browsers"
POLICY = {"id": "aimd", "utility": "default", "score_bits": -1.0, "score_bits_low": -2.0, "score_bits_high": 0.0}
VERDICT = {"A": "aimd", "B": "dctcp", "level": "policy", "utility": "default", "verdict": "better", "n": 96}
NUMBERS = {"difference": 1.0, "low": 0.5, "high": 1.5, "alpha": 0.05, "looks": []}
COSTS = {"phases": [{"name": "rank", "cpu_s": 1.5, "wall_s": 2.0, "trials": 96, "packets": 10}]}
SUMMARY = {"format": 2, "policies": [POLICY | {"best_rank": 1}], "comparisons": [VERDICT | NUMBERS]}
MANIFEST = {
    "format": 1,
    "kind": "rank",
    "name": "r",
    "state": "begun",
    "version": "1",
    "commit": "",
    "config_hash": "h",
}
STATES: dict[str, dict[str, Any]] = {"manifest.json": MANIFEST, "costs.json": COSTS}
RESULTS: dict[str, dict[str, Any]] = {"summary.json": SUMMARY, "verdicts.json": {"comparisons": [VERDICT | NUMBERS]}}
TEXTS = ("config.yaml", "learning.parquet", "summary.json.sha256", "log.txt", "report.html", ".lock")
LINKS = ("/dev/zero", "secret", ".", "loop", "nowhere")


def make(folder: Path) -> Path:
    """Make the folder of a run that is as it should be."""
    folder.mkdir(parents=True)
    for name, content in STATES.items():
        write_state(folder / name, content)
    for name, content in RESULTS.items():
        write_json(folder / name, content)
    write_table(folder / "learning.parquet", pd.DataFrame({"policy_base": ["a"], "trials": [1], "packets": [2]}))
    write_with_digest(folder / "config.yaml", b"name: r\nseed: 1\n")
    (folder / "log.txt").write_text("2026-01-01 00:00:00 begun\n")
    (folder / "report.html").write_text("<p>a report</p>")
    (folder / ".lock").touch()
    return folder


def signed(path: Path, content: Any) -> None:
    """Write any JSON with a digest that is right, as everybody can."""
    path.unlink(missing_ok=True)  # a pipe would wait for its reader
    if path.name in STATES and isinstance(content, dict):
        digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
        path.write_text(json.dumps(content | {"sha256": digest}))
    else:
        write_with_digest(path, json.dumps(content).encode())


ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.sampled_from([float("nan"), float("inf"), 10**400, "\ud800", "<script>", "\x1b[31m\n", "x" * 10_000, [], {}]),
    st.text(st.characters(codec=None), max_size=5),
)
ANY = st.recursive(ODD, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner))


@st.composite
def changed(draw: st.DrawFn, content: Any) -> Any:
    """Return a content with one of its values, at any depth, missing or another one."""
    keys = list(content) if isinstance(content, dict) else range(len(content)) if isinstance(content, list) else []
    if not keys or draw(st.integers(0, 3)) == 0:
        return draw(ANY)
    key, copied = draw(st.sampled_from(keys)), content.copy()
    if draw(st.integers(0, 3)):
        copied[key] = draw(changed(content[key]))
    else:
        del copied[key]
    return copied


def placed(make: Callable[[Path], Any]) -> Callable[[Path], None]:
    """Return what replaces a file by what is made."""

    def replace(path: Path) -> None:
        path.unlink(missing_ok=True)
        make(path)

    return replace


@st.composite
def damages(draw: st.DrawFn) -> Callable[[Path], None]:
    """Return what damages one file of a run."""
    contents = STATES | RESULTS
    name = draw(st.sampled_from([*contents, *contents, *contents, *TEXTS]))
    if name in contents and draw(st.booleans()):
        content = draw(changed(contents[name]))
        return lambda run: signed(run / name, content)
    data, target, when = (
        draw(st.binary(max_size=60)),
        draw(st.sampled_from(LINKS)),
        draw(st.sampled_from([-(2**40), 2**60])),
    )
    kinds: list[Callable[[Path], Any]] = [
        lambda path: write_with_digest(path, data),
        lambda path: path.write_bytes(data),
        os.mkfifo,
        Path.mkdir,
        lambda path: None,
        lambda path: os.symlink(target if target.startswith("/") else path.parents[2] / target, path),
        lambda path: (path.touch(), os.utime(path, (when, when))),
        lambda path: (path.touch(), os.truncate(path, 1 << 40)),
    ]
    kind = draw(st.sampled_from(kinds))
    return lambda run: placed(kind)(run / name)


FOLDERS = st.binary(min_size=1, max_size=12).filter(lambda name: not {0, 0x2F} & {*name} and name not in (b".", b".."))
TRIED = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


@TRIED
@given(st.just(b"bad") | FOLDERS, st.lists(damages(), min_size=1, max_size=3))
def test_whatever_is_in_a_folder_the_list_and_its_pages_say_so_and_the_others_are_shown(
    name: bytes, harm: list[Callable[[Path], None]]
) -> None:
    with tempfile.TemporaryDirectory() as place:
        (Path(place) / "secret").write_text(SECRET)
        os.symlink(Path(place) / "loop", Path(place) / "loop")
        root = Path(place) / "runs"
        make(root / "good run")
        bad = make(root / os.fsdecode(name)) if name != b"good run" else root / "good run"
        for each in harm:
            try:
                each(bad)
            except OSError:  # a file system that has no such times or names, or damage that two of them do
                continue
        app = application(root)
        listed = {line.folder.name: line for line in runs_in(root)}
        assert all(len(line.words()) == 8 and line.state for line in listed.values())
        assert set(listed) >= ({"good run"} if bad.name != "good run" else set())
        assert bad.name in listed or not os.path.lexists(bad / "manifest.json")
        for url in pages_of(bad.name):
            answer = app.test_client().get(url)
            assert answer.status_code == 200 or 400 <= answer.status_code < 500, (url, answer.text)
            assert SECRET.encode() not in answer.data and b"Traceback" not in answer.data
            if url == "/" and bad.name != "good run":
                assert 'href="/run/runs/good%20run"' in answer.text


def pages_of(name: str) -> list[str]:
    from urllib.parse import quote

    run = quote(os.fsencode(f"runs/{name}"))
    return ["/", f"/run/{run}", f"/report/{run}/report.html", f"/compare?run={run}&run=runs/good%20run"]


def page(app: Flask, url: str) -> Any:
    return app.test_client().get(url)


def costs(**changed: Any) -> dict[str, Any]:
    return {"phases": [COSTS["phases"][0] | changed]}


REASONS: dict[str, tuple[Callable[[Path], None], str]] = {
    "no state": (lambda run: signed(run / "manifest.json", {"a": 1}), "kind: nothing is no word of a manifest"),
    "surrogate": (lambda run: signed(run / "manifest.json", MANIFEST | {"name": "\ud800"}), "no word of a manifest"),
    "text for costs": (lambda run: signed(run / "costs.json", {"phases": "abc"}), "no list of costs"),
    "NaN": (lambda run: signed(run / "costs.json", costs(cpu_s=float("nan"))), "no list"),
    "infinity": (lambda run: signed(run / "costs.json", costs(trials=float("inf"))), "no list of costs"),
    "folder as lock": (lambda run: placed(Path.mkdir)(run / ".lock"), "Is a directory"),
    "pipe as lock": (lambda run: placed(os.mkfifo)(run / ".lock"), "a pipe or a device"),
    "pipe as manifest": (lambda run: placed(os.mkfifo)(run / "manifest.json"), "a pipe or a device"),
    "number of policies": (lambda run: signed(run / "summary.json", SUMMARY | {"policies": 5}), "TypeError"),
}  # fmt: skip


@pytest.mark.parametrize("name", REASONS)
def test_the_list_names_the_reason(lcca: RunCommand, tmp_path: Path, name: str) -> None:
    harm, reason = REASONS[name]
    make(tmp_path / "good")
    harm(make(tmp_path / "bad"))
    told = lcca("runs", tmp_path)
    lines = {line.folder.name: line for line in runs_in(tmp_path)}
    assert told.status == 0 and "good" in told.out
    assert reason in lines["bad"].headline and "damaged" in f"{lines['bad'].state} {lines['bad'].headline}"
    assert (lines["good"].state, lines["good"].headline) == ("begun", "best: aimd")
    answer = page(application(tmp_path), f"/run/{tmp_path.name}/bad")
    assert answer.status_code == 422 or name == "number of policies"


ON_A_PAGE: dict[str, Callable[[Path], None]] = {
    "pipe as log": lambda run: placed(os.mkfifo)(run / "log.txt"),
    "device as log": lambda run: placed(lambda path: path.symlink_to("/dev/zero"))(run / "log.txt"),
    "config in Latin-1": lambda run: write_with_digest(run / "config.yaml", b"name: \xe9\n"),
    "learning that is no table": lambda run: write_with_digest(run / "learning.parquet", b"PAR1"),
}


@pytest.mark.parametrize("name", ON_A_PAGE)
def test_a_page_of_its_own_says_what_is_damaged(tmp_path: Path, name: str) -> None:
    ON_A_PAGE[name](make(tmp_path / "bad"))
    answer = page(application(tmp_path), f"/run/{tmp_path.name}/bad")
    assert answer.status_code == 422 and ("damaged" in answer.text or "cannot be read" in answer.text)


def test_links_lead_nowhere(tmp_path: Path) -> None:
    """Files of another run, which this one's reader may not see, are not shown as if they were its own."""
    other, bad = make(tmp_path / "other"), make(tmp_path / "runs" / "bad")
    (other / "log.txt").write_text(SECRET)
    signed(other / "summary.json", SUMMARY | {"policies": [POLICY | {"id": SECRET, "best_rank": 1}]})
    for name in ("log.txt", "summary.json", "summary.json.sha256", "report.html"):
        placed(lambda path: path.symlink_to(other / path.name))(bad / name)
    app = application(tmp_path / "runs")
    for url in ("/", "/run/runs/bad", "/report/runs/bad/report.html"):
        assert SECRET not in page(app, url).text
    assert page(app, "/run/runs/bad").status_code == page(app, "/report/runs/bad/report.html").status_code == 422
    assert "a link; put the file itself there" in runs_in(tmp_path / "runs")[0].headline


def test_runs_are_found_below_more_folders_than_calls_may_nest(tmp_path: Path) -> None:
    make(tmp_path / "good")
    deep = str(tmp_path)
    for _ in range(1500):
        os.mkdir(deep := f"{deep}/d")
    assert [line.folder.name for line in runs_in(tmp_path)] == ["good"]
    while deep != str(tmp_path):  # what clears up after tests nests calls
        os.rmdir(deep)
        deep = deep.removesuffix("/d")


def test_a_run_that_goes_on_writes_through_no_link(tmp_path: Path) -> None:
    """Its lock and its log are opened to write: where they lead elsewhere that file would be emptied, or grow."""
    target = tmp_path / "target"
    target.write_text(SECRET)
    bad = make(tmp_path / "bad")
    for name in (".lock", "log.txt"):
        placed(lambda path: path.symlink_to(target))(bad / name)
    with pytest.raises(InputError, match="a link"):
        is_locked(bad)
    with pytest.raises(OSError):
        RunFolder(bad, None)._take_lock()  # type: ignore[arg-type]
    placed(os.mkfifo)(bad / "log.txt")
    for log in (bad / "log.txt", bad / ".lock"):
        with pytest.raises(OSError):
            Reporter(log)
    assert target.read_text() == SECRET


def test_damaged_costs_are_no_costs(tmp_path: Path) -> None:
    bad = make(tmp_path / "bad")
    signed(bad / "costs.json", {"phases": [{"name": "rank"}]})
    with pytest.raises(InputError, match="no list of costs"):
        Costs(RunFolder(bad, None))  # type: ignore[arg-type]
