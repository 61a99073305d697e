"""Which reader a file of another program has, by its name or its first line."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from lcca.evaluation.fabric.formats.chakra import ALGORITHMS, family, read_chakra
from lcca.evaluation.fabric.formats.connection_matrix import UNITS_NS, read_connection_matrix
from lcca.evaluation.fabric.formats.converted import Converted
from lcca.evaluation.fabric.formats.goal import read_goal
from lcca.evaluation.fabric.formats.hpcc import read_hpcc
from lcca.evaluation.fabric.formats.simai import is_workload, read_simai
from lcca.evaluation.fabric.formats.tiers import read_tiers
from lcca.inputs.errors import InputError, did_you_mean, require
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.fabric.topology import FabricTopology


def read_text(path: str | os.PathLike[str]) -> Converted:
    """Return what is in a text file of HPCC's, or of SimAI's, which has workloads besides.

    Raises:
        InputError: as either reader.
    """
    return read_simai(path) if is_workload(path) else read_hpcc(path)


READERS: Mapping[str, Callable[..., Converted]] = {
    ".cm": read_connection_matrix,
    ".topo": read_tiers,
    ".txt": read_text,
    ".goal": read_goal,
    ".et": read_chakra,
}
"""By the ending of a file's name."""

SETTINGS = {"start": (".cm", tuple(UNITS_NS)), "groups": (".et", ()), "algorithm": (".et", ALGORITHMS)}
"""What may be said of files besides: of which ending, and its values; any if empty."""


def is_foreign(path: str | os.PathLike[str]) -> bool:
    """Tell whether a file's name says that another program reads it."""
    return Path(path).suffix in READERS


def read(path: str | os.PathLike[str], settings: Mapping[str, str] | None = None) -> Converted:
    """Return what is in a file of another program.

    Args:
        path: the file.
        settings: of `SETTINGS`, those that are of its form.

    Raises:
        InputError: no known form, or what is wrong in it.
    """
    ending = Path(path).suffix
    require(ending in READERS, f"{path}: no file of another program that is known{did_you_mean(ending, READERS)}")
    own = {key: value for key, value in (settings or {}).items() if SETTINGS[key][0] == ending}
    return READERS[ending](path, **own)


def flows_of(path: str | os.PathLike[str]) -> FabricFlows:
    """Return the flows in a file of another program; of one that was read last they are kept.

    Raises:
        InputError: as `read`; or it holds a topology or sizes; or it is one of several, of which results must know all.
    """
    several = Path(path).suffix == ".et"
    require(not several, f"{os.fspath(path)}: is of one rank; lcca import writes a scenario with those of all ranks")
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return _flows(os.fspath(path), 0, 0)  # which says why
    return _flows(os.fspath(path), found.st_mtime_ns, found.st_size)


@lru_cache(maxsize=4)
def _flows(path: str, changed_ns: int, size: int) -> FabricFlows:
    what = read(path).what
    if not isinstance(what, FabricFlows):
        raise InputError(f"{path}: holds no flows; name the file that has them")
    return what


def topology_of_file(path: str | os.PathLike[str]) -> FabricTopology:
    """Return the topology in a file of another program.

    Raises:
        InputError: as `read`; or it holds something else, or its hosts have other numbers here.
    """
    found = read(path)
    if not isinstance(found.what, FabricTopology):
        raise InputError(f"{os.fspath(path)}: holds no topology; name the file that has it")
    require(not found.nodes, f"{os.fspath(path)}: has hosts after switches; lcca import gives flows their new numbers")
    return found.what


def read_all(paths: Sequence[str | os.PathLike[str]], settings: Mapping[str, str]) -> list[Converted]:
    """Return what is in several files that belong together.

    Raises:
        InputError: as `read`; or a setting that is not known, or of none of the files.
    """
    for key, value in settings.items():
        if key not in SETTINGS:
            raise InputError(f"{key}={value}: no such setting{did_you_mean(key, SETTINGS)}")
        ending, values = SETTINGS[key]
        require(
            any(Path(path).suffix == ending for path in paths), f"{key}={value}: is of files {ending}; leave it out"
        )
        require(not values or value in values, f"{key}={value}: must be one of {', '.join(values)}")
    ranks = dict.fromkeys(family(path)[0] for path in paths if Path(path).suffix == ".et")
    others = (path for path in paths if Path(path).suffix != ".et")
    return renumbered([read(path, settings) for path in (*ranks, *others)])


def renumbered(found: Sequence[Converted]) -> list[Converted]:
    """Return what was converted with the hosts of flows as a topology among it has them here.

    Raises:
        InputError: a flow's end is no host there.
    """
    topology = next((each for each in found if isinstance(each.what, FabricTopology)), None)
    if topology is None:
        return list(found)
    return [_on(each, topology) if isinstance(each.what, FabricFlows) else each for each in found]


def _on(flows: Converted, topology: Converted) -> Converted:
    what = flows.what
    assert isinstance(what, FabricFlows)
    numbers = topology.nodes or {host: host for host in range(topology.hosts)}
    ends = dict[str, Any]()
    for name in ("src", "dst"):
        own = [numbers.get(each, topology.hosts) for each in getattr(what, name).tolist()]
        for row, host in enumerate(own):
            if host >= topology.hosts:
                text = f"{name}: {getattr(what, name)[row]} is no host of {topology.source}; take the topology that"
                raise InputError(f"{flows.source}: flow {what.id[row]}: {text} these flows are for")
        ends[name] = np.array(own)
    return replace(flows, what=replace(what, **ends), hosts=topology.hosts)
