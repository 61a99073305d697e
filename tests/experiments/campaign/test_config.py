from pathlib import Path

import pytest

from lcca.experiments.campaign.config import CampaignConfig, read_campaign
from lcca.experiments.learning.plan import learners
from lcca.experiments.runs.folder import resolved_yaml
from lcca.inputs.errors import ConfigError
from lcca.signal_sets.signal_set import signal_set

from ...fixtures import TINY, RunCommand

CONFIGS = Path(__file__).parents[3] / "configs"


def write(folder: Path, text: str, name: str = "a.yaml") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def changed(old: str, new: str) -> str:
    assert TINY.count(old) == 1
    return TINY.replace(old, new)


def error(path: Path, *overrides: str) -> str:
    with pytest.raises(ConfigError) as caught:
        read_campaign(path, overrides)
    return str(caught.value).replace(f"{path.parent}/", "")


CAMPAIGNS = [path for part in ("", "paper/", "headers/", "fabric/signals") for path in CONFIGS.glob(f"{part}*.yaml")]


@pytest.mark.parametrize("path", CAMPAIGNS, ids=lambda path: f"{path.parent.stem}-{path.stem}")
def test_the_campaigns_that_ship_are_valid(path: Path) -> None:
    config = read_campaign(path)
    assert len(learners(config, config.seeds)) == len(config.candidates) * len(config.utilities) * len(config.seeds)


def test_a_training_may_begin_with_a_given_table(tmp_path: Path) -> None:
    write(tmp_path, (CONFIGS / "policies" / "fair-rate.json").read_text(), "tables/mine.json")
    sets = "[loss+rtt, {name: rate, title: Rate, signals: [rtt_ratio, fair_rate]}]"
    text = changed("signal_sets: [loss+rtt, loss+queue]", f"signal_sets: {sets}\nstart: {{rate: tables/mine.json}}")
    config = read_campaign(write(tmp_path, text))
    plain = read_campaign(config_file := write(tmp_path, text), ["start=scratch"])
    assert list(config.starts) == ["rate"] and config.starts["rate"].pacing_kind == "1/fair_rate"
    keys = [[learner.key(each) for learner in learners(each, each.seeds)] for each in (config, plain)]
    assert keys[0][0] == keys[1][0] and keys[0][1] != keys[1][1]  # the other set's training is the same one
    before = config.hash
    write(tmp_path, (tmp_path / "tables/mine.json").read_text().replace("1.02", "1.05"), "tables/mine.json")
    assert read_campaign(config_file).hash != before


def test_units_change_no_hash_and_one_packet_is_that_of_all(tmp_path: Path) -> None:
    path = write(tmp_path, TINY)
    plain = read_campaign(path)
    told = read_campaign(path, ["networks.rtt={min: 10 us, max: 0.02 ms, step: 5000 ns}", "networks.duration=1 ms"])
    assert told.hash == plain.hash and resolved_yaml(told) == resolved_yaml(plain)
    by_default = read_campaign(path, ["networks.link_rate=24 Gbps"])
    by_campaign = read_campaign(path, ["networks.link_rate=16 Gbps", "packet_bytes=1 kB"])
    by_networks = read_campaign(path, ["networks.link_rate=16 Gbps", "networks.packet_bytes=1000"])
    assert [each.network_space.link_rate.min for each in (by_default, by_campaign, by_networks)] == [2.0] * 3
    assert by_campaign.hash == by_networks.hash and by_networks.packet_bytes == 1000
    assert "packet_bytes: must be that of networks (900), got 1000" in error(
        path, "networks.packet_bytes=900", "packet_bytes=1000"
    )
    twice = error(path, "packet_bytes=fast", "networks.link_rate=16 Gbps")
    assert twice.count("\n") == 0 and "packet_bytes: must be a number, found 'fast'" in twice


def test_the_papers_campaign_is_that_of_section_5() -> None:
    config = read_campaign(CONFIGS / "paper" / "signals-default.yaml")
    assert [each.name for each in config.signal_sets] == ["e2e", "link", "queue", "link+queue"]
    assert (config.trainer.rounds, config.trainer.networks, config.baseline) == (5, 200, "e2e")
    assert [each.name for each in config.utilities] == ["default"]
    assert config.networks.size == 1_755_600


