"""What a disk holds after a loss of power: nothing that was written later without what was written before.

A model of a disk: bytes of a file are on it once the file is flushed, its name once its folder is, and the name of a
folder once the folder above it is.
"""

import os
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from lcca.evaluation.trials.store import TrialStore
from lcca.evaluation.trials.stored import write_state
from lcca.inputs.files import write_atomically, write_with_digest


class Disk:
    """Notes what is flushed, and at each write which files are named before they are on the disk."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root, self.flushed, self.named = root, set[int](), set[str]()
        self.events: list[str] = []
        flush, replace = os.fsync, os.replace

        def fsync(descriptor: int) -> None:
            flush(descriptor)
            self.flushed.add(os.fstat(descriptor).st_ino)
            path = Path(os.readlink(f"/proc/self/fd/{descriptor}"))
            if path.is_dir():
                self.named |= {str(each) for each in path.iterdir()}
                self.events.append(f"folder {path.name}")

        def put(source: Any, target: Any) -> None:
            assert os.stat(source).st_ino in self.flushed, "named before its bytes are on the disk"
            others = [each for each in root.rglob("*") if each != Path(source)]
            assert self.named >= {*map(str, others)}, "written before another one is on the disk"
            replace(source, target)
            self.events.append(Path(target).name)

        monkeypatch.setattr(os, "fsync", fsync)
        monkeypatch.setattr(os, "replace", put)

    @property
    def lost(self) -> list[Path]:
        """What a loss of power now would take."""
        return [each for each in self.root.rglob("*") if str(each) not in self.named or not self._flushed(each)]

    def _flushed(self, path: Path) -> bool:
        return path.is_dir() or path.stat().st_ino in self.flushed


def test_a_part_is_on_the_disk_when_it_is_declared_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = Disk(tmp_path, monkeypatch)
    store = TrialStore(tmp_path / "runs" / "run" / "trials")
    for part in "ab":
        store.add(part, pd.DataFrame({"x": [1]}))
        assert not disk.lost
        write_state(store.folder.parent / "manifest.json", {"state": part})
        assert not disk.lost
    names = ["part-a.parquet.sha256", "folder trials", "part-a.parquet", "folder trials", "manifest.json", "folder run"]
    assert [each for each in disk.events if each not in ("folder runs", f"folder {tmp_path.name}")][1:7] == names


def test_a_digest_is_on_the_disk_before_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = Disk(tmp_path, monkeypatch)
    write_with_digest(tmp_path / "a", b"content")
    folder = f"folder {tmp_path.name}"
    assert disk.events == ["a.sha256", folder, "a", folder]


def test_a_folder_that_cannot_be_flushed_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some file systems flush no folders."""
    opened = os.open

    def refused(path: Any, flags: int, *more: Any, **options: Any) -> int:
        if flags & os.O_DIRECTORY:
            raise OSError(22, "Invalid argument")
        return opened(path, flags, *more, **options)

    monkeypatch.setattr(os, "open", refused)
    write_atomically(tmp_path / "a", b"content")
    assert (tmp_path / "a").read_bytes() == b"content"
