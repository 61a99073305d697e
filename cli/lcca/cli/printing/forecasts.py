"""What campaigns will cost, in a table."""

from __future__ import annotations

from collections.abc import Mapping

from lcca.cli.options.common import print_visible
from lcca.cli.printing.console import print_table
from lcca.evaluation.report.words.table import Table
from lcca.experiments.runs.remaining import words_for_time
from lcca.experiments.testing.forecast import Forecast


def print_forecasts(name: str, found: Mapping[str, Forecast]) -> None:
    """Print the cost of campaigns, a line each."""
    head = (
        *("point", "trainings", "done", "trials per training", "test trials", "CPU ms per trial", "CPU time"),
        "time",
    )
    print_table(
        Table(f"{name}: remaining work", head, [_forecast_cells(point or name, each) for point, each in found.items()])
    )
    for point, each in found.items():
        named = f"{point}: " if point else ""
        if each.note:
            print_visible(named + each.note)
        if parts := each.cpu_parts:
            times = (f"{name} {words_for_time(*ends)} (by {key})" for name, (key, *ends) in parts.items())
            print_visible(f"{named}CPU time: {', '.join(times)}; start, verdicts and report: about 10 CPU s more")
        if each.ends[1].ns3:
            trials = " to ".join(dict.fromkeys(f"{end.ns3:,}" for end in each.ends))
            print_visible(f"{named}besides, {trials} trials in ns-3, about 0.4 to 1 CPU s each")
    keys = {training.key for each in found.values() for training in each.trainings if not training.done}
    print_visible(f"{len(keys)} different trainings remain, which --json lists; grid points share equal ones")


def _forecast_cells(name: str, found: Forecast) -> tuple[str, ...]:
    ends, cpu = found.wall_s, found.cpu_s
    return (
        name,
        "–".join(dict.fromkeys(str(end.trainings) for end in found.ends)),
        str(sum(each.done for each in found.trainings)),
        ", ".join(f"{each.amount:,} {each.unit}{name and f' ({name})'}" for name, each in found.budgets.items()),
        "–".join(f"{end.tests:,}" for end in found.ends),
        f"{1000 * found.trial_cpu_s:.2f}",
        "not known in advance" if cpu is None else words_for_time(*cpu),
        "not known in advance" if ends is None else f"{words_for_time(*ends)} on {found.jobs} cores",
    )
