import enum
from pathlib import Path
from typing import Annotated, Literal

import pytest
from pydantic import Field, ValidationError, field_validator, model_validator

from lcca.inputs.errors import ConfigError
from lcca.inputs.model import Model
from lcca.inputs.validation import read_config, read_document, validate_list


class Mode(enum.Enum):
    RACING = "racing"
    EXACT = "exact"


class Search(Model):
    kind: Literal["rplus"]
    rounds: int = Field(ge=1)
    mode: Mode = Mode.RACING
    rplus: float = 1.0


class Fixed(Model):
    kind: Literal["fixed-window", "fixed-rate"]
    value: float = Field(gt=0)


class Traffic(Model):
    on: float
    off: float = Field(multiple_of=0.5)

    @model_validator(mode="after")
    def _order(self) -> "Traffic":
        if self.off > self.on:
            raise ValueError("off must not exceed on")
        return self


class Network(Model):
    link_rate: float = Field(gt=0)
    senders: int = Field(ge=1, le=100)
    buffer: float | Literal["inf"] = "inf"


class Campaign(Model):
    name: str = Field(min_length=1)
    trainer: Annotated[Search | Fixed, Field(discriminator="kind")]
    traffic: Traffic | None = None
    networks: tuple[Network, ...] = ()
    trainers: list[Annotated[Search | Fixed, Field(discriminator="kind")]] = Field(default=[])
    by_name: dict[str, Network] = Field(default={})
    pair: tuple[Network, Traffic] | None = None
    signals: tuple[str, ...] = Field(("rtt",), min_length=1)
    weighting: Literal["default", "throughput", "delay"] = "default"
    quiet: bool = False

    @field_validator("signals")
    @classmethod
    def _known(cls, signals: tuple[str, ...]) -> tuple[str, ...]:
        if "nonsense" in signals:
            raise ValueError("no signal 'nonsense'")
        return signals


GOOD = """\
name: test
trainer:
  kind: rplus
  rounds: 2
  mode: exact
"""


def lines(folder: Path, text: str, *overrides: str) -> list[str]:
    path = folder / "c.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        read_config(path, Campaign, overrides)
    return [line.replace(f"{folder}/", "") for line in str(caught.value).splitlines()]


