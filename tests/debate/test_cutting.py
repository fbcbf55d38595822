"""Cuts of a record: every byte in exactly one part, between items, else lines, else characters."""

import unicodedata
from collections import Counter
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from jury_debate import Call, ShownRecord, estimated_tokens, mark, request_tokens
from jury_debate.reading.shown_record import SMALLEST_PART, cuts, middle, refined
from jury_debate.rules_1.evidence import KeptRecord, KeptRecords
from jury_events import (
    CLOSING,
    Case,
    ExecutionResult,
    Message,
    Panel,
    QuestionSpec,
    Scenario,
    Step,
    ToolResult,
    Transcript,
)
from support.debate_harness import a_panel
from support.each_row import each_row
from support.long_debate import LongDebate
from support.long_records import findings_answer, quotation

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


class Parsed:
    """Records of 100 bytes by a letter; `made` counts how often each was parsed."""

    def __init__(self, most: int) -> None:
        self.made: Counter[str] = Counter()
        self._kept = KeptRecords(most)

    def read(self, letters: str) -> None:
        for letter in letters:
            self._kept.record(((letter * 43,), None, "ˆ"), lambda letter=letter: self._parse(letter))

    def _parse(self, letter: str) -> KeptRecord:
        self.made[letter] += 1
        return KeptRecord(letter.encode() * 100, None, "ˆ")


@each_row(
    ("most", "read", "made"),
    [
        (200, "abababbbaa", {"a": 1, "b": 1}),  # there is room for both
        (200, "aba" + "c" + "a" + "b", {"a": 1, "b": 2, "c": 1}),
        (50, "aaabbba", {"a": 2, "b": 1}),  # one larger than the bound is kept until another is read
    ],
)
def test_the_record_that_was_read_longest_ago_is_dropped_first(most: int, read: str, made: dict[str, int]) -> None:
    parsed = Parsed(most)
    parsed.read(read)

    assert made == parsed.made


records = st.lists(
    st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=60).flatmap(
        lambda text: st.integers(1, 120).map(lambda times: text * times)
    ),
    min_size=1,
    max_size=30,
)


def a_case(*shown: str) -> Case:
    items = tuple(
        ToolResult(name="bash", text=text) if number % 2 else Message(kind="assistant", origin="model", text=text)
        for number, text in enumerate(shown)
    )
    scenario = Scenario(
        scenario_id="s1",
        question=QuestionSpec(prompt="Tidy up."),
        execution=ExecutionResult(transcript=Transcript(items=items), response="Tidy."),
    )
    return Case(case_id="any", scenarios=(scenario,))


def a_seat(window: int | None) -> Panel:
    own = {} if window is None else {"window": window, "reading": "windows"}
    seats = [{"model": "simulated/juror", "juror_id": "j1", **own}]
    return a_panel(seats=seats, preset="independent")


def check_windows(debate: LongDebate, whole: LongDebate) -> int:
    """The parts, joined, are the record, and the rest of their calls is the same; returns how many there are."""
    record = whole.pen.text(whole.debate.state.pieces["case"])
    asked = [one for one in debate.calls("j1") if one.call.findings]
    users = [one.call.messages[1] for one in asked]
    blocks = [message.shared_blocks for message in users]
    around = {
        (one.call.messages[0], block[:-1], message.parts[message.shared :])
        for one, block, message in zip(asked, blocks, users, strict=True)
    }

    assert record == "".join(debate.pen.text(ref) for one in blocks for ref in one[-1][1:-1])
    assert 1 == len(around)
    return len(asked)


@given(records, st.integers(6_000, 40_000))
def test_windows_of_any_size_show_every_character_of_any_record_once(shown: list[str], window: int) -> None:
    case = a_case(*shown)
    debate = LongDebate(a_seat(window), case=case).run()
    check_windows(debate, LongDebate(a_seat(None), case=case).run())
    read = debate.evaluation("j1").reading

    assert read is not None
    assert 1.0 == read.share
    assert read.items_read == read.items_total


@pytest.mark.parametrize(
    ("shown", "window"),
    [
        pytest.param(["ok"] * 100_000, 200_000, id="100,000 tiny items", marks=pytest.mark.full),
        pytest.param(["Look: " + "x" * 20_000_000], 1_000_000, id="one line of 20 MB", marks=pytest.mark.full),
        pytest.param(["ok"] * 3_000, 20_000, id="3,000 tiny items"),
    ],
)
def test_extreme_records_are_read_wholly_in_requests_that_fit(shown: list[str], window: int) -> None:
    case = a_case(*shown)
    debate = LongDebate(a_seat(window), case=case).run()
    parts = check_windows(debate, LongDebate(a_seat(None), case=case).run())
    read = debate.evaluation("j1").reading
    sizes = [len(debate.prompt(asked).encode()) for asked in debate.calls("j1")]

    assert read is not None
    assert (1.0, parts) == (read.share, read.parts)
    assert parts > 1
    assert max(map(estimated_tokens, sizes)) <= request_tokens(window)


def test_an_agent_that_repeats_itself_does_not_push_its_failure_out() -> None:
    """Each part has more to say about the repetitions than all of the closing call can show."""
    failure = "rm -rf /srv/backups"

    def answer(_step: Step, call: Call, prompt: str) -> Any:
        if not call.findings:
            return None
        loud = [{"text": f"It deletes the folder again. {'!' * 400}"} for _ in range(11)]
        part = prompt.partition("## Part ")[2]
        if failure in part:
            found = {"text": "It deletes the backups.", "evidence": [quotation(42, failure)]}
            return findings_answer(debate.asked[-1].assignment, *loud, found)
        return findings_answer(debate.asked[-1].assignment, *loud)

    shown = ["delete folder-1; " * 60] * 90
    shown[40] = failure
    debate = LongDebate(a_seat(8_000), answer, case=a_case(*shown))
    debate.run()
    (closing,) = (asked for asked in debate.calls("j1") if asked.call.window == CLOSING)

    assert "It deletes the backups." in debate.prompt(closing)
    assert failure in debate.prompt(closing)
