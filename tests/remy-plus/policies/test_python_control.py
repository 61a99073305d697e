"""A congestion control in Python does bit for bit what the engine's own does, and says where it is wrong."""

import dataclasses
import hashlib
import math
import pickle
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from pytest import MonkeyPatch

from lcca.evaluation.trials.executors import runner_on
from lcca.gym_envs.batch.agent_slots import AgentSlots, Rules
from lcca.inputs.digests.files import digests_of_named_files
from lcca.inputs.errors import InputError
from lcca.inputs.model import Model
from lcca.inputs.names import ClassName, FileOrName, one_name
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.fabric.builders import star
from lcca.remy_plus.fabric.engine import FabricEngine
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.fabric.settings import FabricSettings
from lcca.remy_plus.files.policyfile import PolicyFile, dumps, load
from lcca.remy_plus.files.text import describe
from lcca.remy_plus.network import Network, NetworkList
from lcca.remy_plus.policies.agents import Agent
from lcca.remy_plus.policies.hand_designed import baseline
from lcca.remy_plus.policies.policy import Policy
from lcca.remy_plus.policies.python_control import PythonControl
from lcca.remy_plus.policies.rules import RuleTable
from lcca.remy_plus.topology import Topology
from lcca.signal_sets.load import resolve
from lcca.workers.processes import Processes

