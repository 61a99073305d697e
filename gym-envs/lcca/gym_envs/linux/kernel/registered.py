"""Laws registered with the running kernel, under names of this process, and taken away as it ends.

Names hold for the whole machine. Those of a process that was killed are taken away as the next one registers its own.
"""

from __future__ import annotations

import atexit
import json
import os
import re
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import numpy as np

from lcca.gym_envs.linux.kernel.source import kernel_source
from lcca.inputs.errors import InputError, require
from lcca.remy_plus.policies.law import Law

BTF = Path("/sys/kernel/btf/vmlinux")
COMPILE = ("clang", "-O2", "-g", "-target", "bpf", "-mcpu=v3", "-c")
NEEDED = "laws in the kernel need Linux 6.10 or later with BTF, clang and bpftool (apt install clang bpftool), and root"

_NAME = re.compile(r"lcca([0-9a-z]{2})_([0-9a-z]{1,5})_[0-9a-z]{1,2}")


def missing() -> list[str]:
    """Return what this machine lacks for laws in the kernel."""
    lacks = [each for each in ("clang", "bpftool") if shutil.which(each) is None]
    return lacks + ([] if BTF.exists() else [f"{BTF}"]) + ([] if os.geteuid() == 0 else ["rights of root"])


@cache
def registered(law: Law, time_scale: float) -> str:
    """Return the kernel's name of a law, which it has until this process ends.

    Raises:
        InputError: something is missing here, the law has signals of hops, or the kernel refuses it.
    """
    require(not (lacks := missing()), f"{NEEDED}; missing here: {', '.join(lacks)}")
    require(time_scale >= 1 and time_scale == int(time_scale), "linux options: time_scale must be whole for laws there")
    if not _mine:
        _take_away(_left_behind())
        atexit.register(_end, os.getpid())
    name = f"lcca{_space()}_{np.base_repr(os.getpid(), 36).lower()}_{np.base_repr(len(_mine), 36).lower()}"
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder, "law.c"), Path(folder, "law.o")
        source.write_text(kernel_source(law, name, int(time_scale)))
        _run(*COMPILE, str(source), "-o", str(program))
        _mine.append(name)
        _run("bpftool", "struct_ops", "register", str(program))
    return name


_mine: list[str] = []


def _space() -> str:
    """Return two letters of the processes that this one can see: numbers of others mean nothing here."""
    return np.base_repr(os.stat("/proc/self/ns/pid").st_ino % 1296, 36).lower().zfill(2)


def _left_behind() -> list[str]:
    listed = json.loads(_run("bpftool", "-j", "struct_ops", "list") or "[]")
    found = (_NAME.fullmatch(each["name"]) for each in listed if each.get("kernel_struct_ops") == "tcp_congestion_ops")
    return [
        each[0] for each in found if each and each[1] == _space() and not Path("/proc", str(int(each[2], 36))).exists()
    ]


def _take_away(names: list[str]) -> None:
    for name in names:
        subprocess.run(["bpftool", "struct_ops", "unregister", "name", name], capture_output=True, check=False)


def _end(process: int) -> None:
    if os.getpid() == process:  # and not a child of it
        _take_away(_mine)


def _run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, check=False, text=True)
    if done.returncode != 0:
        said = [line for line in done.stderr.splitlines() if line.strip()]
        raise InputError(f"{NEEDED}; {' '.join(command[:3])} said: {' | '.join(said[:1] + said[-2:])[:400]}")
    return done.stdout