BAD_VALUES = {
    "a training seed that numbers no networks": (
        "training_seeds: [1, 2]",
        "training_seeds: [1, 1000000000001]",
        "a.yaml:15: training_seeds",
    ),
    "a start that is no table": (
        "seed: 1",
        f"seed: 1\nstart: {{loss+rtt: {CONFIGS / 'policies' / 'xcp.json'}}}",
        "xcp.json: a training begins with a rule table",
    ),
    "a start of nobody": (
        "seed: 1",
        f"seed: 1\nstart: {{loss+rt: {CONFIGS / 'policies' / 'e2e.json'}}}",
        "start.loss+rt: no signal set or header has this name (did you mean 'loss+rtt'?)",
    ),
    "a start that sees more": (
        "seed: 1",
        f"seed: 1\nstart: {{loss+rtt: {CONFIGS / 'policies' / 'fair-rate.json'}}}",
        "start.loss+rtt: fair_rate missing, which the table looks at",
    ),
    "pacing by what a set lacks": (
        "rounds: 2",
        "pacing: 1/fair_rate, rounds: 2",
        "a.yaml:1: loss+rtt: trainer.pacing: 1/fair_rate needs fair_rate among the signals; or auto",
    ),
    "pacing by nothing": ("rounds: 2", "pacing: 1/fare_rate, rounds: 2", "(did you mean 'fair_rate'?), or 'auto'"),
    "unknown key": ("seed: 1", "sede: 1", "a.yaml:2: sede: unknown key (did you mean 'seed'?)"),
    "a key of before": ("seed: 1", "elsewhere: []", "a.yaml:2: elsewhere: unknown key"),
    "unknown key below": (
        "rounds: 2",
        "rouns: 2",
        "a.yaml:14: trainer.rouns: unknown key (did you mean 'rounds'?)",
    ),
    "missing key": ("name: tiny\n", "", "a.yaml:1: name: required key is missing"),
    "true for a number": ("rounds: 2", "rounds: true", "a.yaml:14: trainer.rounds: must be a whole number, found true"),
    "nothing": ("seed: 1", "seed:", "a.yaml:2: seed: must be a whole number, found nothing"),
    "NaN": ("loss: 0.01", "loss: .nan", "a.yaml:10: networks.loss: "),
    "no duration": ("duration: 1000", "duration: 0", "a.yaml:11: networks.duration: must be > 0, found 0"),
    "a duration too short": ("duration: 1000", "duration: 20", "duration must exceed rtt + 1/link_rate"),
    "unknown signal set": (
        "signal_sets: [loss+rtt, loss+queue]",
        "signal_sets: [loss+rtt, los+queue]",
        "a.yaml:12: signal_sets.1: unknown signal set 'los+queue' (did you mean 'loss+queue'?)",
    ),
    "signals of hosts on networks": (
        "signal_sets: [loss+rtt, loss+queue]",
        "signal_sets: [loss+rtt, e2e+trims]",
        "a.yaml:1: e2e+trims: trims: known to the hosts of a fabric, and to laws that are learnt "
        "there (trainer.kind: law); networks, ns-3, environments and other policies have no such signal",
    ),
    "a signal set twice": (
        "signal_sets: [loss+rtt, loss+queue]",
        "signal_sets: [loss+rtt, loss+rtt]",
        "a.yaml:12: signal_sets: 'loss+rtt' is listed twice",
    ),
    "an unknown signal": (
        "signal_sets: [loss+rtt, loss+queue]",
        "signal_sets: [loss+rtt, {name: mine, title: Mine, signals: [qeue]}]",
        "unknown signal 'qeue' (did you mean 'queue'?)",
    ),
    "a baseline that is not trained": (
        "baseline: loss+rtt",
        "baseline: e2e",
        "a.yaml:13: baseline: the baseline 'e2e' is none of the campaign's signal_sets (loss+rtt, loss+queue)",
    ),
    "no baseline": (
        "baseline: loss+rtt\n",
        "",
        "a.yaml:1: baseline: the baseline 'e2e' is none of the campaign",
    ),
    "unknown utility": (
        "seed: 1",
        "utilities: [defalt]",
        "a.yaml:2: utilities.0: unknown utility 'defalt' (did you mean 'default'?)",
    ),
    "no utility": ("seed: 1", "utilities: []", "a.yaml:2: utilities: must have at least 1 item"),
    "a utility twice": ("seed: 1", "utilities: [2t, 2t]", "a.yaml:2: utilities: '2t' is listed twice"),
    "a utility that names no file": (
        "seed: 1",
        "utilities: [{name: ../up, throughput_weight: 1, delay_weight: 1}]",
        "a.yaml:2: utilities.0.name: must match",
    ),
    "unknown trainer": ("kind: rplus", "kind: rpluss", "a.yaml:14: trainer.kind: must be"),
    "no training seed": (
        "training_seeds: [1, 2]",
        "training_seeds: []",
        "a.yaml:15: training_seeds: must have at least 1 item",
    ),
    "a training seed twice": (
        "training_seeds: [1, 2]",
        "training_seeds: [1, 1]",
        "a.yaml:15: training_seeds: 1 is listed twice",
    ),
    "a name that is no folder's": ("name: tiny", "name: ../tiny", "a.yaml:1: name: must match"),
    "too few pairs": ("pairs: 96", "pairs: 2", "a.yaml:17: test.pairs: must be >= 20, found 2"),
    "a margin of 0": (
        "seed: 1",
        "settle: {margin_percent: 0}",
        "a.yaml:2: settle.margin_percent: must be > 0, found 0",
    ),
}