def test_a_good_document_becomes_a_model(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(
        GOOD + "traffic: {on: 1e3, off: 500}\nnetworks:\n  - {link_rate: 1e-3, senders: 1e1, buffer: inf}\n"
        "by_name: {first: {link_rate: 2, senders: 1}}\n"
    )
    campaign = read_config(path, Campaign, ["trainer.rounds=7"])
    assert campaign.trainer == Search(kind="rplus", rounds=7, mode=Mode.EXACT)
    assert campaign.traffic == Traffic(on=1000, off=500)
    assert campaign.networks == (Network(link_rate=1e-3, senders=10),)
    assert isinstance(campaign.networks[0].senders, int)


def test_models_are_frozen_closed_and_finite() -> None:
    network = Network(link_rate=1, senders=1)
    with pytest.raises(ValidationError, match="frozen"):
        network.senders = 2
    with pytest.raises(ValidationError, match="extra"):
        Network.model_validate({"link_rate": 1, "senders": 1, "x": 1})
    with pytest.raises(ValidationError, match="finite"):
        Network(link_rate=float("nan"), senders=1)


def test_all_errors_at_once_in_the_order_of_the_file(tmp_path: Path) -> None:
    text = """\
nmae: test
trainer:
  kind: rplus
  rouns: 2
  mode: exakt
traffic:
  on: 1
weighting: delai
networks:
  - link_rate: 0
    senders: "3"
"""
    assert lines(tmp_path, text) == [
        "c.yaml:1: name: required key is missing",
        "c.yaml:1: nmae: unknown key (did you mean 'name'?)",
        "c.yaml:2: trainer.rounds: required key is missing",
        "c.yaml:4: trainer.rouns: unknown key (did you mean 'rounds'?)",
        "c.yaml:5: trainer.mode: must be one of 'racing' or 'exact', found 'exakt' (did you mean 'exact'?)",
        "c.yaml:6: traffic.off: required key is missing",
        "c.yaml:8: weighting: must be one of 'default', 'throughput' or 'delay', found 'delai' (did you mean 'delay'?)",
        "c.yaml:10: networks.0.link_rate: must be > 0, found 0",
        "c.yaml:11: networks.0.senders: must be a whole number, found '3'",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("quiet: 1\n", "quiet: must be true or false, found 1"),
        ("quiet: no\n", "quiet: must be true or false, found 'no'"),
        ("traffic: {on: 2, off: 0.7}\n", "traffic.off: must be a multiple of 0.5, found 0.7"),
        ("traffic: {on: true, off: 1}\n", "traffic.on: must be a number, found true"),
        ("traffic: {on: .inf, off: 1}\n", "traffic.on: must be a finite number, found inf"),
        ("traffic: {on: .nan, off: 1}\n", "traffic.on: must be a finite number, found nan"),
        ("traffic: {on: 1, off: 2}\n", "traffic: off must not exceed on"),
        ("traffic: 3\n", "traffic: must be keys with values, found 3"),
        ("traffic: {on: 1, off: 1, xyzzy: 2}\n", "traffic.xyzzy: unknown key (known: on, off)"),
        ("networks: 3\n", "networks: must be a list, found 3"),
        ("networks: {a: 1}\n", "networks: must be a list, found keys with values"),
        ("networks: [{link_rate: 1, senders: 200}]\n", "networks.0.senders: must be <= 100, found 200"),
        ("networks: [{link_rate: 1, senders: 0}]\n", "networks.0.senders: must be >= 1, found 0"),
        ("networks: [{link_rate: 1, senders: 1.5}]\n",
         "networks.0.senders: must be a whole number, found 1.5"),
        (
            "networks: [{link_rate: 1, senders: 1, buffer: many}]\n",
            "networks.0.buffer: must be a number, found 'many', or must be 'inf', found 'many'",
        ),
        ("by_name: {x: {link_rate: 1, sendres: 1, senders: 1}}\n",
         "by_name.x.sendres: unknown key (did you mean 'senders'?)"),
        ("signals: []\n", "signals: must have at least 1 item, found a list of 0"),
        ("signals: [nonsense]\n", "signals: no signal 'nonsense'"),
        ("signals: [1]\n", "signals.0: must be text, found 1"),
        ("signals: [2026-01-02, 3.5]\n", "signals.1: must be text, found 3.5"),
        ("trainers: [{kind: rplus}]\n", "trainers.0.rounds: required key is missing"),
        ("trainers: [{rounds: 1}]\n",
         "trainers.0.kind: required key is missing; one of rplus, fixed-window, fixed-rate"),
        ("trainers: [{kind: fixed-windw}]\n",
         "trainers.0.kind: must be one of 'rplus', 'fixed-window', 'fixed-rate', found 'fixed-windw'"
         " (did you mean 'fixed-window'?)"),
        ("trainers: [{kind: rplus, rounds: 1, rplus: x}]\n", "trainers.0.rplus: must be a number, found 'x'"),
        ("trainers: [{kind: rplus, rounds: x, rplus: 1}]\n",
         "trainers.0.rounds: must be a whole number, found 'x'"),
        ("trainers: [{kind: fixed-rate, value: -1}]\n", "trainers.0.value: must be > 0, found -1"),
        ("trainers: [{kind: fixed-rate, valu: 1, value: 1}]\n",
         "trainers.0.valu: unknown key (did you mean 'value'?)"),
        ("pair: [{link_rate: 1, senders: 1}, {on: 1, off: 1, of: 1}]\n",
         "pair.1.of: unknown key (did you mean 'off'?)"),
    ],
)  # fmt: skip
def test_one_error(tmp_path: Path, text: str, expected: str) -> None:
    assert lines(tmp_path, GOOD + text) == [f"c.yaml:6: {expected}"]


