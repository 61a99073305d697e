"""The web page over run folders: it shows what the commands print, reads nothing else and writes nothing."""

import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import psutil
import pytest

from ...conftest import RunCommand

pytest.importorskip("flask")

from flask import Flask, Response
from werkzeug.serving import make_server

from lcca.experiments.reading import listing, serving
from lcca.experiments.reading.serving import application

SPACE = Path(__file__).parents[3] / "configs" / "networks" / "default.yaml"
RANK = ("rank", "aimd", "fixed-window:12", "--on", SPACE, "--trials", "96", "--set", "duration=300")
SECRET = "not for browsers"


@pytest.fixture
def folder(lcca: RunCommand, tmp_path: Path) -> Path:
    """Two runs, the second of which has a report."""
    for name, seed in (("one", "1"), ("two", "2")):
        assert lcca(*RANK, "--seed", seed, "--out", tmp_path / "runs" / "grid" / name).status == 0
    (tmp_path / "runs" / "grid" / "two" / "report.html").write_text("<p>a report</p>")
    (tmp_path / "report.html").write_text(SECRET)
    (tmp_path / "runs" / "bad").mkdir()
    (tmp_path / "runs" / "bad" / "manifest.json").write_text("{}")
    return tmp_path / "runs"


def page(app: Flask, url: str, **headers: str) -> Any:
    return app.test_client().get(url, headers=headers)


def contents(folder: Path) -> dict[Path, Any]:
    return {each: each.stat().st_mtime_ns for each in folder.rglob("*")}


def test_pages_show_what_the_commands_print(lcca: RunCommand, folder: Path) -> None:
    app, before = application(folder), contents(folder)
    every = page(app, "/").text
    for line in lcca("runs", folder, "--json").json()["runs"]:
        assert line["folder"] in every and line["state"] in every and line["headline"] in every
    assert "3 of 3 runs" in every and "damaged" in every
    assert 'value="runs/grid/one"' in page(app, "/?q=rank+GRID/one").text
    assert "1 of 3 runs" in page(app, "/?q=rank+GRID/one").text and "0 of 3 runs" in page(app, "/?q=sweep").text

    one, two = (folder / "grid" / name for name in ("one", "two"))
    watched = lcca("watch", one, "--once").out.strip()
    assert watched in page(app, "/run/runs/grid/one").text
    side = page(app, "/compare?run=runs/grid/one&run=runs/grid/two&run=runs/grid/one").text
    for kind, rows in lcca("diff", one, two, "--json").json().items():
        assert rows
        if kind == "scores":
            assert all(side.count(f"{row['score_bits_1']:+.3f}") == 2 for row in rows)
        elif kind == "config":
            assert all(f">{row['key']}</td>" in side for row in rows)
    assert "Tick two runs" in page(app, "/compare?run=runs/grid/one").text

    assert page(app, "/report/runs/grid/two/report.html").text == "<p>a report</p>"
    assert "/report/runs/grid/two/report.html" in page(app, "/run/runs/grid/two").text
    assert "Report" not in page(app, "/run/runs/grid/one").text
    bad = page(app, "/run/runs/bad")
    assert bad.status_code == 500 and "manifest.json" in bad.text and "Traceback" not in bad.text
    assert contents(folder) == before


def test_a_run_is_served_as_its_folder_is(folder: Path) -> None:
    app = application(folder / "grid" / "one")
    assert "1 of 1 runs" in page(app, "/").text and page(app, "/run/one").status_code == 200
    assert page(app, "/run/two").status_code == 404


@pytest.mark.parametrize(
    "name",
    [
        "..",
        "../x",
        "runs/..",
        "runs/grid/../..",
        "%2e%2e",
        "runs/%2e%2e/",
        "/",
        "runs",
        "runs/linked",
        "runs/grid/none",
    ],
)
def test_nothing_else_can_be_read(folder: Path, name: str) -> None:
    shutil.copytree(folder / "grid" / "two", folder.parent / "x")
    (folder / "linked").symlink_to(folder.parent / "x")
    (folder / "grid" / "one" / "report.html").symlink_to(folder.parent / "report.html")
    app = application(folder)
    for url in (f"/run/{name}", f"/report/{name}/report.html", f"/compare?run={name}&run=runs/grid/one"):
        found = page(app, url)
        assert found.status_code in (308, 404) and SECRET not in found.text, url
    assert page(app, "/report/runs/grid/one/report.html").status_code == 404
    assert page(app, "/report/runs/grid/two/manifest.json").status_code == 404
    assert page(app, "/static/serving.py").status_code == 404


def removing(call: Callable[..., Any], run: Path) -> Callable[..., Any]:
    """Return a call before which a run is removed."""

    def changed(*arguments: Any) -> Any:
        shutil.rmtree(run, ignore_errors=True)
        return call(*arguments)

    return changed


@pytest.mark.parametrize(
    ("where", "name", "url", "status"),
    [
        (listing, "_line", "/", 200),
        (listing, "LoadedRun", "/", 200),
        (listing, "is_locked", "/", 200),
        (listing, "headline", "/", 200),
        (serving, "LoadedRun", "/run/runs/grid/one", 404),
        (serving, "glance", "/run/runs/grid/one", 404),
        (serving, "difference", "/run/runs/grid/one", 404),
        (serving, "LoadedRun", "/compare?run=runs/grid/one&run=runs/grid/two", 404),
        (serving, "send_file", "/report/runs/grid/one/report.html", 404),
    ],
)
def test_a_run_that_is_removed_meanwhile_is_gone(
    folder: Path, where: Any, name: str, url: str, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "grid" / "one" / "report.html").write_text("<p>a report</p>")
    monkeypatch.setattr(where, name, removing(getattr(where, name), folder / "grid" / "one"))
    answer = page(application(folder), url)
    assert answer.status_code == status
    assert "runs/grid/two" in answer.text if url == "/" else "two runs" not in answer.text


