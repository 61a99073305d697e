"""From names to what runs: every form of a name at every place."""

import hashlib
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from lcca.experiments.campaign.config import LinkModel
from lcca.inputs.errors import InputError
from lcca.remy_plus.engine import Model
from lcca.remy_plus.fabric.builders import leaf_spine
from lcca.remy_plus.fabric.engine import FabricEngine
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.fabric.settings import settings
from lcca.remy_plus.files.policyfile import PolicyFile, write
from lcca.remy_plus.policies.hand_designed import HandDesigned
from lcca.remy_plus.policies.policy import Aimd, FixedWindow, WithHeader, compile_policy
from lcca.remy_plus.policies.rules import one_rule
from lcca.remy_plus.switches.markers import marking
from lcca.remy_plus.switches.transports import MARKED, TRANSPORTS, Transport
from lcca.signal_sets.headers.header import header
from lcca.signal_sets.headers.simulated import stamping
from lcca.signal_sets.load import Place, Runnable, each_of, resolve, shared_model
from lcca.trainers.tune.config import TuneConfig
from lcca.trainers.tune.space import Range

from ..fixtures import RunCommand

CONTROL = """\
import steps
class Mine:
    def start(self):
        return 9, 0
    def on_ack(self, ack):
        return 9, 0
"""
SPACE = Path(__file__).parents[2] / "configs/networks/default.yaml"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("dctcp", "dctcp"),
        ("{dctcp,dcqcn}@{red,step}", "dctcp@red dctcp@step dcqcn@red dcqcn@step"),
        ("dctcp@{red:pmax=0.1,kmin_bytes=9000,step}", "dctcp@red:pmax=0.1,kmin_bytes=9000 dctcp@step"),
        ("dcqcn{,@expert}", "dcqcn dcqcn@expert"),
        ("dcqcn:g={0.01,0.02},increase_us={5,9}", None),
        ("dcqcn:{increase_us=55,increase_us=300}", "dcqcn:increase_us=55 dcqcn:increase_us=300"),
        ("my.py:Mine:gain={0.5,1}", "my.py:Mine:gain=0.5 my.py:Mine:gain=1"),
    ],
)
def test_braces_are_every_combination(text: str, names: str | None) -> None:
    """The shell's own expansion is the second opinion, where no comma is between parameters."""
    if "pmax" not in text:
        shell = subprocess.run(["bash", "-c", f"echo {text}"], capture_output=True, text=True, check=True)
        assert each_of([text]) == shell.stdout.split()
    assert names is None or each_of([text, "aimd"]) == [*names.split(), "aimd"]


def test_braces_in_the_name_of_a_file_are_its_own(tmp_path: Path) -> None:
    (tmp_path / "{a,b}.json").write_text("")
    assert each_of([str(tmp_path / "{a,b}.json")]) == [str(tmp_path / "{a,b}.json")]
    (tmp_path / "a{b}").mkdir()
    (tmp_path / "a{b}" / "p.py").write_text(CONTROL.removeprefix("import steps\n"))
    mine = f"{tmp_path}/a{{b}}/p.py:Mine"
    assert each_of([mine]) == [mine] and resolve(mine).policy.source.name == "Mine"  # type: ignore[union-attr]
    assert each_of([f"{mine}:gain={{1,2}}"]) == [f"{mine}:gain=1", f"{mine}:gain=2"]
    with pytest.raises(InputError, match="braces must match"):
        each_of(["a{b/p.py:Mine"])


@pytest.mark.parametrize("text", ["x{a", "a}", "{a,{b}}", "}{"])
def test_braces_must_match(text: str) -> None:
    with pytest.raises(InputError, match="braces must match"):
        each_of([text])


def test_combinations_that_make_no_difference_are_refused_in_one_line() -> None:
    with pytest.raises(InputError) as caught:
        each_of(["{hpcc,dctcp,timely}@{red,step}"])
    assert str(caught.value).startswith("hpcc@red, hpcc@step, timely@red, timely@step: do not look at marks")
    assert each_of(["hpcc@red"]) == ["hpcc@red"]  # by itself it runs as it did


def test_transports_that_look_at_marks_are_those_whose_flows_they_change() -> None:
    topology = leaf_spine(2, 2, 2, 100, 40)  # queues are at uplinks
    flows = FabricFlows(np.array([0, 1]), np.array([2, 3]), np.full(2, 400_000), np.zeros(2))
    changed = []
    for name, kind in TRANSPORTS.items():
        if not kind.ideal:
            never, often = (
                FabricEngine(name, {}, settings(marker=marking("step", k_bytes=k))).run(topology, flows, 1)[
                    "flow_fct_ns"
                ]
                for k in (1e9, 1000)
            )
            changed += [name] if (never != often).any() else []
    assert sorted(changed) == sorted(MARKED)


def policy_json(folder: Path, file: PolicyFile, name: str = "policy.json") -> str:
    write(folder / name, file)
    return str(folder / name)


@pytest.mark.parametrize("place", ["engine", "ns3", "fabric"])
def test_a_file_runs_with_its_header_at_every_place(place: Place, tmp_path: Path) -> None:
    name = policy_json(tmp_path, PolicyFile(one_rule(("link",)), header="nosignal-8b"))
    found = resolve(name, place)
    assert found.policy == WithHeader(one_rule(("link",)), stamping(header("nosignal-8b")))
    assert found.header == header("nosignal-8b") and found.file.policy == one_rule(("link",))
    assert found.path == Path(name)
    assert found.digests == {name: hashlib.sha256(Path(name).read_bytes()).hexdigest()}


