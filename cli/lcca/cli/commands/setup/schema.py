"""`lcca schema`: the JSON Schema of a kind of YAML file, for editors; of a function's arguments, for programs."""

from __future__ import annotations

import argparse
import json
from importlib import import_module

from lcca.experiments.recipes import FUNCTIONS
from lcca.experiments.schemas.kinds import KINDS
from lcca.inputs.options import argument, frozen

EXAMPLES = """\
  lcca schema campaign > campaign.schema.json
  lcca schema header
  lcca schema api.rank"""


@frozen
class Schema:
    kind: str = argument(
        "; ".join(f"{name}: {kind.what}" for name, kind in KINDS.items())
        + "; api.NAME, as in api.rank: the arguments of a function of lcca.api",
        metavar="KIND",
        choices=(*KINDS, *(f"api.{name}" for name in FUNCTIONS)),
    )


def run(verb: Schema, options: argparse.Namespace) -> int:
    from lcca.experiments.schemas.schema import schema, schema_of_arguments

    if verb.kind in KINDS:
        found = schema(verb.kind)
    else:
        module, name = FUNCTIONS[verb.kind.removeprefix("api.")]
        found = schema_of_arguments(getattr(import_module(module), name))
    print(json.dumps(found, indent=1))
    return 0
