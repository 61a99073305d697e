"""Stored files notice damage: any flipped bit, a file cut short, one file in another's place."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcca.inputs.errors import InputError
from lcca.inputs.files import digest_file, read_checked, read_with_digest, write_checked, write_with_digest

PAIRS = [(write_checked, read_checked), (write_with_digest, read_with_digest)]
Write = Callable[[Path, bytes], None]
Read = Callable[[Path, str], bytes]


@pytest.mark.parametrize(("write", "read"), PAIRS)
@given(payload=st.binary(max_size=200), data=st.data())
def test_any_flipped_bit_is_noticed(
    tmp_path_factory: pytest.TempPathFactory, write: Write, read: Read, payload: bytes, data: st.DataObject
) -> None:
    file = tmp_path_factory.mktemp("stored") / "file"
    write(file, payload)
    assert read(file, "") == payload
    content = bytearray(file.read_bytes())
    if not content:
        return
    bit = data.draw(st.integers(0, 8 * len(content) - 1))
    content[bit // 8] ^= 1 << bit % 8
    file.write_bytes(bytes(content))
    with pytest.raises(InputError, match=r"damaged .*; delete it"):
        read(file, "delete it")


@pytest.mark.parametrize(("write", "read"), PAIRS)
def test_a_neighbour_cut_short_or_lost_is_noticed(tmp_path: Path, write: Write, read: Read) -> None:
    write(tmp_path / "a", b"first")
    write(tmp_path / "b", b"second")
    (tmp_path / "a").write_bytes((tmp_path / "b").read_bytes()[:-1])
    with pytest.raises(InputError, match="damaged"):
        read(tmp_path / "a", "")
    (tmp_path / "b").unlink()
    with pytest.raises(InputError, match="cannot be read"):
        read(tmp_path / "b", "")


def test_a_file_in_the_place_of_another_is_noticed_by_its_digest(tmp_path: Path) -> None:
    write_with_digest(tmp_path / "a", b"first")
    write_with_digest(tmp_path / "b", b"second")
    (tmp_path / "b").replace(tmp_path / "a")
    with pytest.raises(InputError, match="damaged"):
        read_with_digest(tmp_path / "a", "")
    digest_file(tmp_path / "a").unlink()
    with pytest.raises(InputError, match="cannot be read"):
        read_with_digest(tmp_path / "a", "")