def test_names_are_text(folder: Path) -> None:
    bad = "<img src=x onerror=alert(1)>&"
    shutil.copytree(folder / "grid" / "two", folder / bad)
    found = page(application(folder), "/?q=%22%3E%3Cscript%3E")
    assert found.status_code == 200 and '<script>"' not in found.text and '"><script>' not in found.text
    listed = page(application(folder), "/").text
    assert bad not in listed and "&lt;img src=x onerror=alert(1)&gt;&amp;" in listed
    assert page(application(folder), "/run/runs%00x").status_code == 404


def test_only_by_the_names_of_this_server(folder: Path) -> None:
    app = application(folder, ["127.0.0.1", "localhost"])
    assert page(app, "/", Host="localhost:8000").status_code == 200
    assert page(app, "/", Host="rebound.example").status_code == 400


def test_bad_addresses_and_a_missing_extra(
    lcca: RunCommand, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for address in ("8000", ":80", "localhost:", "localhost:66666", "localhost:-1"):
        assert "must be an address such as 127.0.0.1:8000" in lcca("serve", folder, address).err
    with taken() as port:
        assert "choose another address" in lcca("serve", folder, f"127.0.0.1:{port}").err
    assert "no such folder" in lcca("serve", tmp_path / "none").err
    monkeypatch.setattr("lcca.inputs.extras.find_spec", lambda name: None)
    answer = lcca("serve", folder)
    assert answer.status == 2 and "need the package flask: pip install 'lcca[serve]'" in answer.err


@contextmanager
def taken() -> Iterator[int]:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as bound:
        yield bound.getsockname()[1]


@pytest.mark.slow
def test_the_command_serves_until_it_is_stopped(folder: Path) -> None:
    command = [sys.executable, "-m", "lcca.cli.main", "serve", str(folder), "127.0.0.1:0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().split(": ")[1].split()[0]
        assert "3 of 3 runs" in urlopen(address).read().decode()
        ends = {each.laddr.ip for each in psutil.Process(process.pid).net_connections() if each.status == "LISTEN"}
        assert ends == {"127.0.0.1"}
        process.terminate()


def chromium(url: str, tmp_path: Path, *options: str, budget: int = 8000) -> str:
    command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    command += [f"--user-data-dir={tmp_path / 'profile'}", f"--virtual-time-budget={budget}", *options, url]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout


@contextmanager
def served(app: Flask) -> Iterator[str]:
    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()


@pytest.mark.browser
@pytest.mark.skipif(shutil.which("chromium") is None, reason="needs Chromium")
def test_progress_arrives_without_loading_again(folder: Path, tmp_path: Path) -> None:
    app, log, looks = application(folder), folder / "grid" / "one" / "log.txt", []

    @app.before_request
    def grow() -> None:
        looks.append(time.monotonic())
        if len(looks) == 2:
            with log.open("a") as file:
                file.write("2026-01-01 00:00:00 half of it\n")

    with served(app) as address:
        seen = chromium(f"{address}/run/runs/grid/one", tmp_path, "--dump-dom")
    assert len(looks) >= 2 and "half of it" in seen


SLOW = """<script>
let under = 0, most = 0, looks = 0;
window.fetch = () => new Promise((resolve, reject) => {
  most = Math.max(most, ++under);
  document.title = `${most} at once, look ${++looks}`;
  setTimeout(() => { under--; looks == 2 ? reject(new Error("no answer")) : resolve(new Response("<p>")); }, 7000);
});
</script></head>"""


@pytest.mark.browser
@pytest.mark.skipif(shutil.which("chromium") is None, reason="needs Chromium")
def test_slow_answers_do_not_overlap_and_a_lost_one_ends_nothing(folder: Path, tmp_path: Path) -> None:
    """Answers take longer than the page waits before it asks again; the second one never comes."""
    app = application(folder)

    @app.after_request
    def slow(answer: Response) -> Response:
        answer.set_data(answer.get_data(as_text=True).replace("</head>", SLOW))
        return answer

    with served(app) as address:
        seen = chromium(f"{address}/run/runs/grid/one", tmp_path, "--dump-dom", budget=45_000)
    (title,) = re.findall("<title>(.*?)</title>", seen)
    assert title.startswith("1 at once, look ") and int(title.split()[-1]) >= 4


@pytest.mark.browser
@pytest.mark.skipif(shutil.which("chromium") is None, reason="needs Chromium")
@pytest.mark.parametrize("width", [1400, 900, 400])
def test_nothing_is_cut_at_any_width(folder: Path, tmp_path: Path, width: int) -> None:
    os.rename(folder / "grid" / "two", folder / "grid" / ("two" * 20))
    app = application(folder)

    @app.after_request
    def measure(answer: Response) -> Response:
        """Let the page say in its title how much is hidden to the right, of the page and of all tables."""
        hidden = "Math.max(...[...document.querySelectorAll('html, .wide')].map(e => e.scrollWidth - e.clientWidth))"
        answer.set_data(answer.get_data() + f"<script>document.title = `hidden ${{{hidden}}}`</script>".encode())
        return answer

    with served(app) as address:
        for url in ("/", "/run/runs/grid/one", f"/compare?run=runs/grid/one&run=runs/grid/{'two' * 20}"):
            assert "<title>hidden 0</title>" in chromium(
                address + url, tmp_path, "--dump-dom", f"--window-size={width},900"
            )
