"""`jury show --evidence`: quotations seat by seat, and the decisive items, in 80 columns and the panel's language."""

from io import StringIO

import pytest
from rich.cells import cell_len
from rich.console import Console

from jury_views import evidence_data, evidence_page
from support.debate_builder import DebateBuilder
from support.debate_harness import Says
from support.evidence_debate import EvidenceDebate, all_saying, quoting


def shown(debate: EvidenceDebate | DebateBuilder) -> list[str]:
    out = StringIO()
    evidence_page(debate.events, debate.texts).print(Console(file=out, width=80))
    return out.getvalue().splitlines()


@pytest.mark.parametrize(
    "lines",
    [
        ["    ✓ item 5: verified · against the agent", '      "without asking"'],
        ["    ≈ item 4: normalised · for the agent · task_completion", '      "REFUNDED  48.00"'],
        ["    ↷ item 7: elsewhere, in item 3 · context", '      "customer asked"'],
        ["    ✗ item 6: not found · against the agent", '      "it never verified"'],
        ["Final judge", "  ✗ unsafe_fail · decisive item: 5"],
        ["Juror C (Misuse detection: simulated)", "  phase 1: ✓ safe_pass"],
        ["Where it went wrong", "The jurors name different items."],
        [
            "  item 5",
            '    "I refunded order 17 without asking."',
            "    ✗ unsafe_fail  Juror A (Policy compliance: simulated)",
        ],
    ],
)
def test_each_quotation_has_its_result_its_item_and_its_first_words(lines: list[str]) -> None:
    page = shown(EvidenceDebate())

    assert lines == page[page.index(lines[0]) :][: len(lines)]


def test_a_quotation_of_a_seat_names_it() -> None:
    page = shown(EvidenceDebate())

    head = "    ✓ Juror A (Policy compliance: simulated) on item 5:"
    assert "      verified · against the agent" == page[page.index(head) + 1]


def test_a_japanese_panel_has_japanese_labels() -> None:
    page = shown(EvidenceDebate(language="ja"))

    assert {
        "    ↷ 項目7: 別の場所: 項目3 · 背景",
        "    ✗ 項目6: 該当なし · エージェントに不利",
        "最初に誤りが起きた項目",
    } <= {*page}


@pytest.mark.parametrize("quote", ["A" * 200, "返金" * 100, "a\nb\tc" * 40, "\x1b[31m\u202e" * 20])
def test_long_and_hostile_quotations_are_one_line_of_80_columns(quote: str) -> None:
    page = shown(EvidenceDebate(all_saying(Says("unsafe_fail", evidence=(quoting(5, quote),)))))

    assert 80 >= max(map(cell_len, page))
    assert "\x1b" not in "".join(page)
    assert "\u202e" not in "".join(page)


def test_a_failing_verdict_without_support_says_so() -> None:
    debate = EvidenceDebate(all_saying(Says("unsafe_fail", evidence=(quoting(5, "not there"),))))

    page = shown(debate)

    assert "    without support: no quotation stands" in page


def test_an_evaluation_without_quotations_and_a_debate_without_decisive_items_say_so() -> None:
    page = shown(EvidenceDebate(all_saying(Says("safe_pass", 90.0)), Says("safe_pass", 90.0)))

    assert "    No quotation" in page
    assert ["Where it went wrong", "No item was named."] == page[-2:]


@pytest.mark.parametrize(
    ("recorded", "words"),
    [(True, "      [erased]"), (False, "      [missing, and no erasure is recorded: run jury verify]")],
)
def test_quotations_that_were_erased_or_are_missing_say_so(*, recorded: bool, words: str) -> None:
    page = shown(EvidenceDebate().without_quotes(recorded=recorded))

    assert words in page


def test_quotations_that_cannot_be_read_say_so() -> None:
    debate = EvidenceDebate()
    for ref in [ref for ref, content in debate.texts.items() if content.startswith(b'["')]:
        debate.texts[ref] = b"not JSON"

    assert "      [cannot be read: run jury verify]" in shown(debate)


def test_a_debate_whose_jurors_were_not_asked_says_so() -> None:
    assert "The jurors of this debate were not asked for quotations." in shown(DebateBuilder().phase_1())


def test_the_data_has_an_object_an_evaluation() -> None:
    debate = EvidenceDebate()

    found = evidence_data(debate.events, debate.texts)

    steps = ["initial/gpt", "initial/claude", "initial/gemini", "round-1/gpt", "round-1/claude", "round-1/gemini"]
    assert [*steps, "final"] == [one["step"] for one in found]
    assert ("Juror A (Policy compliance: simulated)", "unsafe_fail", 5, False) == (
        found[0]["role_name"],
        found[0]["verdict"],
        found[0]["decisive_item"],
        found[0]["unsupported"],
    )
    assert "without asking" == found[0]["evidence"][0]["quote"]
    assert [] == evidence_data(DebateBuilder().phase_1().events, {})
