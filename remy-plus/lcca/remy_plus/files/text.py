"""Policies as text for people: a header, then the rules."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from lcca.remy_plus.core.formulas import quantity
from lcca.remy_plus.core.signals import SIGNAL_CEILING
from lcca.remy_plus.policies.agents import LawSteering, MlpPolicy, TableSteering
from lcca.remy_plus.policies.fabric_law import FabricLaw
from lcca.remy_plus.policies.hand_designed import HandDesigned
from lcca.remy_plus.policies.law import FEATURES, Law
from lcca.remy_plus.policies.policy import Mixture, WithHeader, pieces
from lcca.remy_plus.policies.rules import RuleTable
from lcca.remy_plus.policies.simple import Simple, digits
from lcca.remy_plus.switches.control import Tuning
from lcca.remy_plus.switches.knobs import Knob
from lcca.remy_plus.switches.transports import Transport
from lcca.remy_plus.tuners.registry import TUNERS

if TYPE_CHECKING:
    from lcca.remy_plus.files.policyfile import PolicyFile

LONGEST_LINE = 100
"""Characters; longer lines are wrapped."""

MANY = 4
"""So many rules with one action are told together."""


def describe(file: PolicyFile) -> str:
    """Return the policy as lines of text, rules in stored order, ending in a newline.

    A rule reads ``receive EWMA 0.31 to 1.2 µs, RTT ratio below 1.15 → window × 0.9 + 2, pace at 1.3 × receive
    interval``. Ranges include their lower and exclude their upper bound; a signal that a rule does not bound
    is left out. Where use counts are known, each rule ends with its share of the look-ups. Many rules with one action,
    such as those that a search never changed, are told together in the end.
    """
    return "\n".join([*_header(file), "", *_body(file)]) + "\n"


def _header(file: PolicyFile) -> list[str]:
    rows: list[tuple[str, str | None]] = [("policy", _kind(file))]
    rows += [("signals", ", ".join(file.signals) or None)]
    header = file.header if isinstance(file.header, str | None) else file.header.get("name", "described in the file")
    rows += [("signal set", file.signal_set), ("header", None if header is None else str(header))]
    for key, value in sorted(file.provenance.items()):
        items = value if isinstance(value, list) else [value]
        rows += [(key.replace("_", " "), " ".join(str(item).split())) for item in items]
    width = max(len(name) for name, _ in rows)
    return [f"{name:<{width}}  {value}" for name, value in rows if value is not None]


def _kind(file: PolicyFile) -> str:
    policy = file.policy
    if isinstance(policy, Mixture):
        adopted, other = (_kind(PolicyFile(pieces(each)[0])) for each in policy.parts)
        return f"mixture: {100 * policy.share:g} % of senders have a {adopted}; the others a {other}"
    if isinstance(policy, HandDesigned):
        said = f"; here by the marker {policy.marker.kind}" if policy.marker else ""
        return policy.family.title + said
    if isinstance(policy, Transport):
        parts = {"marker": policy.marker, "tuner": policy.tuner}
        said = "".join(f", {name} {part.kind}" for name, part in parts.items() if part)
        return f"transport of a fabric: {policy.name}{said} ({policy.kind.source})"
    if isinstance(policy, MlpPolicy):
        return f"trained network: {policy.parameters:,} parameters"
    if isinstance(policy, Law):
        return f"control law: {len(policy.terms)} terms and {3 * len(policy.features)} coefficients of features"
    if isinstance(policy, FabricLaw):
        coefficients = len(policy.features) + 3 * len(policy.inputs)
        return f"{policy.title}: {len(policy.terms)} terms and {coefficients} coefficients"
    if isinstance(policy, Simple):
        return policy.title
    assert isinstance(policy, RuleTable), "a policy file has no WithHeader"
    dead = len(policy) - int(policy.live.sum())
    note = f", {dead} of them with empty boxes" if dead else ""
    plural = "" if len(policy) == 1 else "s"
    real = "" if policy.windows == "whole" else "; real windows"
    return f"rule table: {len(policy)} rule{plural}{note}; pacing {policy.pacing_kind}{real}"


def _body(file: PolicyFile) -> list[str]:
    match file.policy:
        case RuleTable() as table:
            return _rules(table, file.rule_hits)
        case MlpPolicy() as network:
            return _network(network)
        case HandDesigned() as control:
            return _parameters(control)
        case Transport() as transport:
            return _numbers(transport.named_parameters, transport.named_knobs()) + _tuner(transport.tuner)
        case Mixture():
            return []
        case WithHeader():
            raise AssertionError("a policy file has none")
        case Simple() as control:
            return control.lines()


def _tuner(tuner: Tuning | None) -> list[str]:
    if tuner is None:
        return []
    knobs = {f"{tuner.kind}.{name}": knob for name, knob in TUNERS[tuner.kind].knobs.items()}
    return _numbers({f"{tuner.kind}.{name}": value for name, value in tuner.parameters.items()}, knobs)


def _numbers(values: Mapping[str, float], knobs: Mapping[str, Knob]) -> list[str]:
    return [f"{name}  {value:g} {knobs[name].unit}".rstrip() for name, value in values.items()]


def _network(policy: MlpPolicy) -> list[str]:
    agent, steering = policy.agent, policy.agent.steering
    often = f"every {digits(agent.decisions.rtts)} round trips" if agent.decisions.rtts else "at every acknowledgement"
    seen = f"{len(agent.signals)} signals" + (f" of {agent.history} decisions" if agent.history > 1 else "")
    parts = [] if policy.memory is None else [f"LSTM of {policy.memory.cells} cells"]
    parts += [f"{len(layer.biases)} {layer.activation}" for layer in policy.layers]
    fields = {key: value for key, value in asdict(steering).items() if key not in ("actions", "law")}
    if isinstance(steering, TableSteering):
        fields["actions"] = len(steering.actions)
    said = ", ".join(f"{key} {digits(value)}" for key, value in fields.items())
    if isinstance(steering, LawSteering):
        seen = f"{len(FEATURES)} features and {seen}"
    lines = [f"{seen} → {' → '.join(parts)}", f"decides {often}", f"steers the {_STEERED[steering.kind]}: {said}"]
    return lines + (["", *steering.law.lines()] if isinstance(steering, LawSteering) else [])


_STEERED = {
    "window": "window",
    "rate": "sending rate",
    "table": "window by a table of actions",
    "law": "sums n0, n1, n2 of a control law",
}


def _parameters(control: HandDesigned) -> list[str]:
    width = max(len(name) for name in control.parameters)
    lines = []
    for parameter in control.family.parameters:
        value = control.parameters[parameter.name]
        shown = str(value).lower() if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else value
        unit = f" {parameter.unit}" if parameter.unit and not isinstance(value, str) else ""
        default = "" if value == parameter.default else "  (changed)"
        lines.append(f"{parameter.name:<{width}}  {shown}{unit}{default}")
    marker = control.marker
    return lines + ([] if marker is None else _numbers(marker.named_parameters, marker.named_knobs()))


def _rules(table: RuleTable, rule_hits: tuple[int, ...] | None) -> list[str]:
    """Return a line per rule, longer ones wrapped; rules with the most frequent action are one line in the end."""
    actions = [_action(table, i) for i in range(len(table))]
    alike = _alike(table, actions)
    width, total = len(str(len(table) - 1)), sum(rule_hits) if rule_hits else 0
    share = {i: rule_hits[i] / total for i in range(len(table))} if rule_hits and total else {}
    lines = []
    for i in range(len(table)):
        if i not in alike:
            lines += _wrapped(f"{i:>{width}}", _condition(table, i), actions[i] + _hits(share, [i]))
    if alike:
        lines += _wrapped(" " * width, f"all {len(alike)} others", actions[min(alike)] + _hits(share, sorted(alike)))
    return lines


def _alike(table: RuleTable, actions: list[str]) -> set[int]:
    """Return the rules with the most frequent action, if they are many."""
    live = [i for i in range(len(table)) if table.live[i]]
    action, count = Counter(actions[i] for i in live).most_common(1)[0]
    return {i for i in live if actions[i] == action} if count >= MANY else set()


def _hits(share: Mapping[int, float], rules: Sequence[int]) -> str:
    return f"  [{sum(share[i] for i in rules):.1%} of hits]" if share else ""


def _wrapped(number: str, condition: str, action: str) -> list[str]:
    line = f"{number}  {condition} → {action}"
    if len(line) <= LONGEST_LINE:
        return [line]
    indent = " " * (len(number) + 2)
    inner = textwrap.wrap(condition, LONGEST_LINE - len(indent), break_long_words=False)
    return [f"{number}  {inner[0]}", *(indent + each for each in inner[1:]), f"{indent}→ {action}"]


def _condition(table: RuleTable, index: int) -> str:
    if not table.live[index]:
        return "never (empty box)"
    bounds = zip(table.signals, table.lower[index].tolist(), table.upper[index].tolist(), strict=True)
    ranges = [_range(name, low, high) for name, low, high in bounds]
    return ", ".join(text for text in ranges if text) or "always"


def _range(name: str, low: float, high: float) -> str:
    label, unit = quantity(name)[:2]
    after = f" {unit}" if unit else ""
    if low > 0 and high < SIGNAL_CEILING:
        return f"{label} {digits(low)} to {digits(high)}{after}"
    if high < SIGNAL_CEILING:
        return f"{label} below {digits(high)}{after}"
    return f"{label} from {digits(low)}{after}" if low > 0 else ""


def _action(table: RuleTable, index: int) -> str:
    multiple, increment = float(table.multiple[index]), float(table.increment[index])
    if multiple == 0:
        window = f"window = {digits(max(increment, 0 if table.windows == 'whole' else 1))}"
    else:
        times = "" if multiple == 1 else f" × {digits(multiple)}"
        plus = f" {'−' if increment < 0 else '+'} {digits(abs(increment))}" if increment else ""
        window = f"window{times}{plus}" if times or plus else "window unchanged"
    pacing = float(table.pacing[index])
    if pacing == 0:
        return f"{window}, unpaced"
    if table.pacing_kind == "relative":
        return f"{window}, pace at {digits(pacing)} × receive interval"
    unit = "µs" if table.pacing_kind == "absolute" else f"× {table.pacing_kind}"
    return f"{window}, pace at {digits(pacing)} {unit}"