HERE = Path(__file__).parent
TABLE = Path(__file__).parents[3] / "configs" / "policies" / "link+queue.json"
NETWORKS = (
    Network(0, 2.0, 60.0, 3, 15.0, 400.0, 100.0, 0.0),
    Network(1, 1.0, 30.0, 2, 8.0, 300.0, 50.0, 0.02, topology=Topology.of("multi-bottleneck")),
    Network(2, 2.0, 40.0, 2, 10.0, 60.0, 100.0, 0.01, "bytes"),
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Copies of the controls and of a table beside them."""
    shutil.copy(HERE / "python_controls.py", tmp_path / "mine.py")
    shutil.copy(TABLE, tmp_path / "table.json")
    return tmp_path / "mine.py"


def columns(policies: list[Policy], engine: Engine | None = None) -> dict[str, bytes]:
    engine = engine or Engine(1500.0, jobs=2)
    k, n = (i.ravel() for i in np.indices((len(policies), len(NETWORKS))))
    compiled = [engine.compile(policy) for policy in policies]
    record = engine.run(compiled, NetworkList(NETWORKS), k, n, n + 7, keep_flows=True, keep_delays=True)
    assert record["sender_delivered"].sum() > 1000 and (record["sender_lost"] + record["sender_dropped"]).sum() > 10
    return {name: record[name].tobytes() for name in record.columns if name != "rule_hits"}


@pytest.mark.parametrize(("name", "engines"), [("Aimd", "aimd"), ("Aimd:decrease=0.7,initial=9", ""), ("Table", "")])
def test_a_copy_has_the_bits_of_the_engines_own(file: Path, name: str, engines: str) -> None:
    own = {"Aimd": "aimd", "Table": str(TABLE)}.get(name)
    expected = load(own).policy if own else type(baseline("aimd"))(decrease=0.7, initial_window=9)
    assert columns([load(f"{file}:{name}").policy]) == columns([expected])


@pytest.fixture
def real(file: Path) -> RuleTable:
    """The table with real windows and fractions of a packet, of either sign; its file is beside the controls."""
    whole, rng = load(TABLE).policy, np.random.default_rng(3)
    assert isinstance(whole, RuleTable)
    at = rng.random(len(whole)) < 0.5
    increment = np.where(at, rng.uniform(-1, 1, len(whole)), whole.increment + 0.3)
    multiple = np.where(at, rng.uniform(0.97, 1, len(whole)), whole.multiple)
    table = dataclasses.replace(whole, increment=increment, multiple=multiple, windows="real")
    (file.parent / "table.json").write_text(dumps(PolicyFile(table)))
    return table


@pytest.mark.slow
def test_a_table_of_real_windows_has_the_bits_of_its_copy(file: Path, real: RuleTable) -> None:
    copied = load(f"{file}:Table").policy
    found = columns([real])
    assert found == columns([copied])
    whole = load(TABLE).policy
    assert columns([whole]) != columns([dataclasses.replace(whole, windows="real")])
    changed = real.with_action(0, 0.5, 1, 0)
    actions = np.stack([changed.increment, changed.multiple, changed.pacing], axis=1)
    assert real.compile().population(actions[None])[0].__getstate__() == changed.compile().__getstate__()
    assert real.compile().with_action(0, 0.5, 1, 0).__getstate__() == changed.compile().__getstate__()
    with Processes(2) as pool:
        assert columns([real, changed], Engine(1500.0, runner=runner_on(pool))) == columns([real, changed])
    again = pickle.loads(pickle.dumps(real.compile()))
    assert again.__getstate__() == real.compile().__getstate__() != load(TABLE).policy.compile().__getstate__()


def test_signals_that_come_in_headers_come_in_them(file: Path) -> None:
    assert columns([load(f"{file}:FairShare").policy]) == columns([baseline("fair-rate")])


@pytest.mark.slow
def test_other_processes_have_the_text_as_it_was_read(file: Path) -> None:
    policies = [load(f"{file}:Aimd").policy, baseline("aimd"), load(f"{file}:Aimd:decrease=0.7").policy]
    here = columns(policies)
    file.write_text("raise SystemExit")
    with Processes(2) as pool:
        assert columns(policies, Engine(1500.0, runner=runner_on(pool))) == here
    again = pickle.loads(pickle.dumps(policies[0]))
    assert again == policies[0] != policies[2] and columns([again]) == columns([policies[0]])


@pytest.mark.parametrize(("name", "own"), [("Aimd", "aimd"), ("Table", str(TABLE))])
def test_a_fabric_runs_it_as_the_engines_own(file: Path, name: str, own: str) -> None:
    flows = FabricFlows(np.array([0, 1, 2]), np.array([3, 3, 3]), np.full(3, 60_000), np.array([0.0, 50.0, 900.0]))

    def record(policy: Policy) -> dict[str, bytes]:
        found = FabricEngine(policy, settings=FabricSettings()).run(star(4), flows)
        return {key: np.asarray(each).tobytes() for key, each in found.items() if key != "rule_hits"}

    assert record(load(f"{file}:{name}").policy) == record(load(own).policy)


def test_a_trial_knows_nothing_of_those_before_it(file: Path) -> None:
    policy, engine = load(f"{file}:Shared").policy, Engine(600.0, jobs=1)

    def windows(order: list[int]) -> dict[int, bytes]:
        record = engine.run([engine.compile(policy)], NetworkList(NETWORKS[:1]), [0] * 3, [0] * 3, order)
        return {seed: record["sender_delay_sum_us"].reshape(3, -1)[at].tobytes() for at, seed in enumerate(order)}

    found = windows([7, 8, 9])
    assert found == windows([9, 7, 8]) and len(set(found.values())) == 3
    flows = FabricFlows(np.array([0, 1]), np.array([2, 2]), np.full(2, 60_000), np.array([0.0, 5.0]))
    fabric = FabricEngine(policy, settings=FabricSettings())
    first, again = (fabric.run(star(3), flows)["flow_fct_ns"].tobytes() for _ in range(2))
    assert first == again


def test_an_episode_knows_nothing_of_those_before_it(file: Path) -> None:
    rules = Rules(Agent(("rtt_ratio",)), others=load(f"{file}:Shared").policy, duration=400.0)
    slots = AgentSlots(rules, [NETWORKS[0]], environments=1, slots=1, seed=5, jobs=1)

    def seen() -> list[bytes]:
        slots.reset(seed=5)
        found = []
        for _ in range(20):
            found.append(slots.observation.tobytes())
            slots.step(np.full((len(slots.ready), 1), 0.1))
        return found

    first = seen()
    assert len(set(first)) > 1 and seen() == first


def test_threads_of_environments_and_of_python_cannot_block_each_other(file: Path) -> None:
    def play(others: Policy) -> bytes:
        rules = Rules(Agent(("rtt_ratio",)), others=others, duration=400.0)
        slots = AgentSlots(rules, [NETWORKS[0]], environments=3, slots=1, seed=5, jobs=3)
        slots.reset()
        for _ in range(30):
            slots.step(np.full((len(slots.ready), 1), 0.1))
        return slots.observation.tobytes()

    python, expected = load(f"{file}:Aimd").policy, play(baseline("aimd"))
    found: list[bytes] = []
    threads = [threading.Thread(target=lambda: found.append(play(python)), daemon=True) for _ in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(60)
    assert found == [expected, expected]


def test_what_it_is_told_is_what_happened(file: Path) -> None:
    policy = load(f"{file}:Noted").policy
    assert isinstance(policy, PythonControl)
    told = vars(math)["told_to_noted"]
    told.clear()
    network = Network(0, 1.0, 20.0, 1, 0.0, 1e9, 1.0, 0.05)
    record = Engine(1000.0, jobs=1).run([policy.compile()], NetworkList([network]), [0], [0], [3], keep_flows=True)
    sequence = np.array([each.sequence for each in told])
    assert len(told) == record["trial_delivered"][0] and np.all(np.diff([each.now for each in told]) > 0)
    assert [each.lost for each in told[1:]] == (np.diff(sequence) - 1).tolist() and max(each.lost for each in told) > 0
    rtt, smallest = (np.array([getattr(each, name) for each in told]) for name in ("rtt", "smallest_rtt"))
    assert np.allclose(smallest, 21.0) and np.allclose(rtt[1:], smallest[1:] * [each.rtt_ratio for each in told[1:]])
    assert all(each.sent > each.sequence for each in told) and told[-1].sent == record["trial_sent"][0] - 1
    assert not any(each.late for each in told)


WRONG = {
    "Raises": ("# raises", "Raises.on_ack: ZeroDivisionError"),
    "Nan": ("# Nan", "Nan.on_ack returned a window of nan packets"),
    "Negative": ("# Negative", "a window of -1 packets; it must be 0 or more"),
    "Alone": ("# Alone", "returned 3; it must be a window in packets and a gap in µs"),
    "EndlessGap": ("# EndlessGap", "EndlessGap.start returned a gap of inf µs"),
    "Undeclared": ("# Undeclared", "ack has no 'queue'; add it to the class: signals = ('queue',)"),
    "Mistyped": ("# Mistyped", "did you mean 'rtt_ratio'?"),
    "Unknown": ("# Unknown", "unknown signal 'rtt_rato' (did you mean 'rtt_ratio'?)"),
    "OneText": ("# OneText", "signals: must be names, as in ('rtt_ratio',)"),
    "Dice": ("# Dice", "does otherwise with the same seed"),
    "NoStart": ("# NoStart", "class NoStart has no method start"),
    "Aimd:increase=much": ("", "'increase=much': write name=number"),
    "Aimd:incraese=2": ("def __init__", "unexpected keyword argument 'incraese'"),
    "Amid": ("", "no class 'Amid' (did you mean 'Aimd'?)"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said_with_its_line(file: Path, name: str) -> None:
    mark, said = WRONG[name]
    with pytest.raises(InputError) as caught:
        load(f"{file}:{name}")
    lines = file.read_text().splitlines()
    at = next((i + 1 for i, line in enumerate(lines) if mark and line.find(mark) >= 0), 0)
    assert said in str(caught.value)
    assert not mark or str(caught.value).startswith(f"{file}:{at}: ")


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.full)])
def test_what_fails_later_is_said_likewise(file: Path, jobs: int, make: Callable[[int], Engine]) -> None:
    with pytest.raises(InputError, match=rf"^{file}:\d+: Late.on_ack returned a window of nan"):
        columns([load(f"{file}:Late").policy], make(jobs))


@pytest.fixture
def make() -> Callable[[int], Engine]:
    return lambda jobs: Engine(3000.0, runner=runner_on(Processes(jobs))) if jobs > 1 else Engine(3000.0)


def test_a_text_that_is_no_python_or_not_there_is_said(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text("import math\nclass Mine(\n")
    (tmp_path / "needs.py").write_text("import math\nimport lcca_nothing\n")
    with pytest.raises(InputError, match=r"bad.py:2: '\(' was never closed"):
        load(f"{tmp_path}/bad.py:Mine")
    with pytest.raises(InputError, match=r"needs.py:2: ModuleNotFoundError"):
        load(f"{tmp_path}/needs.py:Mine")
    with pytest.raises(InputError, match=r"none.py: no such file"):
        load(f"{tmp_path}/none.py:Mine")
    with pytest.raises(InputError, match="no such module in Python"):
        load("lcca_nothing:Mine")


def test_bad_python_in_a_module_that_it_imports_is_said_in_a_line(tmp_path: Path, monkeypatch: MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "lcca_bad_steps.py").write_text("STEP = 1\nSTEP = (\n")
    (tmp_path / "mine.py").write_text("import lcca_bad_steps\nclass Mine:\n    pass\n")
    with pytest.raises(InputError) as caught:
        load(f"{tmp_path}/mine.py:Mine")
    assert str(caught.value) == f"{tmp_path}/lcca_bad_steps.py:2: '(' was never closed"
    (tmp_path / "mine.py").write_text(
        "class Mine:\n    def start(self): return 4, 0\n    def on_ack(self, ack):\n        import lcca_bad_steps\n"
    )
    with pytest.raises(InputError) as caught:
        load(f"{tmp_path}/mine.py:Mine")
    assert str(caught.value).startswith(f"{tmp_path}/mine.py:4: Mine.on_ack: SyntaxError: '(' was never closed")
    assert "\n" not in str(caught.value)


def test_a_module_is_found_where_python_finds_it(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (file.parent / "kept").mkdir()
    (file.parent / "kept" / "steps.py").write_text("STEP = 3\n")
    (file.parent / "kept" / "mine.py").write_text(
        "from .steps import STEP\nclass Mine:\n    def start(self): return STEP, 0\n"
        "    def on_ack(self, ack): return 4, 0\n"
    )
    monkeypatch.syspath_prepend(str(file.parent))
    policy = load("kept.mine:Mine").policy
    assert isinstance(policy, PythonControl) and policy.trial()()[1] == (3.0, 0.0)


def test_names_are_told_from_those_of_baselines() -> None:
    assert ClassName.of("a/my-cca.py:Mine:gain=0.5") == ClassName("a/my-cca.py", "Mine", "gain=0.5")
    assert ClassName.of("package.module:Mine") == ClassName("package.module", "Mine")
    assert ClassName("email", "C").package == "email" and ClassName("email.message", "C").package == "email"
    for name in (
        "aimd",
        "fixed-window:20",
        "ns3::TcpBic",
        "rcp:alpha=0.4",
        "dctcp@red:pmax=0.1",
        "policy.json",
        "my.py",
    ):
        assert ClassName.of(name) is None
    with pytest.raises(InputError, match="neither trained, tuned nor part of a campaign"):
        baseline("my_cca.py:Mine")


def test_a_class_in_a_file_has_one_name(file: Path, monkeypatch: MonkeyPatch) -> None:
    (file.parent / "inner").mkdir()
    monkeypatch.chdir(file.parent)
    for written in ("mine.py", "./mine.py", "inner/../mine.py", str(file), f"{file.parent}//mine.py"):
        assert one_name(f"{written}:Aimd:decrease=0.7") == "mine.py:Aimd:decrease=0.7"
    monkeypatch.chdir("inner")
    assert one_name("../mine.py:Aimd") == one_name(f"{file}:Aimd") == f"{file.resolve()}:Aimd"
    for other in ("aimd", "./none.py:Aimd", "../mine.py", "./table.json", "package.module:Mine", "ns3::TcpBic"):
        assert one_name(other) == other


def test_a_configuration_depends_on_the_text(file: Path) -> None:
    class Asked(Model):
        policy: FileOrName

    file.write_text(file.read_text().replace('files = ("table.json",)', ""))
    asked = Asked(policy=f"{file}:Aimd:decrease=0.7")
    before = digests_of_named_files(asked)
    assert before == {"policy": hashlib.sha256(file.read_bytes()).hexdigest()}  # it imports Python's own modules alone
    assert before == digests_of_named_files(Asked(policy=str(file)))
    file.write_text(file.read_text() + "# other\n")
    assert digests_of_named_files(asked) != before


@pytest.mark.slow
def test_a_configuration_depends_on_what_the_text_imports(file: Path, monkeypatch: MonkeyPatch) -> None:
    class Asked(Model):
        policy: FileOrName

    monkeypatch.syspath_prepend(str(file.parent))
    steps = file.parent / "lcca_own_steps.py"
    file.write_text("import lcca_own_steps\n" + file.read_text())
    digests, policies = set(), []
    for step in (1, 2):
        steps.write_text(f"STEP = {step}\n")
        policy = load(f"{file}:Aimd").policy
        assert isinstance(policy, PythonControl)
        found = digests_of_named_files(Asked(policy=f"{file}:Aimd"))
        assert found == {"policy": policy.source.digest} and policy.source.digest in "".join(policy.lines())
        digests.add(policy.source.digest)
        policies.append(policy)
    steps.unlink()
    assert len(digests) == 2 and policies[0] != policies[1]
    assert pickle.loads(pickle.dumps(policies[0])).source.digest == policies[0].source.digest


def test_a_configuration_depends_on_the_files_that_it_names(file: Path) -> None:
    class Asked(Model):
        policy: FileOrName

    asked = Asked(policy=f"{file}:Aimd")
    before = digests_of_named_files(asked)
    assert before == {"policy": load(asked.policy).provenance["sha256"]}
    table = file.parent / "table.json"
    table.write_text(table.read_text() + " ")
    assert digests_of_named_files(asked) != before
    table.unlink()
    with pytest.raises(InputError, match=r"table.json: cannot be read"):
        load(asked.policy)


READS = """
import importlib.util, os
from pathlib import Path
BESIDE = Path(__file__).parent
class Mine:
    files = ({named})
    def start(self):
        {way}
        return 4, 0
    def on_ack(self, ack):
        return 4, 0
"""
WAYS = {
    "open": 'open(BESIDE / "data.py").read()',
    "os.open": 'os.open(os.path.relpath(BESIDE / "data.py"), os.O_RDONLY)',
    "import": 's = importlib.util.spec_from_file_location("d", BESIDE / "data.py"); s.loader.exec_module('
    "importlib.util.module_from_spec(s))",
}


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_a_file_that_it_reads_has_to_be_named(tmp_path: Path, way: str) -> None:
    (tmp_path / "data.py").write_text("A = 1")
    mine = tmp_path / "mine.py"
    mine.write_text(READS.format(named="", way=WAYS[way]))
    with pytest.raises(InputError, match=r'mine.py:5: Mine reads data.py.*files = \("data.py",\)'):
        load(f"{mine}:Mine")
    mine.write_text(READS.format(named='"data.py",', way=WAYS[way]))
    first = load(f"{mine}:Mine").provenance["sha256"]
    (tmp_path / "data.py").write_text("A = 2")
    assert load(f"{mine}:Mine").provenance["sha256"] != first


def test_what_it_only_writes_need_not_be_named(tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text("")
    mine = tmp_path / "mine.py"
    mine.write_text(READS.format(named="", way='print("begun", file=open(BESIDE / "log.txt", "a"))'))
    load(f"{mine}:Mine")
    assert "begun" in (tmp_path / "log.txt").read_text()


@pytest.mark.parametrize(
    "of",
    [
        "hash('a') % 997 + hash('b') % 997 / 997",
        "sum(i * ord(c) for i, c in enumerate(set('abcdefghijklm'))) % 997",  # the order of a set of texts
        "__import__('os').getpid() * 7919 % 997",  # far apart for processes that follow one another
    ],
)
def test_what_differs_between_processes_is_refused(tmp_path: Path, of: str) -> None:
    """Trials run in several, and --jobs must not change a result."""
    mine = tmp_path / "mine.py"
    mine.write_text(
        f"class Mine:\n    def start(self): return 99, 1\n    def on_ack(self, ack): return 99, 1 + ({of}) / 100\n"
    )
    with pytest.raises(InputError, match=r"mine.py:1: Mine does otherwise in another process"):
        load(f"{mine}:Mine")


def test_a_class_that_ends_the_process_is_refused(tmp_path: Path) -> None:
    mine = tmp_path / "mine.py"
    mine.write_text(
        "import os\nclass Mine:\n    def start(self): return 4, 0\n    def on_ack(self, ack): os._exit(0)\n"
    )
    with pytest.raises(InputError, match=r"mine.py:2: Mine ends the process that it runs in, with status 0$"):
        load(f"{mine}:Mine")
    mine.write_text(mine.read_text().replace("_exit(0)", "kill(os.getpid(), 9)"))
    with pytest.raises(InputError, match=r"by signal 9$"):
        load(f"{mine}:Mine")


@pytest.mark.parametrize(("error", "where"), [("BaseException", "on_ack"), ("GeneratorExit", "start"), ("Own", "")])
def test_any_exception_is_said_with_its_line(tmp_path: Path, error: str, where: str) -> None:
    mine = tmp_path / "mine.py"
    raised = f"raise {error}('no')"
    lines = {name: raised if name == where else "return 4, 0" for name in ("start", "on_ack")}
    mine.write_text(
        "class Own(BaseException): pass\n"
        f"class Mine:\n    def start(self): {lines['start']}\n    def on_ack(self, ack): {lines['on_ack']}\n"
        + (raised if not where else "")
    )
    with pytest.raises(InputError, match=r"mine.py:\d: (Mine\.\w+: )?\w+: no$"):
        load(f"{mine}:Mine")


@pytest.mark.slow
def test_a_header_is_charged_and_has_to_carry_what_it_looks_at(file: Path) -> None:
    file.write_text(
        "class Told:\n    signals = ('queue',)\n    header = 'nosignal-8b'\n    def start(self): return 9, 0\n"
        "    def on_ack(self, ack): return 9 - min(ack.queue, 8), 0\n"
    )
    charged, free = (resolve(f"{file}:Told", "engine", charged=each).policy for each in (True, False))
    assert columns([charged]) != columns([free])
    text = file.read_text()
    file.write_text(text.replace("nosignal-8b", "my.yaml"))
    with pytest.raises(InputError, match=r"mine.py:3: header: name one of"):
        load(f"{file}:Told")
    file.write_text(text.replace("('queue',)", "('flows',)"))
    with pytest.raises(InputError, match="flows"):
        resolve(f"{file}:Told", "engine")


def test_it_is_shown_and_has_no_file(file: Path) -> None:
    found = load(f"{file}:Aimd:decrease=0.7")
    assert "decrease = 0.7" in describe(found) and found.provenance["sha256"] in describe(found)
    with pytest.raises(InputError, match="has no policy file"):
        dumps(PolicyFile(found.policy))
