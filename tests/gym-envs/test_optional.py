"""What is installed of the optional parts is found without importing it, and what is missing is named with its fix."""

import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

from lcca.gym_envs import optional
from lcca.gym_envs.ns3 import simulator

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]


def test_the_extras_are_those_of_the_distribution():
    declared = PROJECT["optional-dependencies"]
    names = {extra: [line.partition(">")[0] for line in declared[extra]] for extra in declared if extra != "dev"}
    assert names == optional.extras()


def test_what_is_missing_is_named(monkeypatch):
    def version(package):
        if package == "torch":
            raise metadata.PackageNotFoundError
        return "1.2"

    monkeypatch.setattr(optional.metadata, "version", version)
    monkeypatch.setitem(sys.modules, "lcca.ns3", None)
    simulator.installed.cache_clear()
    try:
        found = {part.name: part for part in optional.optional_parts()}
    finally:
        simulator.installed.cache_clear()
    assert found["tune"] == optional.Part("tune", True, "optuna 1.2")
    assert found["drl"] == optional.Part("drl", False, "not installed: torch", "pip install 'lcca[drl]'")
    assert found["ns-3"].detail == "ns-3 is not installed" and "make ns3" in found["ns-3"].fix


def test_nothing_heavy_is_imported():
    code = (
        "import sys; from lcca.gym_envs.optional import optional_parts; optional_parts();"
        "print([m for m in ('torch', 'gymnasium', 'ray', 'optuna', 'zmq') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"
