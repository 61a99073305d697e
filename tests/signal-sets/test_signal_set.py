"""Signal sets: the packaged ones, and those of users."""

from importlib import resources

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from lcca.inputs.errors import InputError
from lcca.remy_plus.core.signals import OF_HOSTS
from lcca.remy_plus.policies.rules import one_rule
from lcca.signal_sets.registry import SIGNALS
from lcca.signal_sets.signal_set import SignalSet, packaged_sets, signal_set

E2E = ("send_ewma", "receive_ewma", "rtt_ratio", "slow_receive_ewma")
PAPER = {
    "e2e": E2E,
    "link": (*E2E, "link"),
    "queue": (*E2E, "queue"),
    "link+queue": (*E2E, "link", "queue"),
    "no-rtt": ("send_ratio", "slow_receive_ratio"),
    "no-send-rate": ("receive_ewma", "rtt_ratio", "slow_receive_ewma"),
    "no-receive-rate": ("send_ewma", "rtt_ratio"),
    "mark": (*E2E, "mark"),
    "hop-delay": (*E2E, "hop_delay"),
    "queue-time": (*E2E, "queue_time"),
    "flows": (*E2E, "flows"),
    "loss": ("loss",),
    "loss+rtt": ("loss", "rtt_ratio"),
    "loss+link": ("loss", "link"),
    "loss+queue": ("loss", "queue"),
    "link-smoothed": (*E2E, "link_ewma"),
    "queue-smoothed": (*E2E, "queue_ewma"),
    "link+queue-smoothed": (*E2E, "link_ewma", "queue_ewma"),
    "e2e-one-way": ("send_ewma", "receive_ewma", "one_way_ratio", "slow_receive_ewma"),
    "link-ac": (*E2E, "available_capacity"),
    "link-ac+queue": (*E2E, "available_capacity", "queue"),
}


def test_those_of_the_paper_are_packaged():
    assert {name: signal_set(name).signals for name in PAPER} == PAPER


@pytest.mark.parametrize("name", packaged_sets())
def test_packaged_sets_are_complete(name):
    found = signal_set(name)
    assert found.name == name
    assert found.title and found.doc
    of_tables = tuple(each for each in found.signals if each not in OF_HOSTS)
    assert one_rule(of_tables).signals == of_tables
    assert (resources.files("lcca.signal_sets") / "sets" / f"{name}.yaml").is_file()


def test_titles_differ():
    titles = [found.title for found in packaged_sets().values()]
    assert len(set(titles)) == len(titles)


@pytest.mark.parametrize(("name", "bits"), [("e2e", 0), ("link", 32), ("link+queue", 64), ("link+queue-smoothed", 64)])
def test_header_bits_are_those_of_the_papers_header(name, bits):
    assert signal_set(name).header_bits == bits


def test_a_shared_header_field_counts_once():
    both = SignalSet(name="both", title="Both", signals=("queue", "queue_ewma", "rtt_ratio"))
    assert both.header_bits == 32
    assert [member.name for member in both.members] == ["queue", "queue_ewma", "rtt_ratio"]


def test_signal_sets_are_values():
    found = signal_set("e2e")
    assert hash(found) == hash(found.model_copy())
    with pytest.raises(ValidationError):
        found.name = "other"


def test_a_users_file_is_read(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("name: mine\ntitle: Mine\nsignals:\n  - queue  # raw\n  - rtt_ratio\n")
    assert signal_set(path) == SignalSet(name="mine", title="Mine", signals=("queue", "rtt_ratio"))
    assert type(signal_set(path).name) is str


FORMULA = "name: x\ntitle: X\nsignals:\n  - rtt_ratio\n  - name: {}\n    expr: {}\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: x\ntitle: X\nsignals: []\n", "mine.yaml:3: signals: "),
        ("name: x\ntitle: X\n", "mine.yaml:1: signals: required key is missing"),
        ("name: x\ntitle: X\nsignals: [queue, queue]\n", "mine.yaml:3: signals: 'queue' is listed twice"),
        (
            "name: x\ntitle: X\nsignals: [quue]\n",
            r"mine.yaml:3: signals: unknown signal 'quue' \(did you mean 'queue'\?\)",
        ),
        ("name: x\ntitle: X\nsignals:\n  - queue\n  - 3\n", r"mine.yaml:5: signals.1: must be text, found 3"),
        ("name: x\ntitle: X\nsignals: queue\n", "mine.yaml:3: signals: must be a list, found 'queue'"),
        ("nme: x\ntitle: X\nsignals: [queue]\n", r"mine.yaml:1: nme: unknown key \(did you mean 'name'\?\)"),
        ("name: a b\ntitle: X\nsignals: [queue]\n", "mine.yaml:1: name: "),
        ("name: ../x\ntitle: X\nsignals: [queue]\n", "mine.yaml:1: name: "),
        (
            FORMULA.format("queue", "rtt_ratio"),
            "mine.yaml:5: signals.1.name: 'queue' is a registered signal; choose an",
        ),
        (
            FORMULA.format("own", "queue * rtt_rato"),
            r"mine.yaml:6: signals.1.expr: 'queue \* rtt_rato': there is no 'rtt_rato' among the registered signals "
            r"\(did you mean 'rtt_ratio'\?\)",
        ),
        (FORMULA.format("own", "queue *"), r"mine.yaml:6: signals.1.expr: 'queue \*' is no formula; it may have num"),
        (FORMULA.format("own", "rtt ** 2"), r"mine.yaml:6: signals.1.expr: 'rtt \*\* 2': no Pow here"),
        (FORMULA.format("a b", "queue"), "mine.yaml:5: signals.1.name: "),
        (FORMULA.format("own", "queue") + "    unt: us\n", r"mine.yaml:7: signals.1.unt: unknown key .*'unit'"),
        (
            FORMULA.format("own", "queue") + "  - {name: own, expr: link}\n",
            "mine.yaml:3: signals: 'own' is listed twice",
        ),
    ],
    ids=lambda value: value[:30],
)
def test_bad_files_are_told(tmp_path, text, message):
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        signal_set(path)


def test_all_errors_come_at_once(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("title: ''\nsignals: []\nextra: 1\n")
    with pytest.raises(InputError) as caught:
        signal_set(path)
    assert len(str(caught.value).splitlines()) == 4


def test_a_formula_is_a_signal(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(FORMULA.format("power", "queue  / receive_ewma") + "    unit: packets/us\n")
    found = signal_set(path)
    assert found.signals == ("rtt_ratio", "power [packets/µs] = queue / receive_ewma")
    assert SignalSet.model_validate(found.model_dump(mode="json")) == found
    assert one_rule(found.signals).signals == found.signals
    assert found.header_bits == 32
    power = found.members[1]
    assert (power.name, power.source, power.unit, power.doc) == (
        *("power", "in-network", "packets/µs", "= queue / receive_ewma"),
    )


def test_unknown_names_get_a_suggestion():
    with pytest.raises(InputError, match=r"unknown signal set 'link\+queu' \(did you mean 'link\+queue'\?\)"):
        signal_set("link+queu")


@given(st.text(max_size=60))
@settings(max_examples=100, deadline=None)
def test_random_text_never_crashes(tmp_path_factory, text):
    path = tmp_path_factory.getbasetemp() / "random.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError):
        signal_set(path)


@given(st.lists(st.sampled_from(sorted(SIGNALS)), min_size=1, unique=True))
def test_any_choice_of_signals_is_a_set(signals):
    assert SignalSet(name="x", title="X", signals=tuple(signals)).signals == tuple(signals)
