"""The sections of a report: each figure's caption has unit and n, or the reason why there is no figure."""

from html import escape
from pathlib import Path

from lcca.evaluation.report.figures.saving import inline_svg, save
from lcca.evaluation.report.sections.agreement import both_simulators, ns3_validation
from lcca.evaluation.report.sections.differences import capacity, designed, forest, generalisation, settling, strata
from lcca.evaluation.report.sections.gap import gap
from lcca.evaluation.report.sections.groups import fairness, scores, trainers
from lcca.evaluation.report.sections.jobs import jobs
from lcca.evaluation.report.sections.network_shares import per_network
from lcca.evaluation.report.sections.policies import curve, measures, merit, questions, tried
from lcca.evaluation.report.sections.ranking import ranking
from lcca.evaluation.report.sections.section import Maker, Section
from lcca.evaluation.report.sections.trainings import ideal, learning, slowdowns, tradeoff, worth
from lcca.evaluation.trials.tables import RunTables
from lcca.inputs.studies import attribute, studies


def make_sections(tables: RunTables, folder: Path) -> list[Section]:
    """Draw every figure that the run has data for, and save it as SVG and PNG into a folder."""
    found = [_section(tables, folder, *each) for each in sections()]
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


CORE: tuple[tuple[str, str, Maker], ...] = (
    ("ranking", "Ranking", ranking),
    ("questions", "Questions", questions),
    ("agreement", "Both simulators", both_simulators),
    ("forest", "Differences from the baseline", forest),
    ("scores", "Score by signal set", scores),
    ("strata", "By scenario or stratum", strata),
    ("trainers", "Every trainer", trainers),
    ("capacity", "Score by number of rules", capacity),
    ("ideal", "What is possible", ideal),
    ("worth", "The gap to ideals", worth),
    ("gap", "Gap to the fair share, by cause", gap),
    ("designed", "Hand-designed policies with the same signals", designed),
    ("tradeoff", "Throughput against delay", tradeoff),
    ("slowdowns", "Slowdowns by scenario", slowdowns),
    ("jobs", "Jobs of training", jobs),
    ("ns3", "Validation in ns-3", ns3_validation),
    ("generalisation", "Generalisation tests", generalisation),
    ("per-network", "Networks on which candidates differ", per_network),
    ("fairness", "Fairness", fairness),
    ("learning", "Learning curves", learning),
    ("settling", "Intervals by number of pairs", settling),
    ("merit", "Figure of merit", merit),
    ("measures", "Policies", measures),
    ("tried", "Candidates", tried),
    ("curve", "Learning curve", curve),
)
"""In the order of the page; those of studies stand before one of them."""


def sections() -> list[tuple[str, str, Maker]]:
    """Return all sections: name, title, and what makes them."""
    found = list(CORE)
    for study, what in studies().items():
        for each in what.sections:
            place = [name for name, *_ in found].index(each.before)
            found.insert(place, (each.name, each.title, attribute(study, each.maker)))
    return found
