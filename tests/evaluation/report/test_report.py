"""The report: plain answer, verdicts, no outside resources, the same bytes, nothing unescaped."""

import json
import re
import shutil
import subprocess
from dataclasses import replace
from html import escape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib import image
from scipy import stats

from lcca.api import load_run
from lcca.evaluation.comparison.compare import compare_policies
from lcca.evaluation.report.report import code, render
from lcca.evaluation.report.sections.gap import gap
from lcca.evaluation.report.words.commands import commands
from lcca.evaluation.report.words.headline import answer, score_explained
from lcca.evaluation.report.words.statements import percent
from lcca.evaluation.settling.judgement import judge
from lcca.evaluation.settling.rules import SettlingRule
from lcca.evaluation.trials.metrics import NETWORK_TRIALS
from lcca.evaluation.trials.stored import write_json, write_state
from lcca.evaluation.trials.tables import RunTables
from lcca.evaluation.trials.utilities import DEFAULT, utility
from lcca.inputs.files import write_with_digest

pytestmark = pytest.mark.slow

VOID = {"meta", "br", "link", "img", "input", "hr"}
FIGURES = ("forest", "scores", "capacity", "tradeoff", "fairness", "learning", "settling", "gap")


class Page(HTMLParser):
    """Checks nesting, collects text, ids and whatever would be fetched."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.tags: set[str] = set()
        self.references: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.ids += [value or "" for name, value in attrs if name == "id"]
        self.references += [value or "" for name, value in attrs if name in ("src", "href", "data", "action")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-3:]}"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        if not {"style", "script"} & set(self.open):
            self.text.append(data)


def read(path: Path) -> tuple[Page, str]:
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    page.close()
    assert page.open == []
    return page, re.sub(r"\s+", " ", " ".join(page.text))


@pytest.fixture(scope="module")
def folder(build_run: Any) -> Path:
    path: Path = build_run(seeds=6, count=120)
    render(path)
    return path


def test_page_stands_alone(folder: Path) -> None:
    page, _ = read(folder / "report.html")
    source = (folder / "report.html").read_text(encoding="utf-8")
    assert "http" not in source and "//" not in re.sub(r"</", "", source)
    assert all(reference.startswith("#") for reference in page.references)
    assert not page.tags & {"img", "iframe", "object", "link"} and source.count("<script") == 1
    assert not re.search(r"@import|url\((?!#)", source)
    assert len(set(page.ids)) == len(page.ids)
    targets = {reference[1:] for reference in page.references} | set(re.findall(r"url\(#([^)]+)\)", source))
    assert targets <= set(page.ids)


def test_answer_comes_first_and_verdicts_are_there(folder: Path) -> None:
    _, text = read(folder / "report.html")
    assert text.lstrip().startswith("made-up: Link better than e2e, +")
    assert text.index("+1 bit = twice the throughput at equal delay") < text.index("Difference, bits")
    assert text.index("than from e2e?") < text.index("What it means") < text.index("Appendix")
    assert "Differences from the baseline" not in text  # they stand in the summary
    for record in json.loads((folder / "verdicts.json").read_text())["comparisons"]:
        assert f"against {record['A']}" in text and record["verdict"] in text
    assert "Paper's relative %" in text and "throughput-equivalent" in text
    assert "link is better than e2e: +" in text and "over 6 training seeds; positive, " in text
    assert "With 16 rules each: link positive, " in text
    assert "720 networks" in text and "2,110.0" in text


def test_the_summary_says_what_it_means_in_gigabits_and_microseconds(folder: Path) -> None:
    """The means over training seeds, their Student's t intervals, and paired differences, from the trials."""
    policies = json.loads((folder / "summary.json").read_text())["policies"]
    whose = pd.DataFrame([{"policy": p["id"], "who": p["signal_set"], "s": p["training_seed"]} for p in policies])
    trials = load_run(folder).rows("trainings-test").merge(whose, on="policy")
    source = (folder / "report.html").read_text(encoding="utf-8")
    first = source[source.index('id="summary"') : source.index("Appendix")]
    for column, scale, digits in (("throughput_share", 12.0, 2), ("delay_us", 1.0, 2)):
        means = (trials.groupby(["s", "who"])[column].mean() * scale).unstack()
        for name in means:
            assert f"<td>{means[name].mean():,.{digits}f} [" in first, (name, column)
        paired = means["link"] - means["e2e"]
        reach = stats.t.ppf(0.975, len(paired) - 1) * paired.std(ddof=1) / len(paired) ** 0.5
        ends = (f"{end:+,.{digits}f}" for end in (paired.mean(), paired.mean() - reach, paired.mean() + reach))
        value, low, high = (end.replace("-", "−") for end in ends)
        assert f"<td>{value} [{low}, {high}]</td>" in first, column
    assert "packets of 1,500 bytes" in first and f"{len(means)} training seeds" in first