@pytest.mark.parametrize("case", BAD_VALUES)
def test_bad_input_is_told_by_file_line_and_key(tmp_path: Path, lcca: RunCommand, case: str) -> None:
    old, new, expected = BAD_VALUES[case]
    path = write(tmp_path, changed(old, new))
    assert expected in error(path)
    answer = lcca("sweep", path, "--out", tmp_path / "run", "--json")
    assert answer.status == 2
    assert answer.out == ""
    assert expected.rpartition("a.yaml:")[2] in answer.err
    assert "Traceback" not in answer.err
    assert not (tmp_path / "run").exists()


def test_all_errors_are_told_at_once(tmp_path: Path) -> None:
    text = changed("seed: 1", "sede: 1").replace("pairs: 96", "pairs: -1").replace("loss+queue", "los+queue")
    assert [line.split(": ")[1] for line in error(write(tmp_path, text)).splitlines()] == [
        "sede",
        "signal_sets.1",
        "test.pairs",
    ]


def test_values_of_the_command_line_are_told_as_such(tmp_path: Path) -> None:
    path = write(tmp_path, TINY)
    assert error(path, "trainer.rounds=-1") == "--set: trainer.rounds: must be >= 0, found -1"
    assert error(path, "trainer.rounds") == "--set: 'trainer.rounds' must look like key.key=value"
    assert error(path, "seed.x=1") == "--set: seed.x: seed is a number and has no keys"


def test_overrides_and_the_seed(tmp_path: Path) -> None:
    path = write(tmp_path, TINY)
    config = read_campaign(path, ["trainer.rounds=7", "training_seeds=[4]", "seed=9"])
    assert (config.trainer.rounds, config.training_seeds, config.seed) == (7, (4,), 9)


# Files that a campaign names.


def space_in_a_file(name: str = "space.yaml") -> str:
    head, _, rest = TINY.partition("networks:\n")
    return f"{head}networks: {name}\n" + rest[rest.index("signal_sets") :]


def space() -> str:
    inside = TINY.partition("networks:\n")[2]
    return "".join(line[2:] for line in inside[: inside.index("signal_sets")].splitlines(keepends=True))


def test_networks_may_be_in_a_file_of_their_own(tmp_path: Path) -> None:
    write(tmp_path, space(), "spaces/mine.yaml")
    path = write(tmp_path, space_in_a_file("../spaces/mine.yaml"), "campaigns/a.yaml")
    assert read_campaign(path) == read_campaign(write(tmp_path, TINY))
    assert read_campaign(path, ["networks.rtt=12"]).networks.rtt.min == 12


def test_a_missing_file_of_networks(tmp_path: Path) -> None:
    path = write(tmp_path, space_in_a_file("nope.yaml"))
    assert error(path) == "a.yaml:3: networks: nope.yaml: cannot be read: No such file or directory"


