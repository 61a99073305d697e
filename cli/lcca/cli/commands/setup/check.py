"""`lcca check`: does the installation work, and what to do where it does not."""

from __future__ import annotations

import argparse
import importlib
import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass

from lcca.cli.options.common import print_json
from lcca.experiments.runs.version import commit, version
from lcca.inputs.options import frozen

EXAMPLES = """\
  lcca check
  lcca check --json"""

_ENGINE_FIX = "reinstall: make setup (needs a C++20 compiler, such as g++ 12)"


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at: ok, missing (optional) or broken, and how to fix it."""

    name: str
    state: str
    detail: str
    fix: str = ""


@frozen
class Check:
    """Whether the installation works."""


def run(verb: Check, options: argparse.Namespace) -> int:
    findings = [look() for look in (_python, _engine, _fabric, _libraries, _cores, _disk, _browser)] + _optional()
    broken = [f for f in findings if f.state == "broken"]
    if options.json:
        print_json({"version": version(), "commit": commit(), "findings": [asdict(f) for f in findings]})
        return 1 if broken else 0
    print(f"lcca {version()}" + (f" ({commit()})" if commit() else ""))
    for f in findings:
        print(f"  {f.state:8} {f.name}: {f.detail}" + (f" -> {f.fix}" if f.fix else ""))
    return 1 if broken else 0


def _python() -> Finding:
    return Finding("python", "ok", sys.version.split()[0])


def _guarded(name: str, fix: str, look: Callable[[], str]) -> Finding:
    try:
        return Finding(name, "ok", look())
    except Exception as error:  # a broken installation may fail in any way
        return Finding(name, "broken", f"{type(error).__name__}: {error}", fix)


def _engine() -> Finding:
    def look() -> str:
        from lcca.remy_plus.engine import Engine
        from lcca.remy_plus.network import Network, NetworkList
        from lcca.remy_plus.policies.policy import FixedWindow, compile_policy

        network = NetworkList([Network(0, 1.0, 10.0, 1, 100.0, 1000.0, 10.0, 0.0)])
        batch = Engine(duration=10_000, jobs=1).run([compile_policy(FixedWindow(5))], network, [0], [0], [1])
        if not batch.packets:
            raise RuntimeError("a trial delivered no packet")
        return f"a trial delivered {batch.packets} packets"

    return _guarded("engine", _ENGINE_FIX, look)


def _fabric() -> Finding:
    def look() -> str:
        import numpy as np

        from lcca.remy_plus.fabric.builders import star
        from lcca.remy_plus.fabric.engine import FabricEngine
        from lcca.remy_plus.fabric.flows import FabricFlows

        flow = FabricFlows(np.array([0]), np.array([1]), np.array([1000]), np.array([0.0]))
        took = float(FabricEngine("dctcp").run(star(2), flow)["flow_fct_ns"][0])
        return f"a flow took {took / 1000:.2f} µs"

    return _guarded("fabric", _ENGINE_FIX, look)


def _libraries() -> Finding:
    names = ("numpy", "scipy", "pandas", "pydantic", "ruamel.yaml", "rich")

    def look() -> str:
        for name in names:
            importlib.import_module(name)
        return f"{len(names)} found"

    return _guarded("libraries", "reinstall: pip install lcca", look)


def _optional() -> list[Finding]:
    """Look for the extras and ns-3."""
    try:
        from lcca.gym_envs.optional import optional_parts

        return [Finding(p.name, "ok" if p.usable else "missing", p.detail, p.fix) for p in optional_parts()]
    except ImportError:  # said by the engine's or the libraries' finding
        return []


def _cores() -> Finding:
    return Finding("cores", "ok", f"{len(os.sched_getaffinity(0))} usable (--jobs)")


def _disk() -> Finding:
    free = shutil.disk_usage(".").free // 2**20
    if free < 100:
        return Finding("disk", "broken", f"{free} MiB free here", "free some space or use --out on another disk")
    return Finding("disk", "ok", f"{free} MiB free here")


def _browser() -> Finding:
    found = next((b for b in ("chromium", "chromium-browser", "google-chrome") if shutil.which(b)), None)
    if found:
        return Finding("browser", "ok", f"{found} (for the report's test)")
    return Finding(
        "browser", "missing", "no Chromium; only the report's browser test needs one", "apt install chromium"
    )