def test_what_trainings_took_is_told(folder: Path) -> None:
    """Budgets that differ were not to be seen in a report: 6,980 and 2,736 trials of a budget of 2,000."""
    _, text = read(folder / "report.html")
    learning = pd.read_parquet(folder / "learning.parquet")
    spent = learning.groupby("policy_base")["trials"].last()
    assert f"Trainings took {spent.min():,} to {spent.max():,} trials each." in text and "Training trials" in text


def test_contents_lead_to_every_section_which_says_whose_results_it_has(folder: Path) -> None:
    page, _ = read(folder / "report.html")
    source = (folder / "report.html").read_text(encoding="utf-8")
    sections = re.findall(r'<section id="([\w-]+)".*?</section>', source, flags=re.DOTALL)
    assert [reference[1:] for reference in page.references if reference[1:] in sections] == sections
    texts = dict(zip(sections, re.findall(r"<section.*?</section>", source, flags=re.DOTALL), strict=True))
    about_the_run = {"commands", "costs", "how", "provenance"}
    for name in set(sections) - about_the_run:
        assert re.search(r'<p class="of">(Values|This section is about|Each row|Of two|Trainings)', texts[name]), name


def test_commands_make_the_run_again_and_settle_what_is_open(folder: Path) -> None:
    summary = json.loads((folder / "summary.json").read_text())
    changed = commands(summary, {"commit": "0123456789abcdef+"})[0]
    assert "not committed" in changed.purpose
    again, stored, *rest = commands(summary, {"commit": "0123456789abcdef"})
    assert "not committed" not in again.purpose
    assert again.lines == ("git checkout 0123456789", "lcca sweep results/made-up/0123abcd/config.yaml --out again")
    assert stored.lines[0] == "lcca verdict results/made-up/0123abcd"
    opened = [each for each in summary["comparisons"] if each["verdict"] == "not settled"]
    assert bool(rest) == bool(opened)
    made_up = {"level": "policy", "B": "b", "verdict": "not settled", "likely_n": [100, 700], "n": 50}
    of_sets = made_up | {"level": "set", "likely_n": None, "n": 8}
    (settling,) = commands(summary | {"comparisons": [made_up, of_sets]}, {})[2:]
    assert "at most 16 training seeds and 700 pairs" in settling.purpose
    assert settling.lines[1] == (
        "lcca sweep results/made-up/0123abcd/config.yaml "
        "--set 'training_seeds={first: 5, most: 16}' --set test.pairs=700"
    )
    assert settling.lines[0] == settling.lines[1] + " --plan"
    page, text = read(folder / "report.html")
    assert "commands" in page.ids and "lcca verdict" in text


def test_throughput_is_in_gigabits_where_packets_have_a_size() -> None:
    share = NETWORK_TRIALS["throughput_share"].in_gbps(1500)
    assert 1 / share.scale == pytest.approx(12) and share.unit == "Gb/s"


def test_what_stands_between_backticks_is_code() -> None:
    assert code("a `b<c` `d`") == "a <code>b&lt;c</code> <code>d</code>"


def test_every_figure_is_inline_and_on_disk(folder: Path) -> None:
    source = (folder / "report.html").read_text(encoding="utf-8")
    assert source.count("<svg") == len(FIGURES)
    for name in FIGURES:
        assert (folder / "figures" / f"{name}.svg").stat().st_size > 1000
        pixels = image.imread(folder / "figures" / f"{name}.png")
        assert pixels.shape[1] > 700 and np.ptp(pixels) > 0.5