def test_names_of_hand_designed_policies() -> None:
    assert resolve("fixed-window:20", "engine").policy == FixedWindow(20)
    assert resolve("aimd", "fabric").policy == Aimd()
    assert isinstance(resolve("dctcp@red", "ns3").policy, HandDesigned)
    transport = resolve("dctcp@pred", "fabric").policy
    assert isinstance(transport, Transport) and transport.marker is not None
    assert resolve("ns3::TcpBic:Beta=0.7", "ns3").digests == {}


def test_what_a_class_imports_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "mine.py").write_text(CONTROL)
    digests = []
    for text in ("A = 1\n", "A = 2\n"):
        (tmp_path / "steps.py").write_text(text)
        found = resolve(f"{tmp_path}/mine.py:Mine", "engine")
        assert list(found.digests) == [f"{tmp_path}/mine.py"] and found.path == tmp_path / "mine.py"
        digests.append(found.digests)
    assert digests[0] != digests[1]


@pytest.mark.parametrize(
    ("name", "place", "words"),
    [
        ("dctpc", "fabric", r"'dctpc': neither a transport \(did you mean 'dctcp'\?\) nor the file of a policy"),
        ("dctpc:g=0.1", "fabric", "did you mean 'dctcp'"),
        ("dctpc", "ns3", "did you mean 'dctcp'"),
        ("hpcc", "engine", "^hpcc: a transport of fabrics, which networks have not: name a fabric scenario$"),
        ("hpcc:eta=0.9", "ns3", "a transport of fabrics"),
        ("dctcp", "engine", "^dctcp runs in ns-3 only: use --simulator ns3, or a fabric scenario$"),
        ("vegas", "engine", "^vegas runs in ns-3 only: use --simulator ns3$"),
        ("vegas", "fabric", "^vegas: runs in ns-3 only"),
        ("{0}/mine.py", "engine", "mine.py: name the class in it, as in {0}/mine.py:Mine$"),
        ("{0}/mine.py", "fabric", "mine.py: name the class in it"),
        ("{0}/x.yaml", "engine", "x.yaml: a YAML file, and no policy"),
        ("{0}/none.json", "engine", "none.json"),
        ("{0}/none.json", "fabric", "none.json"),
    ],
)
def test_what_cannot_be_is_told(name: str, place: Place, words: str, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(CONTROL)
    (tmp_path / "x.yaml").write_text("rtt: 1\n")
    with pytest.raises(InputError, match=words.format(tmp_path)):
        resolve(name.format(tmp_path), place)


def test_commands_tell_the_same(lcca: RunCommand, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(CONTROL)
    (tmp_path / "x.yaml").write_text("rtt: 1\n")
    for arguments, words in (
        (("compare", "aimd", tmp_path / "mine.py", "--on", SPACE), "name the class in it"),
        (("compare", "dctcp", "hpcc", "--on", SPACE, "--simulator", "ns3"), "hpcc: a transport of fabrics"),
        (("show", "policy", tmp_path / "x.yaml"), "a YAML file, and no policy"),
    ):
        answer = lcca(*arguments)
        assert answer.status == 2 and words in answer.err.replace("\n", " ")


def test_a_file_says_how_links_are_collected(lcca: RunCommand, tmp_path: Path, dna_of: Any) -> None:
    (tmp_path / "a.dna").write_bytes(dna_of(one_rule(("link",))))
    read = resolve(str(tmp_path / "a.dna"), "engine")
    assert read.notes and shared_model([read]) == Model(rplus_link_window=True)
    for i, (options, model) in enumerate(
        [
            ((), Model(rplus_link_window=True)),
            (("--link-interval", "20"), Model(20, rplus_link_window=True)),
        ]
    ):
        assert lcca("import", tmp_path / "a.dna", tmp_path / f"{i}.json", *options).status == 0
        found = resolve(str(tmp_path / f"{i}.json"), "engine")
        assert shared_model([resolve("aimd", "engine"), found]) == model and found.notes == ()
    compile_policy(found.policy)
    with pytest.raises(InputError, match=r"one interval for all policies .*0.json 10 µs and .* 20 µs"):
        shared_model(resolve(str(tmp_path / f"{i}.json"), "engine") for i in (0, 1))
    bad = policy_json(tmp_path, PolicyFile(one_rule(("link",)), provenance={"link_interval_us": "x"}), "bad.json")
    with pytest.raises(InputError, match=r"bad.json: provenance.link_interval_us: must be a number of µs > 0, got 'x'"):
        shared_model([resolve(bad, "engine")])


def test_a_tuning_refuses_a_header_which_it_would_leave_out(tmp_path: Path) -> None:
    name = policy_json(tmp_path, PolicyFile(FixedWindow(20), header="hpcc"))
    with pytest.raises(ValidationError, match="a policy with a header has no parameters to tune"):
        TuneConfig(policy=name, space={"window": Range(min=1, max=9)}, trials=2)


def test_policies_of_a_campaign_say_their_model() -> None:
    assert LinkModel().provenance == {}
    own = LinkModel(link_interval=20, rplus_link_window=True)
    assert own.provenance == {"link_interval_us": 20, "link_window": "rplus"}
    found = Runnable("x", "engine", Aimd(), PolicyFile(one_rule(("link",)), provenance=own.provenance))
    assert shared_model([found]) == own.build()
