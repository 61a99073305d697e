"""The header of a policy's file is there in whole, or in the catalogue: a run is kept by the policy's file alone."""

from pathlib import Path

import pytest

from lcca.inputs.errors import InputError
from lcca.signal_sets.load import resolve

POLICY = '{{"format": 1, "kind": "fixed-window", "parameters": {{"window": 9}}, "header": "{}"}}'


@pytest.mark.parametrize("name", ["mine.yaml", "./mine", "headers/mine.yml"])
def test_it_is_no_file(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("policy.json").write_text(POLICY.format(name))
    with pytest.raises(InputError, match=r"^policy.json: header: name one of `lcca show headers`, or write all of it"):
        resolve("policy.json")
    Path("policy.json").write_text(POLICY.format("nosignal-8b"))
    header = resolve("policy.json").header
    assert header is not None and header.name == "nosignal-8b"
