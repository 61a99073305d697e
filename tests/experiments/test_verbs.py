"""Verbs: one class of which the command line, the Python function and the identity of runs are made."""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Sequence
from dataclasses import KW_ONLY, FrozenInstanceError, fields
from pathlib import Path
from typing import Any, Literal, get_type_hints

import pytest
from pydantic import TypeAdapter

import lcca.api as lcca
from lcca.cli.commands import COMMANDS, load
from lcca.cli.options.arguments import add_arguments
from lcca.experiments.recipes.compare import comparing
from lcca.experiments.recipes.function import function
from lcca.experiments.recipes.rank import ranking
from lcca.experiments.verbs.meeting import Compare, Rank
from lcca.experiments.verbs.options import Kept
from lcca.experiments.verbs.sweeping import Sweep
from lcca.inputs.errors import InputError
from lcca.inputs.options import Count, Seed, argument, frozen, option, options_of

from ..fixtures import RunCommand

SPACE = Path(__file__).resolve().parents[2] / "configs" / "networks" / "default.yaml"
FUNCTIONS = ("acc", "compare", "estimate", "evaluate", "map", "rank", "stress", "study", "sweep", "tune")


@frozen
class Made(Kept):
    """A verb of every kind of field."""

    names: Sequence[str] = argument("of all")
    file: Path = argument("to read", name="--file")
    _: KW_ONLY
    trials: Count | None = option("at most 5 %")
    seed: Seed = option("of all", 1)
    share: float = option("of some", 0.5)
    form: Literal["long", "short"] = option("of words", "long")
    set_of: Sequence[str] = option("keys", (), name="--set", repeated=True)
    whole: bool = option("all of it", False)
    alone: int = option("in Python", 3, in_python=True)


EXAMPLES = "  lcca made"
PARSED: list[Made] = []


def run(verb: Made, options: argparse.Namespace) -> int:
    PARSED.append(verb)
    return 0


def made(*words: str) -> Made:
    import tests.experiments.test_verbs as command

    parser = argparse.ArgumentParser()
    add_arguments(parser, command)
    options = parser.parse_args([*words, "--jobs", "1"])
    options.run(options)
    return command.PARSED.pop()


def test_a_command_line_is_the_verb() -> None:
    words = ("a", "b", "--file", "x", "--trials", "4", "--set", "k=1", "--set", "l=2", "--form", "short", "--whole")
    wanted = Made(["a", "b"], Path("x"), trials=4, set_of=["k=1", "l=2"], form="short", whole=True, quiet=False)
    assert vars(made(*words)) == vars(wanted)
    assert vars(made("a", "--file", "x")) == vars(Made(["a"], Path("x"), set_of=[], quiet=False))


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("a",), "the following arguments are required: --file"),
        (("a", "--file", "x", "--trials", "0"), "argument --trials: must be at least 1, got 0"),
        (("a", "--file", "x", "--trials", "2000000"), "argument --trials: must be at most 1000000, got 2000000"),
        (("a", "--file", "x", "--seed", str(2**63)), f"argument --seed: must be below 2^63, got {2**63}"),
        (("a", "--file", "x", "--seed", "1.5"), "argument --seed: must be a whole number, got '1.5'"),
        (("a", "--file", "x", "--share", "x"), "argument --share: invalid real value: 'x'"),
        (("a", "--file", "x", "--alone", "4"), "unrecognized arguments: --alone 4"),
    ],
)
def test_what_cannot_be_is_one_line(words: tuple[str, ...], error: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        made(*words)
    assert error in capsys.readouterr().err


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_one(name: str) -> None:
    own = get_type_hints(load(name).run)["verb"]
    assert len(options_of(own)) == len(fields(own)) and own.__dataclass_params__.frozen


@pytest.mark.parametrize("name", [each for each in FUNCTIONS if each in lcca.__all__])
def test_functions_take_what_commands_take(name: str) -> None:
    """Besides what only says how a command line asks: joining, durations, parameters of maps."""
    command = load(name)
    taken = {each.key for each in options_of(get_type_hints(command.run)["verb"])}
    own = set(inspect.signature(getattr(lcca, name)).parameters)
    assert taken - own <= {"join", "durations", "simulated_time", "over"}
    assert set(get_type_hints(Kept)) - {"always_kept", "_"} <= own


def test_functions_refuse_what_commands_refuse() -> None:
    calls: list[tuple[dict[str, Any], str]] = [
        ({"trials": 0}, "trials: must be >= 1, found 0"),
        ({"seed": 2**63}, "seed: must be < 9.22337e[+]18"),
        ({"stop": "sattled"}, r"stop: must be one of 'accurate' or 'settled'.*did you mean 'settled'"),
        ({"rule": "t-mixture:alfa=1"}, r"--rule: no option 'alfa' \(did you mean 'alpha'\?\)"),
    ]
    for wanted, words in calls:
        with pytest.raises(InputError, match=words):
            lcca.rank(["aimd", "fixed-window:9"], SPACE, **wanted)
    with pytest.raises(InputError, match="policies: "):
        lcca.rank("aimd", SPACE)


def test_functions_take_names_in_any_collection() -> None:
    few = {"trials": 2, "seeds": 1, "overrides": (each for each in ["duration=300"])}
    found = lcca.evaluate({"aimd": 1, "fixed-window:9": 2}.keys(), SPACE, **few)
    assert {each["id"] for each in found.content["policies"]} == {"aimd", "fixed-window:9"}


def test_a_verb_is_frozen_and_has_a_schema() -> None:
    ranked = Rank(["aimd"], SPACE)
    with pytest.raises(FrozenInstanceError):
        ranked.seed = 2  # type: ignore[misc]
    trials = TypeAdapter(Rank).json_schema()["properties"]["trials"]
    assert {"maximum": 1_000_000, "minimum": 1, "type": "integer"} in trials["anyOf"]


def test_an_option_of_a_verb_counts_unless_it_says_otherwise() -> None:
    """What its runs are asked for has it without another line."""
    compared = Compare("aimd", "fixed-window:9", SPACE, bound=True, stop="settled", rule="alpha=0.1,step=32")
    options = comparing(compared).config.options
    assert (options["bound"], options["stop"], options["step"], options["rule"]["alpha"]) == (True, "settled", 32, 0.1)
    cached = Rank(["aimd", "fixed-window:9"], SPACE, jobs=2, out="run", executor="processes", quiet=False)
    assert ranking(cached).config.hash == ranking(Rank(["aimd", "fixed-window:9"], SPACE)).config.hash
    assert not {"budget_s", "trial_cache", "jobs", "policies"} & ranking(cached).config.options.keys()


def test_a_function_has_its_name_and_words() -> None:
    found = function("sweep", Sweep, lambda verb: verb)
    assert found.__name__ == "sweep" and "trainings: trainings in parallel" in (found.__doc__ or "")
    assert lcca.rank.__doc__ is not None and "jobs: threads; never changes a result" in lcca.rank.__doc__


def test_help_has_per_cent(lcca: RunCommand) -> None:
    assert "throughput-equivalent % that does not matter" in lcca("compare", "--help").out
