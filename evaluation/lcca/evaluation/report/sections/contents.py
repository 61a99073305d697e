"""The sections of a report: each figure's caption has unit and n, or the reason why there is no figure."""

from html import escape
from pathlib import Path
from typing import Any

from lcca.evaluation.report.figures.data import data_table
from lcca.evaluation.report.figures.forest import draw_forest, forest_data
from lcca.evaluation.report.figures.learning import draw_learning, learning_data
from lcca.evaluation.report.figures.saving import inline_svg, save
from lcca.evaluation.report.figures.settling import draw_settling, settling_data
from lcca.evaluation.report.figures.tradeoff import MOST_DOTS, draw_tradeoff, tradeoff_data
from lcca.evaluation.report.sections.agreement import both_simulators, ns3_validation
from lcca.evaluation.report.sections.capacity import capacity
from lcca.evaluation.report.sections.designed import designed
from lcca.evaluation.report.sections.estimates import estimates
from lcca.evaluation.report.sections.fairness import fairness
from lcca.evaluation.report.sections.generalisation import generalisation
from lcca.evaluation.report.sections.ideal import ideal
from lcca.evaluation.report.sections.per_network import per_network
from lcca.evaluation.report.sections.ranking import ranking
from lcca.evaluation.report.sections.scores import scores
from lcca.evaluation.report.sections.section import BOTH, EVERY, SELECTED, TRAININGS, Content, Maker, Section
from lcca.evaluation.report.sections.slowdowns import slowdowns
from lcca.evaluation.report.words.statements import coverages
from lcca.evaluation.trials.tables import RunTables


def make_sections(tables: RunTables, folder: Path) -> list[Section]:
    """Draw every figure that the run has data for, and save it as SVG and PNG into a folder."""
    found = [_section(tables, folder, *each) for each in SECTIONS]
    return [section for section in found if section]


def _section(tables: RunTables, folder: Path, name: str, title: str, make: Maker) -> Section | None:
    content = make(tables)
    if content is None:
        return None
    svg = None
    if content.figure is not None:
        save(content.figure, folder, name)
        svg = inline_svg(content.figure, name, escape(f"{title}. {content.caption}"))
    return Section(name, title, content, svg)


def _forest(tables: RunTables) -> Content | None:
    rows = forest_data([each | {"B": _where(each)} for each in tables.comparisons])
    if not rows:
        return None
    caption = (
        "Difference of the mean score from the baseline, in bits, with its interval "
        f"({coverages(tables.comparisons)}). Band: equivalence margin. "
        "▲ better, ▼ worse, ■ equivalent, ○ not settled; dotted: no interval yet. Signal sets: the unit is a training "
        "seed, tested on networks of its own; the intervals hold together and at every number of seeds. Selected "
        "policies: the unit is a network with a seed, run with both policies; a confidence sequence, valid at every "
        "look. n is in the tables."
    )
    return Content(caption, draw_forest(rows), population=BOTH, data=data_table(rows))


def _where(comparison: dict[str, Any]) -> str:
    return f"{comparison['B']} ({comparison['condition']})" if comparison["condition"] else str(comparison["B"])


def _tradeoff(tables: RunTables) -> Content | None:
    if tables.on_fabric:
        return None
    clouds = [cloud for cloud in tradeoff_data(tables) if cloud.delay.size]
    if not clouds:
        return None
    most = max(cloud.delay.size for cloud in clouds)
    shown = f"the first {MOST_DOTS} are drawn, " if most > MOST_DOTS else ""
    caption = (
        "Throughput share over link rate against mean delay over RTT. A dot is a network "
        f"({most:,} per signal set; {shown}mean over seeds and trainings), the large mark their mean. The dots "
        "show how networks differ; they are no evidence of a difference."
    )
    return Content(caption, draw_tradeoff(clouds), population=TRAININGS, data=data_table(clouds))


def _learning(tables: RunTables) -> Content | None:
    curves = learning_data(tables)
    if not curves:
        return None
    caption = (
        "Training score (bits) after each step against the packets simulated so far; "
        f"{len(curves)} trainings, a line each. The training networks change from step to step, so small differences "
        "between steps mean nothing."
    )
    return Content(caption, draw_learning(curves, tables.groups), population=EVERY, data=data_table(curves))


def _settling(tables: RunTables) -> Content | None:
    tracks = settling_data(tables.comparisons)
    if not tracks:
        return None
    caption = (
        "Estimate and confidence sequence (bits) at each look, to the end of the run. Band: the equivalence "
        "margin. The unit is a pair: one network with a seed, run with both policies."
    )
    return Content(caption, draw_settling(tracks), population=SELECTED, data=data_table(tracks))


SECTIONS: tuple[tuple[str, str, Maker], ...] = (
    ("ranking", "Ranking", ranking),
    ("convergence", "Estimates", estimates),
    ("agreement", "Both simulators", both_simulators),
    ("forest", "Differences from the baseline", _forest),
    ("scores", "Score by signal set", scores),
    ("capacity", "Score by number of rules", capacity),
    ("ideal", "What is possible", ideal),
    ("designed", "Hand-designed policies with the same signals", designed),
    ("tradeoff", "Throughput against delay", _tradeoff),
    ("slowdowns", "Slowdowns by scenario", slowdowns),
    ("ns3", "Validation in ns-3", ns3_validation),
    ("generalisation", "Generalisation tests", generalisation),
    ("per-network", "Networks on which candidates differ", per_network),
    ("fairness", "Fairness", fairness),
    ("learning", "Learning curves", _learning),
    ("settling", "Intervals by number of pairs", _settling),
)
