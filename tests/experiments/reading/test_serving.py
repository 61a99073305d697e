"""The web page over run folders: it shows what the commands print, reads nothing else and writes nothing."""

import os
import re
import shutil
import socket
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

from ...fixtures import RunCommand

pytest.importorskip("flask")

from flask import Flask, Response

from lcca.experiments.reading import listing, serving
from lcca.experiments.reading.server import MOST_THREADS, Server
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


@pytest.mark.slow
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
    assert bad.status_code == 422 and "manifest.json" in bad.text and "Traceback" not in bad.text
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
    assert page(app, "/report/runs/grid/one/report.html").status_code == 422
    assert page(app, "/report/runs/grid/two/manifest.json").status_code == 404
    assert page(app, "/static/serving.py").status_code == 404


def removing(call: Callable[..., Any], run: Path) -> Callable[..., Any]:
    """Return a call before which a run is removed."""

    def changed(*arguments: Any, **options: Any) -> Any:
        shutil.rmtree(run, ignore_errors=True)
        return call(*arguments, **options)

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
        (serving, "read_limited", "/report/runs/grid/one/report.html", 404),
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


EVERY_ADDRESS = ("/", "/run/runs", "/compare", "/report/runs/report.html", "/none", "/static/x")


@pytest.mark.parametrize("token", ["", "secret"])
def test_only_by_the_names_of_this_server(tmp_path: Path, token: str) -> None:
    """Only names can be made to point here by others; a number is the machine's own address."""
    app = application(tmp_path, ["here.example", "localhost"], token)
    for url in EVERY_ADDRESS:
        expected = {403} if token else {200, 404}
        for known in ("localhost:8000", "LocalHost", "here.example", "127.0.0.1:8000", "10.0.0.7:80", "[::1]:8000"):
            assert page(app, url, Host=known).status_code in expected
        for other in ("rebound.example", "localhost.example:8000", "1.example", "localhost@x", "127.0.0.1.x", "[", ""):
            assert page(app, url, Host=other).status_code == 400


def test_beyond_this_machine_a_token_opens_every_page(tmp_path: Path) -> None:
    client = application(tmp_path, ["localhost"], "secret").test_client()
    for url in EVERY_ADDRESS:
        for tried in ("", "?token=", "?token=Secret", "?token=sécret", "?token=secret2"):
            answer = client.get(url + tried)
            assert answer.status_code == 403 and "lcca serve printed" in answer.text and "secret" not in answer.text
    opened = client.get("/run/x?token=secret")
    assert (opened.status_code, opened.location) == (302, "/")
    assert "HttpOnly" in opened.headers["Set-Cookie"] and "SameSite=Lax" in opened.headers["Set-Cookie"]
    assert client.get("/").status_code == 200 and "0 of 0 runs" in client.get("/").text


def test_pages_may_do_little_and_reports_nothing_with_pages(folder: Path) -> None:
    app = application(folder)
    for url in ("/", "/run/runs/grid/two", "/run/runs/bad", "/none", "/compare?run=runs/grid/one&run=runs/grid/two"):
        answer = page(app, url)
        policy = dict(part.split(" ", 1) for part in answer.headers["Content-Security-Policy"].split("; "))
        assert policy["default-src"] == policy["base-uri"] == policy["frame-ancestors"] == "'none'"
        assert policy["script-src"] == policy["style-src"] and policy["script-src"].startswith("'nonce-")
        assert policy["script-src"][7:-1] in answer.text and answer.text.count("<script") == 2
        assert policy["script-src"] != page(app, url).headers["Content-Security-Policy"]
        assert " style=" not in answer.text and " on" + "click=" not in answer.text
    report = page(app, "/report/runs/grid/two/report.html")
    assert report.headers["Content-Security-Policy"].startswith("sandbox allow-scripts; default-src 'none'")
    assert report.headers["X-Content-Type-Options"] == "nosniff" and report.mimetype == "text/html"


