"""A web page over run folders, which it never writes to: a list, runs side by side, what one is doing, its report."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from flask import Flask, Response, abort, render_template, request, send_file
from jinja2 import FileSystemLoader

from lcca.evaluation.report.report import TEMPLATES
from lcca.evaluation.trials import layout
from lcca.evaluation.trials.loaded_run import LoadedRun
from lcca.experiments.reading.difference import difference
from lcca.experiments.reading.listing import HEADS, runs_in
from lcca.experiments.reading.watching import glance
from lcca.inputs.errors import InputError


def application(folder: Path, hosts: list[str] | None = None) -> Flask:
    """Return the application over the runs in a folder and below it; every request reads them anew.

    Args:
        folder: with run folders, or one.
        hosts: names by which browsers may call this server; None for any. Another one is answered by status 400, so
            that a page from elsewhere cannot read runs by a name that it makes point here.

    Raises:
        InputError: there is no such folder.
    """
    runs_in(folder)  # or say so
    root = folder.resolve()
    app = Flask(__name__, static_folder=None)
    app.jinja_env.loader = FileSystemLoader([Path(__file__).parent, TEMPLATES])
    app.jinja_env.autoescape = True  # Flask would do so for names in .html alone
    app.config["TRUSTED_HOSTS"] = hosts

    def within(name: str) -> Path:
        """Return the folder or file of this name, which begins with that of the root; links lead nowhere else."""
        path = (root.parent / name.replace("\0", "")).resolve()
        return path if path.is_relative_to(root) else abort(404)

    def run_of(name: str) -> LoadedRun:
        return LoadedRun(path) if ((path := within(name)) / layout.MANIFEST).is_file() else abort(404)

    def page(title: str, **content: Any) -> str:
        return str(render_template("runs.html.j2", title=title, **content))

    def runs() -> str:
        wanted = request.args.get("q", "").lower().split()
        lines = [(line.folder.resolve().relative_to(root.parent).as_posix(), line.words()) for line in runs_in(folder)]
        rows = [(name, words) for name, words in lines if all(part in " ".join(words).lower() for part in wanted)]
        return page(f"Runs in {folder}", heads=HEADS, rows=rows, of=len(lines))

    def several() -> str:
        names = request.args.getlist("run")
        tables = difference(*map(run_of, names)).tables(names) if len(names) > 1 else []
        return page(f"{len(names)} runs side by side", tables=tables, names=names)

    def one(name: str) -> str:
        run, report = run_of(name), (within(name) / layout.REPORT).is_file()
        tables = difference(run).tables(["result"])
        words, text = glance(run.path).words(), run.config_text
        return page(name, name=name, report=report, glance=words, tables=tables, text=text)

    def report(name: str) -> Response:
        return send_file(path) if (path := within(f"{name}/{layout.REPORT}")).is_file() else abort(404)

    def bad(error: Exception) -> tuple[str, int]:
        names = [*request.args.getlist("run"), *(request.view_args or {}).values()]
        there = all((root.parent / name / layout.MANIFEST).is_file() for name in names)
        return page("This cannot be read", error=str(error)), 500 if there else 404

    pages: dict[str, Callable[..., Any]] = {"/": runs, "/compare": several, "/run/<path:name>": one}
    for rule, view in (pages | {f"/report/<path:name>/{layout.REPORT}": report}).items():
        app.add_url_rule(rule, view.__name__, view)
    app.register_error_handler(InputError, bad)
    app.register_error_handler(FileNotFoundError, bad)
    return app
