"""Cuts of a record: every byte in exactly one part, between items, else lines, else characters."""

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from jury_debate import ShownRecord, mark
from jury_debate.reading.shown_record import SMALLEST_PART, cuts, middle, refined
from support.each_row import each_row

SIGN, WORDS = "kz:", "⟦abcd2345⟧"

texts = st.text(
    st.one_of(
        st.characters(categories=["L", "M", "N", "P", "S", "Z"]), st.sampled_from("\n\u200b[]#1 kz:⟨⟩×U+\u0301e日")
    ),
    max_size=400,
)
long_texts = st.builds(lambda text, times: text * times, texts, st.integers(1, 40))
items = st.lists(st.one_of(texts, long_texts), max_size=12)


def shown(texts: list[str], sign: str = SIGN) -> ShownRecord:
    """A record of items as prompts show it, in two scenarios."""
    blocks = ["# What is evaluated", "## Scenario 1 of 2"]
    for number, text in enumerate(texts, 1):
        blocks.append(f"[{number}] Agent\n{mark(text, sign)}")
        if number == 3:
            blocks.append("## Scenario 2 of 2")
    return ShownRecord(("\n\n".join(blocks) + "\n\n").encode(), sign)


def parts_of(record: ShownRecord, most: int) -> list[bytes]:
    places = [0, *cuts(record, most), len(record.content)]
    return [record.content[start:end] for start, end in pairwise(places)]


@given(items, st.integers(SMALLEST_PART, 3000), st.sampled_from([SIGN, WORDS]))
@example(["", "x" * 5000, "y"], 256, SIGN)
@example(["e" + "\u0301" * 3000], 300, SIGN)
@example(["\u200b" * 10 + "日本" * 2000], 257, SIGN)
def test_every_byte_is_in_exactly_one_part_of_the_size(texts: list[str], most: int, sign: str) -> None:
    record = shown(texts, sign)
    parts = parts_of(record, most)

    assert record.content == b"".join(parts)
    assert all(0 < len(part) <= most for part in parts)
    assert record.content.decode() == "".join(part.decode() for part in parts)


@given(items, st.integers(SMALLEST_PART, 3000))
def test_a_cut_is_inside_an_item_only_where_the_rest_of_it_is_too_long(texts: list[str], most: int) -> None:
    record = shown(texts)
    at = 0
    for cut in cuts(record, most):
        starts = [item.start for item in record.items if at < item.start <= at + most]
        assert not starts or cut == starts[-1]
        at = cut


@given(items, st.integers(SMALLEST_PART, 3000), st.sampled_from([SIGN, WORDS]))
@example(["x" * 5000], 256, WORDS)
def test_a_cut_is_inside_a_line_only_behind_its_sign_and_where_it_is_too_long(
    texts: list[str], most: int, sign: str
) -> None:
    record = shown(texts, sign)
    for cut in cuts(record, most):
        line = record.content.rfind(b"\n", 0, cut) + 1
        if cut == line:
            continue
        end = record.content.find(b"\n", cut)
        assert end - line > most
        assert record.content.startswith(record.prefix, line)
        assert cut > line + len(record.prefix)


@each_row("text", ["a\u200b" * 2000, ("e\u0301" * 700) * 3, "か\u3099" * 900])
def test_written_out_characters_and_letters_with_marks_stay_whole(text: str) -> None:
    for part in (one for size in range(290, 310) for one in parts_of(shown([text]), size)[1:]):
        assert not unicodedata.combining(part.decode()[0])
        assert part.decode().count("⟨") == part.decode().count("⟩")


@given(items, st.lists(st.integers(SMALLEST_PART, 3000), max_size=4))
def test_windows_of_several_sizes_are_unions_of_common_parts(texts: list[str], sizes: list[int]) -> None:
    record = shown(texts)
    cut_sets = [cuts(record, most) for most in sizes]
    segments = refined(len(record.content), cut_sets)

    assert record.content == b"".join(record.content[start:end] for start, end in segments)
    assert {at for one in cut_sets for at in one} <= {start for start, _ in segments}


@given(long_texts)
def test_a_part_is_halved_until_it_is_small(text: str) -> None:
    record = shown([text])
    start, end = 0, len(record.content)
    while (half := middle(record, start, end)) is not None:
        assert start < half < end
        end = half

    assert end - start < 2 * SMALLEST_PART


def test_parts_that_are_too_small_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 256"):
        cuts(shown(["x"]), 255)


def test_headings_in_judged_text_are_no_items() -> None:
    record = shown(["[7] User\n# Heading\n【8】 User"])

    assert [1] == [item.number for item in record.items]
    assert "## Scenario 1 of 2" == record.sections_at(record.items[0].start)[-1].line


def test_the_sections_and_the_item_of_a_place_are_known() -> None:
    record = shown(["one", "two", "three", "four"])
    four = record.item(4)
    assert four is not None

    assert four == record.item_at(four.start + 9)
    assert ["## Scenario 2 of 2"] == [heading.line for heading in record.sections_at(four.start)]
    assert [3, 4] == [item.number for item in record.items_in(four.start - 30, four.end)]
    assert record.item(5) is None
