"""Tables of what the code says of itself: commands, transports, markers, controls of ns-3, columns, headers."""

from collections.abc import Callable, Mapping

from markdown_tables import table

from lcca.cli.commands import GROUPS, STUDIES
from lcca.evaluation.trials.metrics import FABRIC_TRIALS, NETWORK_TRIALS, Metric
from lcca.remy_plus.policies.families import FAMILIES
from lcca.remy_plus.policies.tunables import COMMON, Parameter
from lcca.remy_plus.switches.knobs import Knob
from lcca.remy_plus.switches.markers import MARKERS
from lcca.remy_plus.switches.transports import SPRAYING, TRANSPORTS
from lcca.signal_sets.headers.costs import switch_cost
from lcca.signal_sets.headers.header import packaged_headers
from lcca.signal_sets.headers.sources import SOURCES
from lcca.signal_sets.headers.text import size


def commands() -> str:
    """Return the commands with what each does, less those that studies add."""
    own = ((name, summary) for group in GROUPS.values() for name, summary in group.items() if name not in STUDIES)
    return table(("command", "what it does"), ((f"`lcca {name}`", summary) for name, summary in own))


def transports() -> str:
    """Return the transports of the fabric and their parameters as tables."""
    return "\n\n".join(map(transport, TRANSPORTS))


def markers() -> str:
    """Return the markers of the fabric and their parameters as tables."""
    return "\n\n".join(f"**{name}**: {kind.source}.\n\n{knobs(kind.knobs)}" for name, kind in MARKERS.items())


def controls() -> str:
    """Return the congestion controls of ns-3 and their parameters as tables, those that all have first."""
    own = {family: tuple(each for each in family.parameters if each not in COMMON) for family in FAMILIES.values()}
    parts = [f"**{each.name}**: {each.title}, `{each.type}`.\n\n{tunables(rows)}" for each, rows in own.items()]
    return "\n\n".join([f"**All** have:\n\n{tunables(COMMON)}", *parts])


def tunables(parameters: tuple[Parameter, ...]) -> str:
    """Return a table of parameters of ns-3's congestion controls."""
    rows = (
        (f"`{each.name}`", each.default, each.unit, each.attribute and f"`{each.attribute}`", each.meaning)
        for each in parameters
    )
    return table(("parameter", "default", "unit", "ns-3 attribute", "meaning"), rows)


def transport(name: str) -> str:
    """Return one transport: its source, and a table of its parameters."""
    kind = TRANSPORTS[name]
    values = {key: f"{value:,g}" for key, value in kind.settings.items()}
    if "spraying" in values:
        values["spraying"] = SPRAYING[int(kind.settings["spraying"])]
    own = "".join(f" `{key}` {value}." for key, value in values.items())
    if kind.marker:
        own += f" Marker `{kind.marker.kind}`."
    return f"**{name}**: {kind.source}.{own}\n\n{knobs(kind.knobs)}".rstrip()


def knobs(found: Mapping[str, Knob]) -> str:
    """Return a table of parameters, with ∝ where a default goes with the rate."""
    searched = {key: f"{at.low:.2g} to {at.high:.4g}" for key, knob in found.items() if (at := knob.search)}
    defaults = {key: f"{knob.default:g}{' ∝' if knob.by_rate else ''}" for key, knob in found.items()}
    rows = ((f"`{key}`", defaults[key], searched.get(key, ""), at.unit, at.meaning) for key, at in found.items())
    return table(("parameter", "default", "tuned within", "unit", "meaning"), rows)


def metrics(found: Mapping[str, Metric]) -> str:
    """Return the columns of a table of measurements; a column is in the unit that its name ends in."""
    return table(
        ("column", "meaning", "better"), ((f"`{each.name}`", each.label, each.better) for each in found.values())
    )


def headers() -> str:
    """Return the catalogue of headers with their costs."""
    costs = ((each, *switch_cost(each)) for each in packaged_headers().values())
    rows = ((f"`{each.name}`", size(each), bits, work, each.title, each.reference) for each, bits, work in costs)
    return table(("name", "on the wire", "bits a port", "operations", "title", "from"), rows)


def sources() -> str:
    """Return what hops can write into headers."""
    return table(("source", "unit", "meaning"), ((f"`{name}`", each.unit, each.doc) for name, each in SOURCES.items()))


TABLES: Mapping[str, Callable[[], str]] = {
    "commands": commands,
    "transports": transports,
    "markers": markers,
    "controls": controls,
    "trials": lambda: metrics(NETWORK_TRIALS),
    "fabric trials": lambda: metrics(FABRIC_TRIALS),
    "headers": headers,
    "sources": sources,
}
"""What stands after each mark."""