def test_missing_and_unknown_discriminators_name_the_key(tmp_path: Path) -> None:
    assert lines(tmp_path, "name: x\ntrainer:\n  rounds: 1\n") == [
        "c.yaml:2: trainer.kind: required key is missing; one of rplus, fixed-window, fixed-rate"
    ]
    [line] = lines(tmp_path, "name: x\ntrainer:\n  rounds: 1\n  kind: rpluss\n")
    assert line.startswith("c.yaml:4: trainer.kind: must be one of 'rplus',")
    assert line.endswith("found 'rpluss' (did you mean 'rplus'?)")


def test_overrides_are_named(tmp_path: Path) -> None:
    assert lines(tmp_path, GOOD, "trainer.rounds=0", "trainer.mood=exact", "quiet=maybe") == [
        "--set: trainer.rounds: must be >= 1, found 0",
        "--set: trainer.mood: unknown key (did you mean 'mode'?)",
        "--set: quiet: must be true or false, found 'maybe'",
    ]


def test_errors_from_the_base_name_its_file_and_line(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text("# base\nname: x\ntrainer:\n  kind: rplus\n  rounds: none\n")
    assert lines(tmp_path, "extends: base.yaml\nquiet: 3\n") == [
        "base.yaml:5: trainer.rounds: must be a whole number, found 'none'",
        "c.yaml:2: quiet: must be true or false, found 3",
    ]


def test_long_values_are_cut(tmp_path: Path) -> None:
    [line] = lines(tmp_path, GOOD + f"quiet: {'x' * 500}\n")
    assert len(line) < 150


def test_lists(tmp_path: Path) -> None:
    path = tmp_path / "n.yaml"
    path.write_text("- {link_rate: 1, senders: 1}\n- {link_rate: 1, senders: 2}\n")
    assert [n.senders for n in validate_list(read_document(path, root="list"), Network)] == [1, 2]
    path.write_text("- {link_rate: 1, senders: 1}\n- {link_rte: 1, senders: 0}\n")
    with pytest.raises(ConfigError) as caught:
        validate_list(read_document(path, root="list"), Network)
    assert str(caught.value).splitlines() == [
        f"{path}:2: 1.link_rate: required key is missing",
        f"{path}:2: 1.senders: must be >= 1, found 0",
        f"{path}:2: 1.link_rte: unknown key (did you mean 'link_rate'?)",
    ]


class Wrapped(Model):
    """A model whose before-validator must not change how lists are taken."""

    seeds: tuple[int, ...]
    mode: Mode = Mode.RACING

    @model_validator(mode="before")
    @classmethod
    def _untouched(cls, value: object) -> object:
        return value


class Outer(Model):
    inner: Wrapped
    named: str = ""


def test_lists_serve_as_tuples_behind_validators(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text("inner: {seeds: [1, 2e0], mode: exact}\nnamed: 2026-01-02\n")
    expected = Outer(inner=Wrapped(seeds=(1, 2), mode=Mode.EXACT), named="2026-01-02")
    assert read_config(path, Outer) == expected
    path.write_text("inner: {seeds: ['1', true]}\n")
    with pytest.raises(ConfigError) as caught:
        read_config(path, Outer)
    assert str(caught.value).splitlines() == [
        f"{path}:1: inner.seeds.0: must be a whole number, found '1'",
        f"{path}:1: inner.seeds.1: must be a whole number, found true",
    ]


def test_scalars_are_strict_however_a_model_is_made() -> None:
    with pytest.raises(ValidationError, match="valid integer"):
        Network.model_validate({"link_rate": 1, "senders": "3"})
    with pytest.raises(ValidationError, match="valid number"):
        Traffic.model_validate({"on": True, "off": 0})


class OddNames(Model):
    type: int = 1
    default: float = 1.0
    config: bool = False


@pytest.mark.parametrize("name", ["type", "default", "config"])
def test_a_field_may_have_any_name(name: str) -> None:
    assert OddNames(type=2, default=3, config=True)
    with pytest.raises(ValidationError, match="valid"):
        OddNames.model_validate({name: "1"})
