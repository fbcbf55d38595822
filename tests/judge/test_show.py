"""A debate is shown whole, in the panel's language, and nothing in it steers the terminal."""

import unicodedata
from datetime import date
from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from jury_events.case import Omission
from jury_events.debate_events import DebateCancelled, DebateFailed
from jury_events.exchange import CacheWrite, Usage
from jury_events.outcome import CallOutcome
from jury_events.text.visible_text import visible, visible_line
from jury_events.verdict import Verdict
from jury_views.terminal.calls import UncachedCost
from jury_views.terminal.debate import render_debate
from support.debate_builder import DebateBuilder


def whole(**options: str) -> DebateBuilder:
    return DebateBuilder(**options).phase_1().round_1().judged()  # type: ignore[arg-type]


def shown(debate: DebateBuilder, *, full: bool = False, terminal: bool = False, no_color: bool = False) -> str:
    out = StringIO()
    console = Console(
        file=out, force_terminal=terminal, no_color=no_color, width=80, color_system="standard", legacy_windows=False
    )
    render_debate(debate.events, debate.exchanges, debate.texts, console, full=full)
    return out.getvalue()


@pytest.mark.parametrize(
    "line",
    [
        "Debate run-1~c1",
        "Case: c1",
        "Run: run-1",
        "Human label: ✗ unsafe_fail",
        "Status: completed",
        "Simulated jurors: no model was called.",
        "  May I?",
        "10 security-gate and 6 agent-card records",
        "Phase 1: independent evaluation",
        "Juror B (juror-claude)",
        "  ✗ unsafe_fail  40.5/100 · confidence 0.80",
        "  task_completion 20/40 · tool_usage 10.5/30 · autonomy 10/20 · safety 0/10",
        "  No verification was made.",
        "  ? needs_review  50/100 · confidence 0.00 · stands in for a blocked answer",
        "— Consensus: split 1/3, not reached —",
        "Juror A (juror-gpt)  [position changed]",
        "  I overlooked the code; I now fail it.",
        "Juror C (juror-gemini)  abstained (unparseable, wrong_ballot); its earlier evaluation stands",
        "— Consensus: majority unsafe_fail 2/3, reached —",
        "✗ unsafe_fail  50/100 · decided by final_judge",
        "quorum 2 of 2",
        "The final judge is also the model of juror-gpt, juror-claude, juror-gemini: it judged its own statements.",
        "  Juror C (juror-gemini)  synthetic, stale  ? needs_review  50     0.00        1       phase 1",
        "✗ unsafe_fail  50/100 · rounds: 1 · ended by: consensus · ended early",
    ],
)
def test_every_part_of_a_debate_is_shown(line):
    assert line in shown(whole()).splitlines()


def test_statements_of_two_rounds_are_one_stream():
    text = shown(whole())

    phase_2 = text[text.index("Phase 2") : text.index("Phase 3")]
    assert "round" not in phase_2.lower()


@pytest.mark.parametrize("heading", ["Phase 1: 独立評価", "陪審員A（juror-gpt）  [立場変更]", "Phase 3: 最終判定"])
def test_a_japanese_panel_has_japanese_headings(heading):
    assert heading in shown(whole(language="ja")).splitlines()


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        (
            "en",
            [
                "Tags: refund, card",
                "Cluster: 支払い",
                "Metadata: level: 3, known: true, source: a",
                "Cost of the judged agent: $0.2500",
                "not shown to jurors: 2 image/png (96 KB), 1 audio/wav",
            ],
        ),
        (
            "ja",
            [
                "タグ: refund, card",
                "クラスタ: 支払い",
                "メタデータ: level: 3, known: true, source: a",
                "評価対象エージェントの費用: $0.2500",
                "陪審員に示されていないもの: image/png 2件（96 KB）、audio/wav 1件",
            ],
        ),
    ],
)
def test_facts_of_the_case_and_items_that_no_juror_was_shown_are_printed(language, expected):
    omissions = (Omission(what="image/png", count=2, size=96_000), Omission(what="audio/wav", count=1))
    metadata = {"level": 3, "known": True, "source": "a"}
    debate = DebateBuilder(language=language).opened_as(
        tags=("refund", "card"), cluster="支払い", metadata=metadata, agent_cost=0.25, omissions=omissions
    )

    lines = shown(debate).splitlines()

    assert expected == [line for line in lines if line in expected]


def test_calls_are_counted_by_model_with_what_is_unknown():
    debate = whole()
    debate.called("openai/gpt-4o", CallOutcome.ANSWERED, Usage(input_tokens=100, output_tokens=20), 0.01)
    debate.called("openai/gpt-4o", CallOutcome.TIMEOUT, Usage(), None)
    debate.called("simulated/juror", CallOutcome.ANSWERED, Usage(input_tokens=5, output_tokens=1), 0.0)

    rows = [line.split("  ") for line in shown(debate).splitlines()[-4:]]

    assert [[cell.strip() for cell in row if cell.strip()] for row in rows] == [
        ["model", "Calls", "answered", "timeout", "tokens in / out", "cost"],
        ["openai/gpt-4o", "2", "1", "1", "100 + unknown / 20 + unknown", "$0.0100 + unknown"],
        ["simulated/juror", "1", "1", "0", "5 / 1", "$0.0000"],
        ["total", "3", "2", "1", "105 + unknown / 21 + unknown", "$0.0100 + unknown"],
    ]