def test_few_runs_side_by_side(folder: Path) -> None:
    app, one = application(folder), "run=runs/grid/one&"
    assert page(app, "/compare?" + 20 * one).status_code == 200
    assert "21 runs are too many side by side; tick 20 at most" in page(app, "/compare?" + 21 * one).text
    assert page(app, "/compare?" + 3000 * one).status_code == 400


def test_few_threads_and_those_who_ask_for_nothing_are_left(tmp_path: Path) -> None:
    """More connections than there are threads, that say half of a line or nothing: others are answered all the same."""
    with served(application(tmp_path), longest_s=1.0) as address:
        before, port = threading.active_count(), int(address.rpartition(":")[2])
        idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(3 * MOST_THREADS)]
        for each in idle[::2]:
            each.sendall(b"GET / HT")
        assert "0 of 0 runs" in urlopen(address).read().decode()
        assert threading.active_count() <= before + MOST_THREADS
        for each in idle:
            each.close()


def test_bad_addresses_and_a_missing_extra(
    lcca: RunCommand, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for address in ("8000", ":80", "localhost:", "localhost:-1", "localhost:٣"):
        assert "must be an address such as 127.0.0.1:8000" in lcca("serve", folder, address).err
    for port in ("65536", "99999", "9" * 5000):
        assert "ports are 0 (any that is free) to 65535" in lcca("serve", folder, f"localhost:{port}").err
    said = lcca("serve", "--port", "99999").err
    assert "unknown option '--port': HOST:PORT is an argument" in said and "0 (any that is free) to 65535" in said
    with taken() as port:
        assert "choose another address" in lcca("serve", folder, f"127.0.0.1:{port}").err
    assert "no such folder" in lcca("serve", tmp_path / "none").err
    monkeypatch.setattr("lcca.inputs.extras.find_spec", lambda name: None)
    answer = lcca("serve", folder)
    assert answer.status == 2 and "need the package flask: pip install 'lcca[serve]'" in answer.err


@contextmanager
def taken() -> Iterator[int]:
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
def served(app: Flask, longest_s: float = 30.0) -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as bound:
        server = Server(bound, app, longest_s=longest_s)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.port}"
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


def scripted(answer: Response) -> str:
    """Return the beginning of a script that the page may run."""
    (nonce,) = set(re.findall('<script nonce="(.*?)">', answer.get_data(as_text=True)))
    return f'<script nonce="{nonce}">'


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
        answer.set_data(answer.get_data(as_text=True).replace("</head>", SLOW.replace("<script>", scripted(answer))))
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
        added = f"{scripted(answer)}document.title = `hidden ${{{hidden}}}`</script>"
        answer.set_data(answer.get_data() + added.encode())
        return answer

    with served(app) as address:
        for url in ("/", "/run/runs/grid/one", f"/compare?run=runs/grid/one&run=runs/grid/{'two' * 20}"):
            assert "<title>hidden 0</title>" in chromium(
                address + url, tmp_path, "--dump-dom", f"--window-size={width},900"
            )


FETCHING = """<!DOCTYPE html><title>ran</title><p id="read"></p><script>
(async () => {
  for (const url of ["/", location.origin + "/run/runs/grid/two"])
    try { document.title += " " + (await (await fetch(url)).text()).length; } catch { document.title += " refused"; }
  try { document.title += " cookie" + document.cookie; } catch { document.title += " no cookies"; }
})();
</script>"""


@pytest.mark.browser
@pytest.mark.skipif(shutil.which("chromium") is None, reason="needs Chromium")
def test_a_report_may_not_read_other_pages(folder: Path, tmp_path: Path) -> None:
    """A browser runs its script and lets it read nothing of this server."""
    (folder / "grid" / "one" / "report.html").write_text(FETCHING)
    with served(application(folder)) as address:
        seen = chromium(f"{address}/report/runs/grid/one/report.html", tmp_path, "--dump-dom")
    assert "<title>ran refused refused no cookies</title>" in seen
