from pathlib import Path

import numpy as np
import pytest

from lcca.evaluation.scenarios.sizes import flow_sizes
from lcca.evaluation.trials.running import run_record
from lcca.inputs.errors import InputError
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.network import open_network
from lcca.remy_plus.policies.policy import FixedWindow
from lcca.remy_plus.workload import OpenFlows

# Means of the tables in bytes, computed by others from the same points (linear interpolation).
MEANS = {
    "websearch": 1_711_250,
    "fb-hadoop": 120_421,
    "ali-storage": 40_870,
    "google-rpc": 2_892,
    "datamining": 7_470_236,
}


@pytest.mark.parametrize(("name", "mean"), MEANS.items())
def test_packaged_tables_have_their_published_means(name: str, mean: float) -> None:
    assert flow_sizes(name, packet_bytes=1).mean_packets == pytest.approx(mean + 0.5, rel=1e-3)


def test_datamining_has_the_mean_that_simulators_state() -> None:
    """5,117 packets; the 7.41 MB that papers quote are as many packets of 1,448 bytes."""
    found = flow_sizes("datamining", packet_bytes=1460)
    assert found.mean_packets == pytest.approx(5117, abs=1)
    assert found.mean_packets * 1448 == pytest.approx(7.41e6, rel=0.001)
    shares = np.interp(np.array([1, 2, 3, 7, 267, 2107, 66_667]) + 1e-9, found.packets, found.cumulative)
    assert shares == pytest.approx([0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99])


def test_half_of_the_datamining_flows_are_one_packet() -> None:
    network = open_network(0, 3.0, 25.0, OpenFlows(0.3, flow_sizes("datamining", packet_bytes=1460)))
    record, _ = run_record(Engine(1e6, jobs=1), {"w": FixedWindow(76)}, [network], range(5), keep_flows=True)
    assert (record["flow_length"] == 1).mean() == pytest.approx(0.5, abs=0.1)


def test_uniform_by_name() -> None:
    found = flow_sizes("uniform:3000:6000", packet_bytes=1)
    assert (found.packets, found.cumulative) == ((3000, 6000), (0, 1))
    assert found.mean_packets == pytest.approx(4500.5)  # rounded up to whole bytes
    assert flow_sizes("uniform:3000:6000", 1000).mean_packets == pytest.approx((4 + 5 + 6) / 3)


def test_lognormal_by_name() -> None:
    found = flow_sizes("lognormal:9:1", packet_bytes=1)
    assert found.mean_packets == pytest.approx(np.exp(9.5), rel=0.01)


@pytest.mark.parametrize(
    "name", ["websearsh", "lognormal:x:1", "lognormal:1:-1", "uniform:3", "uniform:6:3", "missing.yaml"]
)
def test_bad_names_are_one_clear_error(name: str) -> None:
    with pytest.raises(InputError, match=name.split(":")[0]):
        flow_sizes(name)


def test_bad_table(tmp_path) -> None:
    file = tmp_path / "t.yaml"
    file.write_text("name: t\nsource: me\npoints: [[0, 0], [10, 50], [5, 100]]\n")
    with pytest.raises(InputError, match=r"t\.yaml:3: points.2: sizes and per cents must not fall"):
        flow_sizes(file)


@pytest.mark.parametrize("head", ["cumulative", "cdf"])
@pytest.mark.parametrize("shares", [(0, 0.25, 1), (0, 25, 100)])
def test_a_csv_file(shares: tuple[float, ...], head: str, tmp_path: Path) -> None:
    """Shares or per cent, as the last one says."""
    rows = "".join(f"{size},{share}\n" for size, share in zip((1000, 3000, 9000), shares, strict=True))
    with_units = rows.replace("000,", " kB,")
    for text in (rows, with_units):
        (tmp_path / "sizes.csv").write_text(f"bytes,{head}\n" + text)
        found = flow_sizes(tmp_path / "sizes.csv", 1000)
        assert (found.packets, found.cumulative) == ((1, 3, 9), (0, 0.25, 1))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ":1: column 'bytes' is missing; the first line must name the columns bytes,cumulative"),
        ("1000,0\n3000,1\n", ":1: column 'bytes' is missing; the first line must name the columns bytes,cumulative"),
        ("bytes,cumulative\n1000,0\n3000\n", ":3: must have 2 cells as the first line has, found 1"),
        (
            "bytes;cumulative\n1000;0\n3000;0,5\n",
            ":1: columns are separated by ';'; separate them by commas, with",
        ),
        ("bytes,cumulative\n1000,0\n3000,0,5\n", ":3: must have 2 cells .*, found 3; decimals take a point"),
        (
            "bytes,cumulative\n# mice\n1000,0\n",
            ":2: begins with '#'; CSV has no comments but above its first line: leave the line out",
        ),
        ("bytes,cumulative,note\n1000,0,mice\n", ":1: column 3, 'note', is unknown; leave it out"),
        ("bytes,cumulative,cdf\n1000,0,0\n", ":1: column 'cumulative' stands there twice"),
        ("bytes,cumulative\n1000,٠\n", ":2: cumulative: must be >= 0 and finite, found '٠'"),
        (
            "bytes,cumulative\n1 Gbps,0\n",
            ":2: bytes: '1 Gbps' is a rate; give a plain number of bytes, or a unit",
        ),
        ("bytes,cumulative\n1000,0\n3000,0.9\n", ":3: cumulative: must end at 1, or at 100 per cent, not at 0.9"),
        ("bytes,cumulative\n", "has no rows; give two or more"),
        ("bytes,cumulative\n1000,1\n", ":2: must have at least 2 items"),
        ("bytes,cumulative\n1000,0\n1e13,1\n", r":3: sizes are at most 1e\+12 bytes"),
        (
            "bytes,cumulative\n1000,0.5\n3000,1\n",
            ":2: points must begin at 0 per cent, not at 50: put one at 0 before the first, of its 1000 bytes if",
        ),
        ("bytes,cumulative\n1000,0\n500,1\n", ":3: sizes and per cents must not fall"),
        ("bytes,cumulative\n1000,0\ninf,1\n", ":3: bytes: must be a number, found 'inf'"),
    ],
)
def test_a_csv_file_that_cannot_be(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "sizes.csv").write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        flow_sizes(tmp_path / "sizes.csv")
    assert str(caught.value).startswith(str(tmp_path / "sizes.csv"))
