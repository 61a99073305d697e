import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lcca.inputs.errors import InputError
from lcca.remy_plus.policies.rules import bisect, one_rule
from lcca.trainers.rplus.state import LearningRow, SearchState


def state() -> SearchState:
    before = one_rule(["rtt_ratio", "loss"])
    table = bisect(before, 0, np.array([1.1, 0.3])).with_action(2, 7, 0.1 + 0.2, 1.5)
    rows = [LearningRow(1, 0, "improve", 1, 1 / 3, 300, 10**7, 0.25)]
    return SearchState(table, [0, 1, 2, 0], before, 3, 2, "improve", 17, 12345, 10**12, 4.5, rows)


def test_a_state_survives_the_disk_to_the_last_bit(tmp_path: Path) -> None:
    state().save(tmp_path / "a.json", "me")
    found = SearchState.load(tmp_path / "a.json", "me")
    assert found == state()
    assert found.table.multiple[2] == 0.1 + 0.2


def test_equal_states_have_equal_files(tmp_path: Path) -> None:
    for name in ("a", "b"):
        state().save(tmp_path / name, "me")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_the_checkpoint_of_another_search_is_refused(tmp_path: Path) -> None:
    state().save(tmp_path / "a.json", "me")
    with pytest.raises(InputError, match=r"a\.json: this checkpoint belongs to another search; remove it"):
        SearchState.load(tmp_path / "a.json", "you")


@pytest.mark.parametrize("text", ["", "{", "5", "[]", "null", '"x"', "{}", "\xff\xfe", "[" * 100_000, '{"format": 1}'])
def test_a_file_that_is_no_checkpoint_is_one_clear_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError, match=r"a\.json: damaged checkpoint .*; remove it to start this search anew"):
        SearchState.load(path, "me")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("table", "{}"),
        ("table", '{"format": 1, "kind": "aimd", "signals": [], "parameters": {}}'),
        ("before", 3),
        ("generations", [0]),
        ("generations", None),
        ("stage", "dance"),
        ("learning", [{"step": 1}]),
        ("surprise", 1),
    ],
)
def test_a_damaged_part_is_found(tmp_path: Path, key: str, value: object) -> None:
    path = tmp_path / "a.json"
    state().save(path, "me")
    path.write_text(json.dumps(json.loads(path.read_text()) | {key: value}))
    with pytest.raises(InputError, match=r"a\.json: damaged checkpoint"):
        SearchState.load(path, "me")


def test_half_a_file_is_never_taken_for_a_whole_one(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    state().save(path, "me")
    whole = path.read_bytes()
    for end in range(0, len(whole) - 2, 97):
        path.write_bytes(whole[:end])
        with pytest.raises(InputError, match="damaged checkpoint"):
            SearchState.load(path, "me")


def test_a_state_that_cannot_be_written_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.json"
    state().save(path, "me")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(InputError, match=r"a\.json: cannot be written: No space left on device"):
        replace(state(), step=18).save(path, "me")
    assert SearchState.load(path, "me").step == 17
    assert [file.name for file in tmp_path.iterdir()] == ["a.json"]
