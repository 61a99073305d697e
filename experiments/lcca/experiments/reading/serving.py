"""A web page over run folders, which it never writes to: a list, runs side by side, what one is doing, its report.

Who may write into one of these folders may be somebody else than who starts the server or looks at its pages. So any
damage is said in words, links lead nowhere, and no page runs what a file holds; only reports have scripts of their own,
which browsers keep from all other pages.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from flask import Flask, Response, abort, render_template, request
from jinja2 import FileSystemLoader
from werkzeug.exceptions import HTTPException

from lcca.evaluation.report.report import TEMPLATES
from lcca.evaluation.trials import layout
from lcca.evaluation.trials.loaded_run import LoadedRun
from lcca.experiments.reading.admission import LOCALHOST, admit
from lcca.experiments.reading.difference import difference
from lcca.experiments.reading.listing import HEADS, damage, runs_in
from lcca.experiments.reading.watching import glance
from lcca.inputs.errors import InputError
from lcca.inputs.files import read_limited

MOST_RUNS = 20
"""Runs side by side."""


def application(folder: Path, names: Collection[str] = (LOCALHOST,), token: str = "") -> Flask:
    """Return the application over the runs in a folder and below it; every request reads them anew.

    Args:
        folder: with run folders, or one.
        names: by which browsers may call this server, as `admit` takes them.
        token: without which nobody is answered; empty for none.

    Raises:
        InputError: there is no such folder.
    """
    runs_in(folder)  # or say so
    app = Flask(__name__, static_folder=None)
    app.jinja_env.loader = FileSystemLoader([Path(__file__).parent, TEMPLATES])
    app.jinja_env.autoescape = True  # Flask would do so for names in .html alone
    admit(app, names, token)
    pages = Pages(folder)
    views: dict[str, Callable[..., Any]] = {"/": pages.runs, "/compare": pages.several, "/run/<path:name>": pages.one}
    for rule, view in (views | {f"/report/<path:name>/{layout.REPORT}": pages.report}).items():
        app.add_url_rule(rule, view.__name__, view, methods=["GET"])
    for kind in (InputError, OSError, HTTPException):
        app.register_error_handler(kind, pages.bad)
    return app


class Pages:
    """The pages over the runs in a folder and below it.

    Args:
        folder: with run folders, or one.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self._root = folder, Path(os.path.realpath(folder))

    def runs(self) -> bytes:
        """Return the list."""
        wanted = request.args.get("q", "").lower().split()
        lines = [(self._name(line.folder), line.words()) for line in runs_in(self._folder)]
        rows = [(name, words) for name, words in lines if all(part in " ".join(words).lower() for part in wanted)]
        return _page(f"Runs in {self._folder}", heads=HEADS, rows=rows, of=len(lines))

    def several(self) -> bytes:
        """Return runs side by side."""
        names = request.args.getlist("run")
        if len(names) > MOST_RUNS:
            abort(400, f"{len(names):,} runs are too many side by side; tick {MOST_RUNS} at most.")
        with damage(", ".join(names)):
            found = [LoadedRun(self._run(name)) for name in names]
            tables = difference(*found).tables(names) if len(names) > 1 else []
        return _page(f"{len(names)} runs side by side", tables=tables, names=names)

    def one(self, name: str) -> bytes:
        """Return what a run is doing and has found."""
        path = self._run(name)
        with damage(path):
            run, report = LoadedRun(path), os.path.lexists(path / layout.REPORT)
            tables = difference(run).tables(["result"])
            words, text = glance(path).words(), run.config_text
        return _page(name, name=name, report=report, glance=words, tables=tables, text=text)

    def report(self, name: str) -> Response:
        """Return the report of a run."""
        if not os.path.lexists(path := self._run(name) / layout.REPORT):
            raise FileNotFoundError
        return Response(read_limited(path, links=False), mimetype="text/html")

    def bad(self, error: Exception) -> tuple[bytes, int]:
        """Return what is wrong, in words."""
        if isinstance(error, HTTPException):
            return _page("This cannot be shown", error=error.description), error.code or 500
        try:
            for name in [*request.args.getlist("run"), *(request.view_args or {}).values()]:
                self._run(name)
        except FileNotFoundError as gone:
            error = gone
        if isinstance(error, FileNotFoundError):
            return _page("This cannot be shown", error="There is nothing of this name."), 404
        return _page("This cannot be read", error=str(error)), 422

    def _run(self, name: str) -> Path:
        """Return the folder of a run by its name, which begins with that of the root; links lead nowhere else."""
        path = Path(os.path.realpath(self._root.parent / name.replace("\0", "")))
        if path.is_relative_to(self._root) and os.path.lexists(path / layout.MANIFEST):
            return path
        raise FileNotFoundError

    def _name(self, run: Path) -> str:
        """Return the name of a run in addresses; empty where it is not UTF-8, for which there is no address."""
        name = (self._root / run.relative_to(self._folder)).relative_to(self._root.parent).as_posix()
        return name if name == name.encode(errors="replace").decode() else ""


def _page(title: str, **content: Any) -> bytes:
    return str(render_template("runs.html.j2", title=title, **content)).encode(errors="replace")
