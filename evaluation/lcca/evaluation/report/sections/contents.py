"""The figures of a report, each with a caption that says unit and n, or why it is not there."""

from html import escape
from pathlib import Path

from lcca.evaluation.report.figures.forest import draw_forest, forest_data
from lcca.evaluation.report.figures.learning import draw_learning, learning_data
from lcca.evaluation.report.figures.scores import draw_scores, scores_data
from lcca.evaluation.report.figures.settling import draw_settling, settling_data
from lcca.evaluation.report.figures.style import inline_svg, save
from lcca.evaluation.report.figures.tradeoff import MOST_DOTS, draw_tradeoff, tradeoff_data
from lcca.evaluation.report.sections.agreement import truth
from lcca.evaluation.report.sections.generalisation import elsewhere
from lcca.evaluation.report.sections.per_network import WHERE_PLATES
from lcca.evaluation.report.sections.section import Content, Maker, Plate
from lcca.evaluation.trials.tables import RunTables


def make_plates(tables: RunTables, folder: Path) -> list[Plate]:
    """Draw every figure that the run has data for, and save it as SVG and PNG into a folder."""
    found = [_plate(tables, folder, *each) for each in PLATES]
    return [plate for plate in found if plate]


def _plate(tables: RunTables, folder: Path, name: str, title: str, make: Maker) -> Plate | None:
    content = make(tables)
    if content is None:
        return None
    svg = None
    if content.figure is not None:
        save(content.figure, folder, name)
        svg = inline_svg(content.figure, name, escape(f"{title}. {content.caption}"))
    return Plate(name, title, content.caption, svg, content.answer, content.tables)


def _forest(tables: RunTables) -> Content:
    rows = forest_data(tables.comparisons)
    if not rows:
        return Content("Nothing was compared.")
    caption = (
        "Difference of the mean score from the baseline, in bits, with its interval; the band is the margin "
        "that does not matter. ▲ better, ▼ worse, ■ equivalent, ○ not settled; dotted: no interval yet. "
        "Signal sets: the unit is a training seed, Student's t. Policies: the unit is a network with its own "
        "seed, met by both; a confidence sequence, valid at every look. n is in the tables."
    )
    return Content(caption, draw_forest(rows))


def _scores(tables: RunTables) -> Content:
    rows = scores_data(tables)
    if not rows:
        return Content("No trials were recorded.")
    seeds, networks = max(len(row.policies) for row in rows), max(row.networks for row in rows)
    over = "training seeds and networks" if seeds > 1 else "networks alone, as there is one training seed"
    caption = (
        f"Mean score on test networks, in bits (◆), with a 95 % Student's t interval over {over} "
        f"({networks:,} networks; policies a group: up to {seeds}, small dots if several). Policies meet the "
        "same networks, so these intervals overlap even where the paired difference is settled: judge "
        "differences by the forest plot. The paper's Fig. 3 shows standard deviations here."
    )
    return Content(caption, draw_scores(rows))


def _tradeoff(tables: RunTables) -> Content:
    clouds = [cloud for cloud in tradeoff_data(tables) if cloud.delay.size]
    if not clouds:
        return Content("No trials were recorded.")
    most = max(cloud.delay.size for cloud in clouds)
    shown = f"the first {MOST_DOTS} are drawn, " if most > MOST_DOTS else ""
    caption = (
        "Throughput share over link rate against mean delay over rtt. A dot is a network "
        f"({most:,} a group; {shown}mean over seeds and policies), ◆ their mean, the ellipse one standard "
        "deviation across networks: a spread of networks, not evidence of a difference."
    )
    return Content(caption, draw_tradeoff(clouds))


def _learning(tables: RunTables) -> Content:
    curves = learning_data(tables)
    if not curves:
        return Content("No training was recorded in this run.")
    caption = (
        "Training score (bits) after each step against the packets simulated so far; "
        f"{len(curves)} trainings, a line each. Training networks change along the way, so neighbouring "
        "steps are not comparable to the last digit."
    )
    return Content(caption, draw_learning(curves, tables.groups))


def _settling(tables: RunTables) -> Content:
    tracks = settling_data(tables.comparisons)
    if not tracks:
        return Content("No looks were recorded.")
    caption = (
        "Estimate and confidence sequence (bits) at each look, up to the one that settled it; the band is "
        "the margin. The unit is a pair: one network with its own seed, met by both policies."
    )
    return Content(caption, draw_settling(tracks))


PLATES: tuple[tuple[str, str, Maker], ...] = (
    ("forest", "Who is better, and does it matter", _forest),
    ("scores", "Score by signal set", _scores),
    ("tradeoff", "Throughput against delay", _tradeoff),
    ("ns3", "What ns-3 says", truth),
    ("elsewhere", "On networks that no policy learnt on", elsewhere),
    *WHERE_PLATES,
    ("learning", "Learning curves", _learning),
    ("settling", "How the comparisons settled", _settling),
)