def test_an_error_inside_the_file_of_networks_points_into_it(tmp_path: Path) -> None:
    write(tmp_path, space().replace("rtt: {min: 10", "rtt: {min: 90"), "space.yaml")
    path = write(tmp_path, space_in_a_file())
    assert error(path) == "space.yaml:2: networks.rtt: min must not exceed max, got 90 > 20"
    write(tmp_path, space().replace("buffer", "bufer"), "space.yaml")
    assert error(path).splitlines() == [
        "space.yaml:1: networks.buffer: required key is missing",
        "space.yaml:4: networks.bufer: unknown key (did you mean 'buffer'?)",
    ]
    write(tmp_path, "- 3\n", "space.yaml")
    assert error(path) == "space.yaml:1: expected keys with values (`key: value`), found a list"


def test_a_base_names_its_own_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, space(), "base/space.yaml")
    write(tmp_path, space_in_a_file(), "base/base.yaml")
    path = write(tmp_path, "extends: ../base/base.yaml\nname: more\ntrainer: {rounds: 9}\n", "top/a.yaml")
    config = read_campaign(path)
    assert (config.name, config.trainer.rounds, config.trainer.networks) == ("more", 9, 6)
    monkeypatch.chdir(tmp_path)
    assert read_campaign(path, ["networks=base/space.yaml"]) == config
    assert error(path, "networks=space.yaml").endswith(
        "--set: networks: space.yaml: cannot be read: No such file or directory"
    )


def test_an_error_in_a_base_points_into_it(tmp_path: Path) -> None:
    write(tmp_path, changed("rounds: 2", "rounds: -1"), "base.yaml")
    assert error(write(tmp_path, "extends: base.yaml\nsed: 2\n")).splitlines() == [
        "a.yaml:2: sed: unknown key (did you mean 'seed'?)",
        "base.yaml:14: trainer.rounds: must be >= 0, found -1",
    ]
    assert error(write(tmp_path, "extends: bse.yaml\n")).startswith(
        "a.yaml:1: extends: bse.yaml: cannot be read: No such file or directory (did you mean 'base.yaml'?)"
    )


MINE = "name: mine\ntitle: Mine\nsignals: [queue]\n"


def with_sets(listed: str, baseline: str = "loss+rtt") -> str:
    return changed("[loss+rtt, loss+queue]", listed).replace("baseline: loss+rtt", f"baseline: {baseline}")


def test_signal_sets_may_be_files_or_written_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, MINE, "sets/mine.yaml")
    path = write(tmp_path, with_sets("[loss+rtt, ../sets/mine.yaml]"), "campaigns/a.yaml")
    config = read_campaign(path)
    assert [each.name for each in config.signal_sets] == ["loss+rtt", "mine"]
    inline = with_sets("[loss+rtt, {name: mine, title: Mine, signals: [queue]}]")
    assert read_campaign(write(tmp_path, inline)) == config
    monkeypatch.chdir(tmp_path / "sets")
    assert read_campaign("../campaigns/a.yaml").hash == config.hash
    assert read_campaign(path, ["signal_sets=[loss+rtt, mine.yaml]"]) == config


def test_the_baseline_may_be_a_file(tmp_path: Path) -> None:
    write(tmp_path, MINE, "mine.yaml")
    assert read_campaign(write(tmp_path, with_sets("[loss+rtt, mine.yaml]", "mine.yaml"))).baseline == "mine"
    assert read_campaign(write(tmp_path, with_sets("[loss+rtt, mine.yaml]", "mine"))).baseline == "mine"


def test_an_error_in_the_file_of_a_signal_set(tmp_path: Path) -> None:
    write(tmp_path, MINE.replace("queue", "qeue"), "mine.yaml")
    path = write(tmp_path, with_sets("[loss+rtt, mine.yaml]"))
    assert error(path).startswith("a.yaml:12: signal_sets.1: mine.yaml:3: signals: unknown signal 'qeue'")
    path = write(tmp_path, with_sets("[loss+rtt, nope.yaml]"))
    assert error(path) == "a.yaml:12: signal_sets.1: nope.yaml: cannot be read: No such file or directory"


def test_two_sets_of_one_name_are_refused(tmp_path: Path) -> None:
    write(tmp_path, MINE.replace("mine", "loss+rtt"), "mine.yaml")
    assert "'loss+rtt' is listed twice" in error(write(tmp_path, with_sets("[loss+rtt, mine.yaml]")))


