"""A search for a header: list, screen, screen again, look for codes, write the finalists down, confirm them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from lcca.evaluation.trials.place import Execution
from lcca.experiments.campaign.config import CampaignConfig
from lcca.experiments.experiment import Costs
from lcca.experiments.recipes.function import function
from lcca.experiments.recipes.kept import Described, config_of
from lcca.experiments.runs.context import Run
from lcca.experiments.runs.forecast import Cost, cpu_s_per_weight
from lcca.experiments.runs.seeds import derive
from lcca.experiments.summaries import Json, head
from lcca.experiments.verbs.options import WrittenAlone
from lcca.experiments.verbs.sweeping import Sweep
from lcca.inputs.errors import InputError
from lcca.inputs.files import read_checked, write_checked, write_with_digest
from lcca.inputs.yaml_text import dump
from lcca.signal_sets.headers.text import describe
from lcca.studies.design.config import EVERYTHING, DesignConfig
from lcca.studies.design.front import answers, budgets, record
from lcca.studies.design.listing import Listing, Tried
from lcca.studies.design.port import steps
from lcca.studies.design.screen import FOLDER, Screened, Screening
from lcca.workers.pool import Pool

FINALISTS = "finalists.json"
"""In the search's folder: the headers that are confirmed. Written once, before the confirmation begins."""

CONFIRMATION = "confirmation"
"""In a run's folder: the run of the campaign that confirms the finalists."""

WINNER = "winner.yaml"
"""In a run's folder: the header to take within the whole budget."""

CANDIDATES = 10
"""Headers whose codes and windows are searched: the best within each budget, and of all."""

PLANNED = 256
"""Trials that a plan may look at."""

HEADERS = 1.6
"""About what a trial with a header takes of one without."""

BOUND = ("capacity", "flows", "fair_rate", "link", "queue", "queue_time", "available_capacity", "hop_delay")
"""Signals that the bound of networks has, free and exact."""


def designing(verb: WrittenAlone) -> Described[DesignConfig]:
    """Search the header that pays most within bytes on the wire and state of a port, and confirm what is found."""
    config = config_of(verb.config, DesignConfig, verb.overrides)
    try:
        listing = Listing(config.search, config.ground)
    except InputError as error:
        key, _, text = str(error).partition(": ")
        raise config.problem(("search", key), text) from error
    example = (listing.singles or listing.placebos)[0].header
    finalists = [example.model_copy(update={"name": f"finalist-{i}"}) for i in range(listing.most_finalists())]
    config.confirmation([*finalists, listing.placebos[0].header], _bound(config))  # or say what is wrong before all

    def begin(workers: Pool) -> Callable[[Run[DesignConfig, None]], Json]:
        return partial(_work, listing=listing, verb=verb, workers=workers)

    return Described(config, verb, begin, partial(costs, config, listing))


design = function("design", WrittenAlone, designing)


def _bound(config: DesignConfig) -> list[str]:
    return [] if config.on_fabric else list(BOUND)


def _work(run: Run[DesignConfig, None], listing: Listing, verb: WrittenAlone, workers: Pool) -> Json:
    config = run.config
    if listing.over_budget:
        run.reporter.say(f"not within the budget, so not tried: {', '.join(listing.over_budget)}")
    phases = _searched(Screening(run, workers), config, listing)
    known = {each.name: each for each in [*listing.placebos, *(one for _, tried, _ in phases for one in tried)]}
    finalists = [known[name] for name in _finalists(run, phases, known)]
    campaign = config.confirmation([each.header for each in finalists], _bound(config))
    run.reporter.say(f"confirming {', '.join(each.name for each in finalists)}")
    confirmed = _confirmed(run, campaign, verb)
    return _content(run, phases, finalists, confirmed)


Phase = tuple[str, list[Tried], list[Screened]]
"""Its name, the headers that it screened, and what it found, the best first."""


def _searched(screening: Screening, config: DesignConfig, listing: Listing) -> list[Phase]:
    """Return the phases of a search."""
    search, phases = config.search, list[Phase]()

    def screen(name: str, tried: list[Tried], again: bool = False) -> list[Tried]:
        """Screen headers, and return them in the order found."""
        found = screening.phase(name, tried, search.again if again else search.screen)
        phases.append((name, tried, found))
        by_name = {each.name: each for each in tried}
        return [by_name[row.name] for row in found]

    singles = screen("one number", [*listing.singles, *listing.placebos])
    pairs = listing.pairs(singles)
    if pairs:
        screen("two numbers", pairs)
    scores = {row.name: row.mean for _, _, found in phases for row in found}
    order = sorted((*singles, *pairs), key=lambda tried: (-scores[tried.name], tried.name))
    real = [each for each in order if not each.placebo] or order
    kept = real[: max(1, round(search.keep * len(real)))]
    kept += [each for cell in _cells(real, config) for each in cell[:1] if each not in kept]
    again = screen("again", kept, again=True)
    best = dict.fromkeys([*(cell[0] for cell in _cells(again, config) if cell), *again])
    if codes := listing.codes(list(best)[:CANDIDATES], scores):
        screen("codes", codes, again=True)
    return phases


def _cells(order: Sequence[Tried], config: DesignConfig) -> list[list[Tried]]:
    """Return the headers within each budget that answers are for, in the same order."""
    most = budgets(config.search.most, config.search.oracles)
    return [
        [
            each
            for each in order
            if each.bytes <= size and (state is None or (each.state_bits is not None and each.state_bits <= state))
        ]
        for size, state in most
    ]


