"""Names of the parts of a run's trials."""

from hypothesis import given
from hypothesis import strategies as st

from lcca.evaluation.trials.layout import part_name, part_words

WORDS = st.lists(
    st.text(max_size=12) | st.sampled_from(["u", "u-x", "u,x", "u%2Cx", "ns3-x", "..", "/", "~"]), max_size=4
)


@given(st.sampled_from(["validation", "ns3-selection", "test"]), WORDS)
def test_a_name_tells_its_words(phase: str, words: list[str]) -> None:
    name = part_name(phase, *words)
    assert part_words(name) == (phase, *words)  # so that other words have another name
    assert "/" not in name and not name.startswith(".")


def test_numbers_sort_as_they_count() -> None:
    names = [part_name("test", "default", number) for number in (0, 9, 10, 99_999, 100_000)]
    assert names == sorted(names) and names[1] == "test,default,000009"