def test_a_long_case_is_shortened_with_the_omitted_length():
    debate = whole(prompt="x" * 1000)

    assert "  … (400 more characters)" in shown(debate).splitlines()
    assert "x" * 1000 in shown(debate, full=True)


def test_a_long_rationale_is_never_shortened():
    debate = DebateBuilder()
    debate._evaluated("juror-gpt", debate.evaluation(Verdict.SAFE_PASS, (1.0, 1.0, 1.0, 1.0), "y" * 5000))

    assert "y" * 5000 in shown(debate)


def test_an_erased_text_differs_from_a_missing_one():
    erased = shown(whole().erased("No verification was made."))
    missing = shown(whole().erased("No verification was made.", recorded=False))

    assert "  [erased]" in erased.splitlines()
    assert "  [missing, and no erasure is recorded: run jury verify]" in missing.splitlines()


@pytest.mark.parametrize(
    ("ending", "line"),
    [
        (None, "The debate is unfinished."),
        (DebateFailed(reason="no_model", detail=None), "The debate failed: no_model"),
        (DebateCancelled(by="ops", reason=None), "The debate was cancelled by: ops"),
    ],
)
def test_a_debate_without_a_result_is_printed_with_the_reason(ending, line):
    debate = DebateBuilder().phase_1()
    debate.events += [ending] if ending else []

    assert line in shown(debate).splitlines()


def test_a_case_that_cannot_be_read_is_shown_as_it_is():
    assert '  {"case": 1}' in shown(whole(case='{"case": 1}')).splitlines()


def test_markup_and_emoji_codes_in_a_text_are_text():
    text = shown(whole(prompt="[bold]:smile:[/bold] [link=http://x]y[/link]"), terminal=True)

    assert "[bold]:smile:[/bold] [link=http://x]y[/link]" in text


def test_a_terminal_gets_colour_and_wraps_at_the_indent():
    lines = shown(whole(prompt="word " * 40), terminal=True).splitlines()

    assert "\x1b[" in "".join(lines)
    assert sum(line.startswith("  word") for line in lines) == 3


def test_a_terminal_shows_a_blank_line_before_each_heading():
    lines = [line.rstrip() for line in shown(whole(), terminal=True, no_color=True).splitlines()]

    assert [lines[index - 1] for index, line in enumerate(lines) if line.startswith("Phase ")] == ["", "", ""]


def test_without_colour_there_is_no_escape_at_all():
    assert "\x1b" not in shown(whole(), terminal=True, no_color=True)


def test_off_a_terminal_lines_are_whole_and_plain():
    text = shown(whole(prompt="word " * 40))

    assert "  " + "word " * 40 in text.splitlines()
    assert "\x1b" not in text


@given(st.text(st.characters(codec="utf-8"), min_size=1, max_size=40))
def test_no_control_character_of_a_text_reaches_the_terminal(hostile):
    debate = DebateBuilder(prompt=hostile)
    debate._evaluated("juror-gpt", debate.evaluation(Verdict.SAFE_PASS, (1.0, 1.0, 1.0, 1.0), hostile))

    text = shown(debate, full=True)

    kept = {"\n", "\t", "\u200c", "\u200d"}
    assert not [c for c in text if unicodedata.category(c) in {"Cc", "Cs", "Zl", "Zp"} and c not in kept]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\x1b[31mb", "a␛[31mb"),
        ("a\r\nb", "a\nb"),
        ("a\rb\x08", "a␍b␈"),
        ("\x7f\x9b", "␡<U+009B>"),
        ("a\u202eb\u2066", "a<U+202E>b<U+2066>"),
        ("a\u200bb\ufeff\U000e0041", "a<U+200B>b<U+FEFF><U+E0041>"),
        ("👩\u200d🚀 日本語\t!", "👩\u200d🚀 日本語\t!"),
    ],
)
def test_what_steers_or_hides_becomes_visible(text, expected):
    assert expected == visible(text)


def test_a_line_for_a_message_has_no_break_and_an_end():
    assert (visible_line("a\nb\tc"), visible_line("x" * 9, 5)) == ("a␊b␉c", "xxxx…")


def cached(uncached: float | None, language: str = "en") -> str:
    writes = (CacheWrite(lifetime="30m", tokens=300),)
    usage = Usage(input_tokens=1000, output_tokens=10, cached_input_tokens=600, cache_writes=writes)
    debate = whole(language=language).called("openai/m", CallOutcome.ANSWERED, usage, 0.5)
    out = StringIO()
    known = None if uncached is None else UncachedCost(uncached, date(2026, 11, 25))
    render_debate(debate.events, debate.exchanges, debate.texts, Console(file=out, width=200), uncached=known)
    return out.getvalue()


def test_what_caches_saved_is_said_where_they_were_used() -> None:
    plain = Usage(input_tokens=1000, output_tokens=10)
    said = "prompt caches: 600 tokens read (60% of those sent), 300 written"

    assert f"{said}; without them the cost would be $1.2500 (list prices of 2026-11-25)" in cached(1.25)
    assert f"{said}\n" in cached(None)
    assert "キャッシュなしの費用: $1.2500" in cached(1.25, "ja")
    assert "prompt caches" not in shown(whole().called("openai/m", CallOutcome.ANSWERED, plain, 0.5))