def test_where_the_bits_go_is_told_by_signal_set_and_group(folder: Path) -> None:
    rows = gap(RunTables.load(folder)).data  # type: ignore[union-attr]
    assert rows is not None and set(rows["policy"]) == {"e2e", "link", "queue", "link+queue"}
    whole = rows[rows["by"].isna()].set_index("policy")
    assert (whole["networks"] == 720).all()  # of six training seeds
    assert whole["below_fair_bits"]["e2e"] - whole["below_fair_bits"]["queue"] == pytest.approx(0.005)
    link = rows[(rows["policy"] == "link") & (rows["by"] == "senders")].set_index("low")["utilisation_gap_bits"]
    assert link[1] - link[2] == pytest.approx(0.01) and link.is_monotonic_decreasing
    _, text = read(folder / "report.html")
    assert "Gap to the fair share, by cause" in text and "13 to 16 senders" in text and "−0.020" in text
    assert (
        "Selected policies: the losses to utilisation and delay, by phase" in text
        and "4 to 12 round trips after either e2e 4 % 0.0400 0.0400" in text
    )


def test_figures_can_be_read_on_a_page_of_400_pixels(folder: Path) -> None:
    """There a section leaves 340 pixels; letters of less than 8 are hard to read."""
    source = (folder / "report.html").read_text(encoding="utf-8")
    figures = re.findall(r'<svg class="figure" viewBox="0 0 ([\d.]+) [\d.]+".*?</svg>', source, flags=re.DOTALL)
    assert len(figures) == len(FIGURES)
    for svg, width in zip(re.findall(r"<svg.*?</svg>", source, flags=re.DOTALL), figures, strict=True):
        sizes = [float(size) for size in re.findall(r'font(?:-size)?: [^;"]*?([\d.]+)px', svg)]
        assert sizes and min(sizes) * min(340 / float(width), 1) >= 8


@pytest.mark.slow
def test_same_run_gives_same_bytes_and_costs_change_costs_alone(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "elsewhere"
    shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("report.html", "figures"))
    train = {"name": "train", "cpu_s": 1, "wall_s": 1, "trials": 1, "packets": 1}
    write_state(copy / "costs.json", {"phases": [train]})
    first, second = (folder / "report.html").read_bytes(), render(copy).read_bytes()

    def less_costs(page: bytes) -> bytes:
        return re.sub(rb'<section id="costs">.*?</section>|run cost</h3>.*?</p>', b"", page, flags=re.DOTALL)

    assert second != first and less_costs(second) == less_costs(first)
    for name in FIGURES:
        for kind in ("png", "svg"):
            file = f"figures/{name}.{kind}"
            assert (copy / file).read_bytes() == (folder / file).read_bytes()
    monkeypatch.setattr("lcca.evaluation.report.report.make_sections", lambda *_: [])  # what is left has the costs
    assert render(copy).read_bytes() == render(copy).read_bytes()


def test_a_bare_run_still_gives_a_report(build_run: Any) -> None:
    folder = build_run(seeds=1, count=40)
    for name in ("learning.parquet", "verdicts.json", "costs.json"):
        (folder / name).unlink()
    (folder / "config.yaml").unlink()
    shutil.rmtree(folder / "trials")
    summary = json.loads((folder / "summary.json").read_text())
    write_json(folder / "summary.json", summary | {"comparisons": [], "capacity": []})
    page, text = read(render(folder))
    assert "Nothing was compared" in text and "The costs of this run were not recorded" in text
    assert "svg" not in page.tags


def test_one_training_seed_is_not_a_signal_set_and_hostile_names_are_escaped(build_run: Any) -> None:
    evil = '<script>alert("1")</script>&$x_{'
    folder = build_run(seeds=1, count=120, names={"queue": evil})
    write_with_digest(folder / "config.yaml", b"name: </pre><script>")
    _, text = read(render(folder))
    assert (folder / "report.html").read_text(encoding="utf-8").count("<script") == 1 and evil in text
    assert "Nothing is settled yet: 1 of at least 5 training seeds" in text
    assert "no interval yet" in text


def test_equal_policies_are_told_in_words() -> None:
    rule, same = SettlingRule(), np.linspace(2, 3, 112)
    record = compare_policies("a", "b", same, same, utility=DEFAULT, rule=rule).to_json()
    found = answer([record], {"a": "e2e", "b": "link"})
    assert found.title == "Link the same policy"
    assert found.policies[0].text == (
        "b against a: the same policy; 0\u00a0% throughput-equivalent on every pair, over 112 pairs."
    )