def _finalists(run: Run[DesignConfig, None], phases: Sequence[Phase], known: Mapping[str, Tried]) -> list[str]:
    """Return the headers to confirm: the best, the best of each budget, fewest bytes first, and the best placebo."""
    file = run.path / FOLDER / FINALISTS
    if file.exists():
        names: list[str] = json.loads(read_checked(file, "remove it and the confirmation to choose anew"))
        if unknown := [name for name in names if name not in known]:
            raise InputError(
                f"{file}: {', '.join(unknown)}: not tried by this version's search; remove it and "
                f"{run.path / CONFIRMATION} to choose anew, or go on with the version that wrote it"
            )
        return names
    again = {row.name: row for name, _, found in phases if name in ("again", "codes") for row in found}
    order = [known[name] for name in sorted(again, key=lambda name: (-again[name].mean, name))]
    best = [cell[0] for cell in _cells(order, run.config) if cell]
    chosen = dict.fromkeys(each.name for each in (order[0], *best, *order) if again[each.name].mean > 0)
    (_, _, first), *_ = phases
    placebo = next(row.name for row in first if known[row.name].placebo)
    names = list(dict.fromkeys([*list(chosen)[: run.config.search.finalists], placebo]))
    write_checked(file, json.dumps(names).encode())
    return names


def _confirmed(run: Run[DesignConfig, None], campaign: CampaignConfig, verb: WrittenAlone) -> Mapping[str, Any]:
    """Run the campaign that confirms the finalists, on training seeds and networks that no phase has met."""
    from lcca.experiments.recipes.sweep import sweeping  # which imports all that campaigns need

    sweep = Sweep(campaign, jobs=verb.jobs, executor=verb.executor)
    found = sweeping(sweep).run(run.path / CONFIRMATION, resume=True, quiet=run.reporter.console.quiet)
    return found.content


def _content(
    run: Run[DesignConfig, None], phases: Sequence[Phase], finalists: Sequence[Tried], confirmed: Mapping[str, Any]
) -> Json:
    """Return the content of summary.json; write the winner."""
    config, net = run.config, confirmed["net_benefit"]
    rows = {row["header"]: row for row in net["rows"]}
    records = [record(each, rows[each.name]) for each in finalists]
    most = budgets(config.search.most, config.search.oracles)
    found = list(answers(records, net["choices"][0]["pairs"], most))
    placebo_pays = any(row["placebo"] and row["decision"] == "pays" for row in records)
    whole = next(each for each in reversed(found) if each["state_bits"] is not None)
    winner = next((each for each in finalists if each.name == whole["take"]), None)
    if winner is not None and not placebo_pays:
        write_with_digest(run.path / WINNER, _winner(winner).encode())
    everything = next((row for row in confirmed["comparisons"] if row["B"] == EVERYTHING), None)
    bound = everything and {key: everything[key] for key in ("difference", "low", "high", "n")}
    return head(config) | {
        **{"utility": config.utilities[0].name, "baseline": config.baseline, "unit": "bits"},
        **{"required": config.utilities[0].build().difference(config.required_percent)},
        **{"required_percent": config.required_percent, "percent_of": config.networks.percent_of},
        "design": found,
        "confirmed": records,
        "bound": bound,
        "placebo_pays": placebo_pays,
        "tried": [
            {"phase": name, "header": row.name, "screened": row.mean, "error": row.error}
            for name, _, screened in phases
            for row in screened
        ],
        "comparisons": [],
    }


def _winner(tried: Tried) -> str:
    """Return a header as a file, what it costs and what a port does for it in comments first."""
    done = ["", "What a port does with a packet that it sends:", *(f"  {line}" for line in steps(tried.header)), ""]
    said = [f"# {line}".rstrip() for line in [*describe(tried.header).splitlines(), *done]]
    content = tried.header.model_dump(mode="json", exclude_unset=True)
    return "\n".join(said) + "\n" + dump(content)


def costs(config: DesignConfig, listing: Listing, jobs: int = 1) -> Costs:
    """Return about what a search costs, by the pace of a law without a header, and its confirmation at first."""
    search, each = config.search, config.learner
    first = len(listing.singles) + len(listing.placebos) + len(listing.pairs(listing.singles))
    again = round(search.keep * first) + search.codes
    searched = first * (search.screen.trials + search.screen.networks) * search.screen.seeds
    searched += again * (search.again.trials + search.again.networks) * search.again.seeds
    shared, own = each.budget.shared, each.budget.amount - each.budget.shared
    policies = search.finalists + 2 + (not config.on_fabric)
    tests = config.validation.networks + config.test.per_training_seed
    alike, seeds = shared * max(search.screen.seeds, search.again.seeds), len(config.seed_steps[0])
    confirmed = seeds * policies * (own + 2 * tests)
    place = config.networks.trials(derive(config.seed, "plan"), config.utilities[0].build(), Execution(jobs=jobs))
    policy = each.example(config.base.signals)
    pace, tried = cpu_s_per_weight(lambda block: place.rows({"plan": policy}, block), place.weights(PLANNED))
    cost = pace * sum(place.weights(PLANNED)) / PLANNED
    return Costs(
        {
            "search, about": Cost(
                searched + alike, "trials", cost * (alike + HEADERS * searched), jobs, "search, trainer.stages"
            ),
            "confirmation, at first about": Cost(
                confirmed + seeds * shared,
                "trials",
                cost * (seeds * shared + HEADERS * confirmed),
                jobs,
                "training_seeds, search.finalists, test",
            ),
        },
        tried,
    )
