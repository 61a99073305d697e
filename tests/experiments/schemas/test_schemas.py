"""JSON Schemas: those committed are current, accept what ships and units, and refuse what the readers refuse."""

import json
import re
from inspect import signature
from pathlib import Path
from typing import Any

import pytest

from lcca import api
from lcca.experiments.recipes import FUNCTIONS
from lcca.experiments.schemas.kinds import KINDS
from lcca.experiments.schemas.schema import schema, schema_of_arguments
from lcca.experiments.starters import OF_STUDIES, STARTERS, starter
from lcca.inputs.errors import InputError
from lcca.inputs.yaml_text import parse

from ...fixtures import RunCommand
from ...studies import of_studies

ROOT = Path(__file__).resolve().parents[3]
SCHEMAS = ROOT / "docs" / "reference" / "schemas"
COMMENT = re.compile(r"^# yaml-language-server: \$schema=(\S+)$", re.MULTILINE)
PARTS = {"base/common.yaml", "configs/metrics.yaml", "configs/metrics-all.yaml", "cluster/ray.yaml"}
"""Files of `configs` that are part of others, or not for lcca."""

jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed (the extra dev)")


@pytest.fixture(scope="module")
def problems() -> Any:
    """Return what a schema finds wrong with the text of a file."""
    made = {name: jsonschema.Draft202012Validator(schema(name)) for name in KINDS}

    def found(name: str, text: str) -> list[str]:
        return [f"{list(error.absolute_path)}: {error.message}" for error in made[name].iter_errors(parse(text, "")[0])]

    return found


@pytest.mark.parametrize("name", KINDS)
def test_committed_schema_is_current(name: str, lcca: RunCommand) -> None:
    answer = lcca("schema", name)
    assert answer.out == (SCHEMAS / f"{name}.json").read_text(encoding="utf-8"), "make schemas"
    jsonschema.Draft202012Validator.check_schema(json.loads(answer.out))


def test_shipped_files_name_their_schema_and_fit_it(problems: Any) -> None:
    folders = [ROOT / "configs", *ROOT.glob("studies/*/configs")]
    files = [path for folder in folders for path in folder.rglob("*.yaml") if "/".join(path.parts[-2:]) not in PARTS]
    assert len(files) > 80
    for path in files:
        text = path.read_text(encoding="utf-8")
        named = COMMENT.search(text)
        assert named and (path.parent / named[1]).resolve().parent == SCHEMAS, path
        assert problems(Path(named[1]).stem, text) == [], path


def test_packaged_files_fit_their_schema(problems: Any) -> None:
    folders = {
        "signal-set": "signal-sets/lcca/signal_sets/sets",
        "header": "signal-sets/lcca/signal_sets/headers/catalogue",
        "flow-sizes": "evaluation/lcca/evaluation/scenarios/flow_sizes",
        **of_studies("FOLDERS"),
    }
    for name, folder in folders.items():
        files = list((ROOT / folder).glob("*.yaml"))
        assert files and [problem for path in files for problem in problems(name, path.read_text("utf-8"))] == []
    own = {name: OF_STUDIES[name][1].command if name in OF_STUDIES else "campaign" for name in STARTERS}
    assert [problem for name, kind in own.items() for problem in problems(kind, starter(name))] == []


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        (("12 Gbps, max", "12 Gbps, most"), True),
        (("training_seeds: [1, 2]", "training_seed: [1, 2]"), True),
        (("budget_trials: 12000", "budget_trials: many"), True),
        (("kind: rplus", "kind: rminus"), True),
        (("baseline: e2e", "baseline: 3"), True),
        (("\nnetworks:\n", "\nextends: other.yaml\nnetwork:\n"), True),
        (("{margin_percent: 3}", "{margin_percent: 3.0}"), False),
        (("duration: 1 ms", "duration: 1000"), False),
        (("seed: 1 ", "seed: 1e0 "), False),
    ],
)
def test_wrong_keys_and_values_are_found(problems: Any, change: tuple[str, str], wrong: bool) -> None:
    text = starter("signals")
    assert change[0] in text
    assert bool(problems("campaign", text.replace(*change))) == wrong


def test_every_key_of_a_campaign_is_explained() -> None:
    assert [name for name, each in schema("campaign")["properties"].items() if "description" not in each] == []


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_have_a_schema_of_their_signature(name: str, lcca: RunCommand) -> None:
    found = json.loads(lcca("schema", f"api.{name}").out)
    jsonschema.Draft202012Validator.check_schema(found)
    parameters = signature(getattr(api, name)).parameters
    assert set(found["properties"]) == set(parameters) and not found["additionalProperties"]
    assert set(found["required"]) == {key for key, each in parameters.items() if each.default is each.empty}
    for key, each in found["properties"].items():
        assert each["description"] and each.get("default", parameters[key].default) == parameters[key].default


@pytest.mark.parametrize(
    ("more", "fits"),
    [
        ({}, True),
        ({"trials": 2, "seeds": 1, "overrides": ["duration=300"], "executor": "processes", "stop": "settled"}, True),
        ({"policies": "aimd"}, False),
        ({"trials": 0}, False),
        ({"trails": 2}, False),
        ({"stop": "soon"}, False),
        ({"executor": "cloud"}, False),
        ({"seed": 2**63}, False),
    ],
)
def test_what_a_function_refuses_does_not_fit_its_schema(more: dict[str, Any], fits: bool) -> None:
    asked = {"policies": ["aimd", "fixed-window:9"], "on": str(ROOT / "configs/networks/default.yaml")} | more
    assert jsonschema.Draft202012Validator(schema_of_arguments(api.rank)).is_valid(asked) == fits
    if not fits:
        with pytest.raises((InputError, TypeError)):
            api.rank(**asked)


@pytest.mark.parametrize(
    ("command", "file", "message"),
    [
        ("sweep", "networks/default.yaml", "this is a network space, not a campaign; what takes it: `--on FILE`"),
        ("sweep", "fabric/leaf-spine.yaml", "this is a fabric scenario, not a campaign; what takes it: `--on FILE`"),
        ("estimate", "quickstart.yaml", "this is a campaign, not an estimation; what takes it: lcca sweep FILE"),
        ("tune", "fabric/study.yaml", "this is a study, not a tuning; what takes it: lcca study FILE"),
    ],
)
def test_a_file_of_another_kind_is_told_in_one_line(lcca: RunCommand, command: str, file: str, message: str) -> None:
    answer = lcca(command, ROOT / "configs" / file)
    assert answer.status == 2 and message in answer.err and answer.err.count("\n") == 1