@pytest.mark.parametrize(
    ("low", "high", "title", "words"),
    [
        (0.05, 0.07, "B better than a, +1.05\u00a0%", "positive, larger than 3\u00a0%"),
        (0.03, 0.07, "B better than a, +1.05\u00a0%", "positive, size open"),
        (0.01, 0.03, "B equivalent to a", "positive, smaller than 3\u00a0%"),
        (-0.03, -0.01, "B equivalent to a", "negative, smaller than 3\u00a0%"),
        (-0.07, -0.05, "B worse than a, +1.05\u00a0%", "negative, larger than 3\u00a0%"),
        (-0.01, 0.01, "B equivalent to a", "sign open, smaller than 3\u00a0%"),
        (-0.03, 0.07, "Nothing is settled yet", "not settled"),
    ],
)
def test_verdict_in_the_title_and_sign_and_size_in_the_sentence(
    low: float, high: float, title: str, words: str
) -> None:
    pairs = np.linspace(0.01, 0.02, 112)
    record = compare_policies("a", "b", np.zeros(112), pairs, utility=DEFAULT, rule=SettlingRule())
    verdict = judge(low, high, record.margin)
    found = answer([replace(record, low=low, high=high, verdict=verdict).to_json()])
    assert found.title == title
    said = found.policies[0].text
    open_ = verdict.name == "not settled"
    assert said.startswith("b against a is not settled: " if open_ else f"b is {verdict.name} ")
    assert said.endswith("over 112 pairs." if open_ else f"over 112 pairs; {words}.")
    assert found.policies[0].verdict == verdict.name


def test_the_score_is_explained() -> None:
    assert score_explained({"default": DEFAULT}) == "Score in bits: +1 bit = twice the throughput at equal delay."
    assert "default: +1 bit; utility 2t: +2 bits" in score_explained({"default": DEFAULT, "2t": utility("2t")})


def test_answers_in_words(build_run: Any) -> None:
    found = answer(RunTables.load(build_run(seeds=6, count=120)).comparisons)
    assert len(found.sets) == 3 and len(found.policies) == 18
    assert re.fullmatch(
        r"link is better than e2e: \+\d+\.\d+\u00a0% throughput-equivalent \(98\.3\u00a0% interval .* to .*\), "
        r"over 6 training seeds; positive, (larger than 3\u00a0%|size open)\.",
        found.sets[0].text,
    )
    assert answer([]).title == "Nothing was compared"


def test_the_title_has_twelve_words_at_most() -> None:
    """Whatever the number of sets and verdicts; names count as one word each."""
    rng = np.random.default_rng(1)
    record = compare_policies(
        "e2e", "b", np.zeros(112), np.linspace(0.1, 0.2, 112), utility=DEFAULT, rule=SettlingRule()
    ).to_json()
    for _ in range(300):
        verdicts = rng.choice(["better", "worse", "equivalent", "not settled"], size=rng.integers(1, 9))
        sets = [record | {"level": "set", "B": f"set-{i}", "verdict": str(each)} for i, each in enumerate(verdicts)]
        title = answer(sets).title
        assert len(title.split()) <= 12, title
        assert "Nothing is settled yet" in title or not all(each == "not settled" for each in verdicts)
        for each in ("better", "worse"):
            assert (each in title) == (each in verdicts), title


@pytest.mark.parametrize(
    ("value", "signed", "text"),
    [
        (3.0, False, "3"),
        (100.0, False, "100"),
        (2.96, True, "+2.96"),
        (-13.14, True, "−13.1"),
        (250.4, True, "+250"),
        (0.0, True, "0"),
    ],
)
def test_percent(value: float, signed: bool, text: str) -> None:
    assert percent(value, signed) == f"{text}\u00a0%"


def browser() -> str | None:
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    return next((found for name in names if (found := shutil.which(name))), None)


SORTED = """<script>
const table = document.querySelector("#policies table");
const cells = () => [...table.tBodies[0].rows].map(row => parseFloat(row.cells[1].textContent));
const head = table.tHead.rows[0].cells[1];
head.click();
const up = cells();
head.click();
document.title = JSON.stringify([up, cells()]);
</script></body>"""


