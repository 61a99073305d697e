"""Makes the report of the gallery as the site is built, by the commands that stand beside it (13 CPU seconds)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the report to the files of the site."""
    with TemporaryDirectory() as folder:
        for words in (["init", "headers"], ["sweep", "headers.yaml", "--out", "run"]):
            subprocess.run(
                [Path(sys.executable).with_name("lcca"), *words], cwd=folder, check=True, capture_output=True
            )
        report = (Path(folder) / "run" / "report.html").read_text(encoding="utf-8")
    files.append(File.generated(config, "gallery/headers.html", content=report))
    return files
