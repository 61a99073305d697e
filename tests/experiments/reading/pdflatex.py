"""A small paper of exported tables, set by pdfLaTeX where it is installed."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

PAPER = r"""
\documentclass{article}
\usepackage[margin=2.5cm]{geometry}
\usepackage{booktabs,siunitx}
%s
\begin{document}
%s
\end{document}
"""


@cache
def absent() -> str:
    """What is missing to set a paper."""
    if shutil.which("pdflatex") is None or shutil.which("kpsewhich") is None:
        return "pdflatex is not installed"
    packages = ["booktabs.sty", "siunitx.sty", "geometry.sty"]
    found = subprocess.run(["kpsewhich", *packages], capture_output=True, text=True).stdout.split()
    return "" if len(found) == len(packages) else "LaTeX's booktabs, siunitx or geometry is not installed"


def problems_of_paper(texts: Mapping[str, str], folder: Path) -> list[str]:
    """Set all tables and every command in a paper; return what TeX stops at, and lines wider than the page."""
    if absent():
        pytest.skip(absent())
    settings = {
        line.removeprefix("% ") for text in texts.values() for line in text.splitlines() if r"% \sisetup" in line
    }
    commands = re.findall(r"^\\newcommand\{(\\\w+)\}", "".join(texts.values()), flags=re.M)
    body = "\n".join([*texts.values(), r"\begin{flushleft}", *(f"{each}," for each in commands), r"\end{flushleft}"])
    (folder / "paper.tex").write_text(PAPER % ("\n".join(sorted(settings)), body), encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    said = subprocess.run(command, cwd=folder, capture_output=True, timeout=120)
    log = (folder / "paper.log").read_text(encoding="utf-8", errors="replace")
    wrong = re.findall(r"^(?:!.*|Overfull \\hbox.*|LaTeX Font Warning.*|Missing character.*)$", log, flags=re.M)
    return wrong if wrong or said.returncode == 0 else [log[-1000:]]