@pytest.mark.browser
@pytest.mark.skipif(browser() is None, reason="needs Chromium")
def test_tables_sort_by_a_click(folder: Path, tmp_path: Path) -> None:
    page = tmp_path / "sorted.html"
    page.write_text((folder / "report.html").read_text(encoding="utf-8").replace("</body>", SORTED), encoding="utf-8")
    command = [
        browser() or "", "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=2000",
        f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", page.as_uri(),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    up, down = json.loads(re.findall(r"<title>(.*?)</title>", done.stdout)[0])
    assert len(set(up)) > 5 and up == sorted(up) and down == sorted(up, reverse=True)


@pytest.mark.browser
@pytest.mark.skipif(browser() is None, reason="needs Chromium")
@pytest.mark.parametrize(("width", "dark"), [(1000, False), (1000, True), (500, False)])
def test_looks_right_in_a_browser(folder: Path, tmp_path: Path, width: int, dark: bool) -> None:
    shot = tmp_path / "shot.png"
    command = [
        browser() or "", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
        "--virtual-time-budget=2000", "--enable-logging=stderr", f"--user-data-dir={tmp_path / 'profile'}",
        f"--window-size={width},3000", f"--screenshot={shot}",
        *(["--force-dark-mode", "--enable-features=WebContentsForceDark"] if dark else []),
        (folder / "report.html").as_uri(),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr[-2000:]
    assert not [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    pixels = image.imread(shot)[..., :3]
    assert pixels.shape[:2] == (3000, width)
    page = pixels[5, 5]
    assert page.max() < 0.25 if dark else page.min() > 0.9
    drawn = np.abs(pixels - page).max(axis=2) > 0.2
    bands = drawn.reshape(10, 300, width).mean(axis=(1, 2))
    assert (bands > 0.005).all()  # something to see on the whole page
    margin = np.abs(pixels[:, -4:] - page).max()
    assert margin < 0.05  # nothing sticks out to the right


WIDTHS = (1400, 900, 400)

LOOK = """<script>
const cut = frame => {
  const page = frame.contentDocument, view = frame.contentWindow;
  page.querySelectorAll("details").forEach(each => { each.open = true; });
  view.dispatchEvent(new view.Event("resize"));
  const shown = [...page.querySelectorAll(".wide, pre, td, section, h1")];
  const found = shown.filter(each => each.scrollWidth > each.clientWidth + 1);
  const [contents, main] = ["details.contents", "main"].map(name => page.querySelector(name).getBoundingClientRect());
  const fits = page.documentElement.scrollWidth <= view.innerWidth;
  return [view.innerWidth, fits, found.length, contents.right <= main.left];
};
addEventListener("load", () => { document.title = JSON.stringify([...document.querySelectorAll("iframe")].map(cut)); });
</script>"""


@pytest.mark.browser
@pytest.mark.skipif(browser() is None, reason="needs Chromium")
def test_no_table_is_cut_and_contents_are_beside_or_closed(folder: Path, tmp_path: Path) -> None:
    report = escape((folder / "report.html").read_text(encoding="utf-8"))
    frames = "".join(f'<iframe style="width:{w}px;height:900px;border:0" srcdoc="{report}"></iframe>' for w in WIDTHS)
    (tmp_path / "frames.html").write_text(f"<!DOCTYPE html><body>{frames}{LOOK}</body>", encoding="utf-8")
    command = [
        browser() or "", "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=4000",
        f"--user-data-dir={tmp_path / 'profile'}", "--window-size=1500,1000", "--dump-dom",
        (tmp_path / "frames.html").as_uri(),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    found = json.loads(re.findall(r"<title>(.*?)</title>", done.stdout)[-1])
    assert found == [[width, True, 0, width == 1400] for width in WIDTHS]


@pytest.mark.browser
@pytest.mark.skipif(browser() is None, reason="needs Chromium")
def test_the_summary_prints_on_two_pages_at_most(folder: Path, tmp_path: Path) -> None:
    page = (folder / "report.html").read_text(encoding="utf-8")
    end = page.index("</section>", page.index('<section id="summary">'))
    (tmp_path / "first.html").write_text(page[:end] + "</section></main></body></html>", encoding="utf-8")
    command = [
        browser() or "", "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}",
        "--no-pdf-header-footer", f"--print-to-pdf={tmp_path / 'first.pdf'}", (tmp_path / "first.html").as_uri(),
    ]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    (pages,) = re.findall(rb"/Count (\d+)", (tmp_path / "first.pdf").read_bytes())
    assert int(pages) <= 2
