"""`lcca show headers` and `lcca show header`."""

from pathlib import Path

from ..fixtures import RunCommand

CANDIDATE = """\
name: mine
title: Mine
placement: {layer: l2, fixed_bits: 16}
fields:
  - {name: queue, source: qlen_pkts, bits: 6, encode: {kind: log, base: 1.2, min: 1, zero: true}, agg: max}
"""


def test_headers_are_listed(lcca: RunCommand) -> None:
    answer = lcca("show", "headers")
    assert answer.status == 0
    assert any(line.split()[:3] == ["int-md", "16", "B"] for line in answer.out.splitlines())
    assert {found["name"] for found in lcca("show", "headers", "--json").json()} >= {"none", "hpcc", "csig-wide-nqd"}


def test_a_header_is_shown(lcca: RunCommand) -> None:
    found = lcca("show", "header", "hpcc", "--json").json()
    assert sorted(found) == ["fields", "name", "operations", "per_hop_bytes", "state_bits", "wire_bytes"]
    assert (found["name"], found["wire_bytes"], found["per_hop_bytes"]) == ("hpcc", 42, 0)
    assert [field["bits"] for field in found["fields"]] == [3, 24, 20, 17]
    assert "reserves room for 5 hops of 8 B" in lcca("show", "header", "hpcc").out


def test_a_file_is_shown(lcca: RunCommand, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(CANDIDATE)
    assert lcca("show", "header", str(path), "--json").json()["wire_bytes"] == 3
    path.write_text(CANDIDATE.replace("agg: max", "agg: mx"))
    answer = lcca("show", "header", str(path))
    assert answer.status == 2
    assert f"{path}:5: fields.0.agg: there is no aggregation 'mx' (did you mean 'max'?)" in answer.err


def test_an_unknown_header_is_told(lcca: RunCommand) -> None:
    answer = lcca("show", "header", "csig-compact-abv")
    assert answer.status == 2
    assert "did you mean 'csig-compact-abw'?" in answer.err
