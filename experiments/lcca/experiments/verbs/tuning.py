"""The verb that tunes."""

from __future__ import annotations

from dataclasses import KW_ONLY

from lcca.experiments.verbs.options import WrittenAlone
from lcca.inputs.options import frozen, option


@frozen
class Tune(WrittenAlone):
    """`lcca tune`."""

    _: KW_ONLY
    storage: str | None = option("Optuna's database, for processes that share no disk (default: SQLite)", metavar="URL")
