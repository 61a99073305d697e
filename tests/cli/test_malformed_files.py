"""Files that no reader may take long over, and none may answer with anything but one clear error."""

import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from lcca.evaluation.scenarios.networks import NetworkSpace
from lcca.evaluation.scenarios.sizes import flow_sizes
from lcca.experiments.campaign.config import CampaignConfig
from lcca.experiments.places import space_of
from lcca.experiments.runs.grid import read_grid
from lcca.experiments.schemas.kinds import KINDS
from lcca.experiments.tuning.config import TuningConfig
from lcca.inputs.errors import InputError
from lcca.inputs.validation import read_config, read_with_files, validate
from lcca.remy_plus.files import policyfile
from lcca.signal_sets.headers.header import header
from lcca.signal_sets.signal_set import signal_set

from ..fixtures import RunCommand

READERS: dict[str, Callable[[Path], Any]] = {
    "campaign": partial(read_grid, model=CampaignConfig),
    "merge": partial(read_grid, model=CampaignConfig),
    "cceval": lambda path: validate(read_with_files(path, KINDS["estimate"].model), KINDS["estimate"].model),
    "tuning": lambda path: validate(read_with_files(path, TuningConfig), TuningConfig),
    "space": lambda path: read_config(path, NetworkSpace),
    "networks": space_of,
    "sizes": flow_sizes,
    "set": signal_set,
    "header": header,
    "header2": header,
    "policy": policyfile.load,
}
"""The reader of each kind of file, by the beginning of its name."""

READABLE = {"sizes-81b40743.yaml"}
"""A table whose name is a date: dates are text."""

NETWORK = "link_rate: 3, rtt: 27, senders: 6, mean_on: 4500, mean_off: 900, loss: 0"
MLP = (
    '{"format": 1, "kind": "mlp", "signals": ["loss"], "agent": {"history": 1, "decisions": {}, "steering": '
    '{"kind": %s}}, "layers": [{"weights": [[1.0], [1.0]], "biases": [0, 0], "activation": %s}]}'
)


def refused(path: Path, read: Callable[[Path], Any]) -> str:
    """Return the one error of a reader, which names the file, is short and comes at once."""
    began = time.process_time()
    with pytest.raises(InputError) as caught:
        read(path)
    assert time.process_time() - began < 1
    text = str(caught.value)
    assert path.name in text
    assert len(text) < 4000 and all(letter.isprintable() or letter == "\n" for letter in text)
    return text.replace(f"{path.parent}/", "")


@pytest.mark.slow
def test_malformed_files_of_the_reference_give_one_error_each(reference: Path) -> None:
    files = [path for path in sorted((reference / "data" / "malformed").rglob("*.*")) if path.name not in READABLE]
    assert len(files) > 50
    for path in files:
        refused(path, READERS[path.stem.split("-")[0]])


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("campaign", "{a: 1}: 2\n", ":1: a list or a mapping stands where a key must be"),
        ("space", "? [[[]]]\n: 1\n", ":1: a list or a mapping stands where a key must be"),
        ("header", "? !!set {a}\n: 1\n", ":1: a list or a mapping stands where a key must be"),
        ("campaign", 'extends: "\\0"\n', r":1: extends: holds the control character '\x00'"),
        ("campaign", 'extends: "\\ud800"\n', r":1: extends: holds the control character '\ud800'"),
        ("campaign", f"extends: {'a' * 10_000}\n", "aaa: cannot be read: File name too long"),
        ("tuning", 'networks: "\\0"\n', ":1: networks: holds the control character"),
        ("campaign", "name: a\nseed: \0\n", r":2: holds the control character '\x00'"),
        ("networks", "- 1\r\n- 2\r\n- \x1b[31m", r":3: holds the control character '\x1b'"),
        ("campaign", '"\\e[31m": 1\n', r":1: holds the control character '\x1b'"),
        ("campaign", "name: !!float\n", ":1: name: '' is not a number"),
        ("networks", f"- {{{NETWORK}, buffer: 2001-99-99}}\n", ":1: 0.buffer: must be a number, found '2001-99-99'"),
        ("networks", f"- {{{NETWORK}, buffer: {'9' * 5000}}}\n", "0.buffer: a number of 5,000 digits is too large"),
        ("sizes", "points: [[0, !!binary aGVsbG8=]]\n", ":1: points.0.1: YAML tags and sets are not supported"),
        ("sizes", "2001-02-30: x\n", ":1: 2001-02-30: unknown key"),
        ("sizes", "points: &a [*a]\n", ":1: an alias (*) contains itself"),
        ("sizes", "&a [*a]: 1\n", ":1: an alias (*) contains itself"),
        ("space", f"rtt: {'a' * 10_000}\n", "aaa…"),
        ("policy", MLP % ("[]", '"relu"'), "steering.kind: unknown kind a list of 0"),
        ("policy", MLP % ('{"min": 0}', '"relu"'), "steering.kind: unknown kind keys with values"),
        (
            "policy",
            MLP % ('"window"', "3.5"),
            "layers.0.activation: must be one of 'linear', 'tanh' or",
        ),
        ("policy", MLP % ('"window"', "[{}]"), "layers.0.activation: must be one of"),
        (
            "policy",
            '{"format": 1, "kind": "aimd", "parameters": {"increase": 1' + "0" * 400 + "}}",
            "a number of 401 digits is too large",
        ),
    ],
)
def test_each_kind_of_malformed_file_is_one_error(tmp_path: Path, name: str, text: str, message: str) -> None:
    path = tmp_path / (name + (".json" if name == "policy" else ".yaml"))
    path.write_text(text)
    assert message in refused(path, READERS[name])


@pytest.mark.parametrize("name", ["campaign", "header", "networks", "set", "sizes", "space"])
@pytest.mark.parametrize("bomb", ["&a{0} [{1}]", "&a{0} {{<<: [{1}]}}"])
def test_files_that_unfold_without_end_are_refused(tmp_path: Path, name: str, bomb: str) -> None:
    lines = ["a0: &a0 {x: 1}"]
    lines += [f"a{n}: " + bomb.format(n, ", ".join([f"*a{n - 1}"] * 10)) for n in range(1, 12)]
    path = tmp_path / f"{name}.yaml"
    path.write_text("\n".join(lines))
    assert "too many values, with its aliases (*) expanded" in refused(path, READERS[name])


@pytest.mark.parametrize("name", sorted(READERS))
def test_pipes_and_devices_are_refused_at_once(tmp_path: Path, name: str) -> None:
    path = tmp_path / (name + (".json" if name == "policy" else ".yaml"))
    os.mkfifo(path)
    assert "cannot be read: a pipe or a device" in refused(path, READERS[name])
    path.unlink()
    path.symlink_to("/dev/zero")
    assert "cannot be read: a pipe or a device" in refused(path, READERS[name])


def test_the_command_line_prints_no_control_characters(lcca: RunCommand, tmp_path: Path) -> None:
    answer = lcca("show", "networks", tmp_path / "\x1b[31mred.yaml")
    assert answer.status == 2
    assert r"\x1b[31mred.yaml" in answer.err and "\x1b" not in answer.err


def test_a_path_is_printed_without_control_characters(lcca: RunCommand, tmp_path: Path) -> None:
    (tmp_path / "\x1b[31mred").mkdir()
    answer = lcca("runs", tmp_path / "\x1b[31mred")
    assert answer.status == 0 and r"\x1b[31mred" in answer.out and "\x1b" not in answer.out