def test_two_policies_of_one_id_are_refused(tmp_path: Path) -> None:
    sets = "[loss+rtt, {name: x, title: X, signals: [queue]}, {name: x.y, title: Y, signals: [loss]}]"
    weights = "throughput_weight: 1, delay_weight: 1"
    text = with_sets(sets) + f"utilities: [{{name: y.z, {weights}}}, {{name: z, {weights}}}]\n"
    assert "'x.y.z' is listed twice" in error(write(tmp_path, text))


# The resolved configuration and its hash.


def test_the_resolved_configuration_reads_as_the_same_campaign(tmp_path: Path) -> None:
    write(tmp_path, MINE, "mine.yaml")
    config = read_campaign(write(tmp_path, with_sets("[loss+rtt, mine.yaml]")))
    again = read_campaign(write(tmp_path, resolved_yaml(config), "elsewhere/config.yaml"))
    assert again == config
    assert again.hash == config.hash


def test_the_hash_names_everything(tmp_path: Path) -> None:
    write(tmp_path, MINE, "mine.yaml")
    path = write(tmp_path, with_sets("[loss+rtt, mine.yaml]"))
    hashes = {read_campaign(path).hash}
    for change in ("seed=2", "name=other", "networks.loss=0.02", "trainer.rounds=3", "settle.alpha=0.1"):
        hashes.add(read_campaign(path, [change]).hash)
    write(tmp_path, MINE.replace("queue", "link"), "mine.yaml")
    hashes.add(read_campaign(path).hash)
    assert len(hashes) == 7


def test_the_rule_looks_for_the_last_time_when_the_pairs_are_used_up(tmp_path: Path) -> None:
    path = write(tmp_path, TINY)
    long = "test.pairs=1590"  # rounded up to 100 blocks
    assert (read_campaign(path, [long]).rule.ceiling, read_campaign(path, [long]).test.pairs) == (100, 1600)
    assert read_campaign(path, [long, "settle.ceiling=50"]).rule.ceiling == 50
    assert read_campaign(path, [long, "settle.ceiling=5000"]).rule.ceiling == 100


def test_a_campaign_can_be_made_without_a_file() -> None:
    config = CampaignConfig.model_validate(
        {
            "name": "here",
            "networks": read_campaign(CONFIGS / "smoke.yaml").networks,
            "signal_sets": ["e2e", signal_set("queue")],
            "trainer": {"kind": "rplus"},
        }
    )
    assert [each.id for each in learners(config, [1])] == ["e2e.default.s1", "queue.default.s1"]


def test_formulas_are_told_apart_and_refused_where_they_cannot_be_learnt(tmp_path: Path) -> None:
    """Another formula is another campaign and another training; of the other set nothing changes."""
    mine = "{name: mine, title: Mine, signals: [rtt_ratio, {name: own, expr: queue * loss}]}"
    path = write(tmp_path, changed("signal_sets: [loss+rtt, loss+queue]", f"signal_sets: [loss+rtt, {mine}]"))
    one, two = read_campaign(path), read_campaign(path, ["signal_sets.1.signals.1.expr=queue / loss"])
    assert one.candidates[1].signals.signals == ("rtt_ratio", "own = queue * loss") and one.hash != two.hash
    keys = [[learner.key(each) for learner in learners(each, each.seeds)] for each in (one, two)]
    assert keys[0][0] == keys[1][0] and keys[0][1] != keys[1][1]
    again = write(tmp_path, resolved_yaml(one), "again.yaml")
    assert read_campaign(again).hash == one.hash
    wrong = error(path, "signal_sets.1.signals.1.expr=queues")
    assert "signal_sets.1.signals.1.expr: 'queues': there is no 'queues' among the registered signals" in wrong
    assert "mine: trainer.kind: ppo learns no formulas (own); use law or rplus" in error(path, "trainer={kind: ppo}")
    scenario = CONFIGS / "fabric/scenarios/websearch-pfc.yaml"
    fabric = [f"networks={{fabric: {scenario}}}", "utilities=[slowdown]", "trainer={kind: law}"]
    assert "trainer.kind: laws for fabrics have no signals that are formulas (own); use rplus" in error(path, *fabric)
