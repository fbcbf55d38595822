"""What people are shown of a debate: in the terminal, while it lasts, as a list of events, as a line and as a result.

Tables in `printed/` have all of it; beside them stand the laws that hold for any text and any debate.
"""

import json
import unicodedata
from collections.abc import Sequence
from dataclasses import asdict
from datetime import date
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import TypeAdapter
from rich.console import Console

from jury_events import (
    CacheWrite,
    CallOutcome,
    DebateCancelled,
    DebateEvent,
    DebateFailed,
    DebateHistory,
    ExchangeRecorded,
    Omission,
    RoundStarted,
    Step,
    StoredEvent,
    Usage,
    Verdict,
    debate_stream,
    encode,
    visible,
    visible_line,
)
from jury_integrations import JuryOutcome
from jury_judge import positions
from jury_replay import read_cassette, regress_history
from jury_store import Append, MemoryEventStore
from jury_views import (
    DebateResult,
    LiveLines,
    SseEvents,
    UncachedCost,
    answered_in_stream,
    collaborative_result,
    debate_result,
    event_lines,
    folded,
    line_of,
    position_changes,
    render_debate,
)
from support.corpus import CORPUS
from support.debate_builder import SEATS, DebateBuilder
from support.debate_harness import DebateHarness, Says, a_case, a_panel, by_round
from support.each_row import each_row
from support.pages import Site, stored
from support.refusals import RefusalTables
from support.scaled_debates import a_right_answer, a_scaled_debate, an_answer_without_facts, mixed_levels
from support.scales import YES_NO

PASS, REVIEW, FAIL = Verdict
POINTS = (1.0, 1.0, 1.0, 1.0)


class Debate(NamedTuple):
    """What readers of a debate are given."""

    events: Sequence[DebateEvent]
    texts: Any
    exchanges: Sequence[ExchangeRecorded] = ()
    stored: Sequence[StoredEvent] = ()


def built(debate: DebateBuilder) -> Debate:
    return Debate(debate.events, debate.texts, debate.exchanges, debate.history.stored_events)


def argued(debate: DebateHarness) -> Debate:
    store = MemoryEventStore()
    events = tuple(encode(event, recorded_at=1) for event in debate.events)
    store.append([Append(debate_stream("d1"), events, 0, store.next_epoch())])
    return Debate(debate.events, debate.pen.texts, (), store.read_stream(debate_stream("d1")))


def whole(**options: Any) -> DebateBuilder:
    return DebateBuilder(**options).phase_1().round_1().judged()


def filtered(*rounds: tuple[Verdict, bool]) -> DebateBuilder:
    """The first seat passes on its own, then says this in the rounds: the verdict, and whether a filter blocked it.

    `position_changed` is recorded as by the rules: another position than the latest one, of an answer or a filter.
    """
    debate, latest = DebateBuilder(), PASS
    debate._evaluated(SEATS[0], debate.evaluation(PASS, (38.0, 27.0, 18.0, 9.0), "Fine."))
    for number, (verdict, blocked) in enumerate(rounds, 1):
        debate.events.append(RoundStarted(round=number, speaker_order=SEATS, instruction=debate.text("Discuss.")))
        said = debate.evaluation(verdict, (20.0, 15.0, 10.0, 5.0), f"{number}", synthetic=blocked)
        debate.add_statement(number, 0, f"In round {number}.", said, changed=verdict != latest)
        latest = verdict
    return debate


BLOCKED_BACK_AND_CONVINCED = ((REVIEW, True), (PASS, False), (FAIL, False))
OMITTED = (Omission(what="image/png", count=2, size=96_000), Omission(what="audio/wav", count=1))
FACTS: dict[str, Any] = {
    "tags": ("refund", "card"),
    "cluster": "支払い",
    "metadata": {"level": 3, "known": True, "source": "a"},
    "agent_cost": 0.25,
    "omissions": OMITTED,
}


def ended(ending: DebateEvent) -> DebateBuilder:
    debate = DebateBuilder().phase_1()
    debate.events.append(ending)
    return debate


def called() -> DebateBuilder:
    debate = whole()
    debate.called("openai/gpt-4o", CallOutcome.ANSWERED, Usage(input_tokens=100, output_tokens=20), 0.01)
    debate.called("openai/gpt-4o", CallOutcome.TIMEOUT, Usage(), None)
    return debate.called("simulated/juror", CallOutcome.ANSWERED, Usage(input_tokens=5, output_tokens=1), 0.0)


def nobody_answers() -> Debate:
    history = read_cassette(CORPUS / "nobody-answers.cassette.jsonl").history
    return Debate(history.events, history.texts, (), history.stored_events)


def a_debate_of(*seats: list[Any], **final: Any) -> Debate:
    """Each seat answers so, round by round; the final judge passes."""
    table = {f"j{number}": said for number, said in enumerate(seats)}
    discussion = {"max_rounds": 1, "always_discuss": True, "end_early": False}
    panel = a_panel(*table, discussion=discussion, final={"method": "majority_vote", **final})
    return argued(DebateHarness(panel, by_round(table, Says("safe_pass", 80.0))).run())


PASSES, FAILS, SILENT = Says("safe_pass", 90.0), Says("unsafe_fail", 10.0), CallOutcome.BAD_REQUEST
JUDGE = {"method": "final_judge", "judge": {"model": "simulated/x"}}

WHOLE = {
    "in English": built(whole()),
    "in Japanese": built(whole(language="ja")),
    "facts of the case": built(whole().opened_as(**FACTS)),
    "facts of the case in Japanese": built(whole(language="ja").opened_as(**FACTS)),
    "calls": built(called()),
    "several scenarios": built(whole().opened_as(scenarios=("a", "b"))),
    "a long case": built(whole(prompt="x" * 1000)),
    "a case that cannot be read": built(whole(case='{"case": 1}')),
    "an erased text": built(whole().erased("No verification was made.")),
    "a missing text": built(whole().erased("No verification was made.", recorded=False)),
    "unfinished": built(DebateBuilder().phase_1()),
    "failed": built(ended(DebateFailed(reason="no_model", detail=None))),
    "cancelled": built(ended(DebateCancelled(by="ops", reason=None))),
    "blocked, back and convinced": built(filtered(*BLOCKED_BACK_AND_CONVINCED)),
    "nobody answered": nobody_answers(),
    "quorum lost": a_debate_of([PASSES], [SILENT], [SILENT]),
    "a pass that is capped": a_debate_of([PASSES], [PASSES], [FAILS], [SILENT]),
    "an earlier evaluation": a_debate_of([PASSES], [PASSES, SILENT], [FAILS]),
    "a judge despite silence": a_debate_of([PASSES], [FAILS], [SILENT], **JUDGE),
    "a fail despite silence": a_debate_of([FAILS], [FAILS, SILENT], [SILENT]),
    "a label of the panel's scale": argued(a_right_answer()),
    "a shortfall": argued(an_answer_without_facts()),
    "no label": argued(mixed_levels()),
    "undecided": argued(
        a_scaled_debate((Says("yes"), Says("no"), Says("no")), **{**YES_NO, "final": {"method": "median"}})
    ),
}
IN_FULL = ("in English", "blocked, back and convinced", "nobody answered", "a label of the panel's scale", "unfinished")


def page(debate: Debate, *, full: bool = False, width: int = 200, **console: Any) -> str:
    out = StringIO()
    shown_on = Console(file=out, width=width, color_system="standard", legacy_windows=False, **console)
    render_debate(debate.events, debate.exchanges, debate.texts, shown_on, full=full)
    return out.getvalue()


def live(debate: Debate) -> str:
    lines = LiveLines()
    return "\n".join(line for event in debate.events for line in lines.lines(event))


def listed(debate: Debate) -> str:
    return "\n".join(line.said for line in event_lines(debate.stored))


def line(debate: Debate) -> str:
    debate_id = debate.stored[0].stream.removeprefix("debate/")
    return written(line_of(DebateHistory.of_events(debate_id, debate.stored)))


def result(debate: Debate) -> str:
    return written(collaborative_result(debate.events, debate.texts))


def sent(debate: Debate) -> str:
    events = SseEvents()
    found = (one for event in debate.events for one in events.take(event, debate.texts))
    return "\n".join(json.dumps(one, ensure_ascii=False) for one in found)


def written(value: Any) -> str:
    """One line a field; what is below a field stands in its line, but for lists, of which each item has a line."""
    lines = []
    for name, one in value.items():
        if isinstance(one, list) and one and isinstance(one[0], dict):
            lines += [f"{name}: {json.dumps(each, ensure_ascii=False)}" for each in one]
        else:
            lines.append(f"{name}: {json.dumps(one, ensure_ascii=False)}")
    return "\n".join(lines)


def test_a_debate_is_shown_whole_in_the_language_of_its_panel(printed: RefusalTables) -> None:
    """Of those after the first, what is not in the page of an earlier one."""
    seen: set[str] = set()
    found = {}
    for name, debate in WHOLE.items():
        lines = page(debate).strip("\n").splitlines()
        found[name] = "\n".join(line for line in lines if line not in seen) or "(nothing else)"
        seen |= {*lines}

    printed.compare("debates_in_the_terminal", found)


FORMS = {
    "debates_live": live,
    "debates_listed": listed,
    "debates_line": line,
    "debates_result": result,
    "debates_sent": sent,
}


@pytest.mark.parametrize("form", FORMS)
def test_every_other_form_has_the_same_facts(printed: RefusalTables, form: str) -> None:
    printed.compare(form, {name: FORMS[form](WHOLE[name]) for name in IN_FULL})


def test_a_debate_that_no_seat_evaluated_has_no_score_anywhere() -> None:
    debate = WHOLE["nobody answered"]
    model = debate_result(debate.events, debate.texts)
    regressed = regress_history(read_cassette(CORPUS / "nobody-answers.cassette.jsonl").history)

    outcome = JuryOutcome.of(a_case(), model, {})
    explained = "needs_review, without a score: no juror gave an evaluation.\n"

    assert (None, ["needs_review", None]) == (model.final_score, list(regressed.now or ()))
    assert (None, False, None) == (outcome.score, outcome.passed, outcome.metadata.get("score"))
    assert outcome.explanation.startswith(explained)
    assert "no score" in str(model.to_html("en"))
    assert "スコアなし" in str(model.to_html("ja"))
    for said in (page(debate), live(debate), listed(debate), "\n".join(regressed.shown_lines())):
        assert "None" not in said
        assert "0/100" not in said


def test_a_result_is_plain_json_and_the_fields_of_its_model() -> None:
    own, aliased = (
        Draft202012Validator(TypeAdapter(DebateResult).json_schema(by_alias=by_alias, mode="serialization"))
        for by_alias in (False, True)
    )
    for debate in WHOLE.values():
        model = debate_result(debate.events, debate.texts)
        found, served = model.data(), model.data(served=True)

        assert found == json.loads(json.dumps(found)) == json.loads(json.dumps(asdict(model)))
        own.validate(found)
        aliased.validate(served)


@each_row("path", sorted(CORPUS.glob("*.jsonl"))[::3])
def test_a_line_is_read_from_the_fields_of_any_recorded_debate(path: Path) -> None:
    history = read_cassette(path).history
    found = collaborative_result(history.events, history.texts)
    of_both = (line_of(history).keys() & found.keys()) - {"total_rounds"}  # a line has no rounds of what has no end

    assert {"final_verdict", "final_score", "status", "position_changes"} <= of_both
    assert {name: found[name] for name in of_both} == {name: line_of(history)[name] for name in of_both}


BODIES = {
    "a flag that is none": (0, b'"simulated":true', b'"simulated":"yes"'),
    "another type": (0, b'"type":"debate_opened"', b'"type":"debate_failed"'),
    "another decider": (-2, b'"decided_by":"final_judge"', b'"decided_by":"a coin"'),
}


def test_what_is_no_debate_is_refused_with_its_place(refusals: RefusalTables) -> None:
    history = whole().history

    def changed(row: tuple[int, bytes, bytes]) -> object:
        event, before, after = row
        events = list(history.stored_events)
        assert before in events[event].body
        events[event] = events[event]._replace(body=events[event].body.replace(before, after))
        return line_of(DebateHistory.of_events(history.debate_id, events))

    refusals.check("lines", BODIES, changed, Exception)
    with pytest.raises(Exception, match="begins with its opening event"):
        collaborative_result(whole().events[1:], {})


@each_row(
    ("rounds", "found"),
    [
        ([(FAIL, False)], {1: "own"}),
        ([(REVIEW, True)], {1: "synthetic"}),
        ([(REVIEW, True), (REVIEW, True)], {1: "synthetic"}),
        ([(REVIEW, True), (PASS, False)], {1: "synthetic", 2: "synthetic"}),
        ([(REVIEW, True), (FAIL, False)], {1: "synthetic", 2: "own"}),
        ([(REVIEW, True), (REVIEW, False)], {1: "synthetic", 2: "own"}),
        ([(PASS, False)], {}),
    ],
)
def test_a_change_is_the_jurors_own_where_its_own_positions_differ(
    rounds: list[tuple[Verdict, bool]], found: dict[int, str]
) -> None:
    debate = filtered(*rounds)

    read = answered_in_stream(debate.history.stored_events)

    for changes in (folded(debate.events).changes, position_changes(read)):
        assert found == {step.round: change for step, change in changes.items()}


def test_pages_lists_and_comparisons_tell_changes_of_a_filter_from_a_jurors_own() -> None:
    debate = filtered(*BLOCKED_BACK_AND_CONVINCED)
    latest = positions(folded(debate.events))
    (late,) = event_lines(debate.history.stored_events, after=6, limit=1)
    debate.judged()
    site, other = Site(stored(debate)), Site(stored(whole()))
    page = site.get("/debates/run-1~c1")

    assert [False, False, False, True] == [latest[Step(number, SEATS[0])].changed for number in range(4)]
    assert "safe_pass 50/100, changed by a provider's filter only" == late.said
    assert (["↻ Position changed"], ["changed by a provider's filter only"] * 2) == (
        page.all("[role=log] .badge.changed"),
        page.all("[role=log] .badge.by-filter"),
    )
    assert ["↻ Position changed"] == page.all(".matrix .badge.changed")
    assert "2:1 ↻ 1 Position changed ⊘ 1 stands in for a blocked answer" == site.get("/").table(".list")[0][3]
    assert [
        ["Round 1", "0", "0", "–", "1", "0"],
        ["Round 2", "1", "0", "0%", "0", "0"],
        ["Round 3", "1", "1", "100%", "0", "0"],
    ] == site.get("/runs/run-1").table("[aria-labelledby=h-flips]")
    assert [["Round 1", "2", "1", "50.0%", "0", "1"]] == other.get("/runs/run-1").table("[aria-labelledby=h-flips]")


def test_a_terminal_gets_colour_wrapped_lines_and_blank_lines_before_headings_and_a_file_none_of_them() -> None:
    words, markup = "word " * 40, "[bold]:smile:[/bold] [link=http://x]y[/link]"
    coloured = page(built(whole(prompt=f"{words}\n{markup}")), width=80, force_terminal=True)
    plain = page(built(whole(prompt=words)), width=80, force_terminal=True, no_color=True)
    lines = [line.rstrip() for line in plain.splitlines()]
    in_a_file = page(built(whole(prompt=words)), width=80)

    assert "\x1b[" in coloured
    assert markup in coloured
    assert 3 == sum(line.startswith("  word") for line in coloured.splitlines())
    assert ["", "", ""] == [lines[index - 1] for index, line in enumerate(lines) if line.startswith("Phase ")]
    assert f"  {words}" in in_a_file.splitlines()
    assert "\x1b" not in plain + in_a_file


@given(st.text(st.characters(codec="utf-8"), min_size=1, max_size=40))
def test_no_control_character_of_a_text_reaches_the_terminal(hostile: str) -> None:
    debate = DebateBuilder(prompt=hostile)
    debate._evaluated("juror-gpt", debate.evaluation(PASS, POINTS, hostile))

    kept = {"\n", "\t", "\u200c", "\u200d"}
    assert not [
        one
        for one in page(built(debate), full=True, force_terminal=False)
        if unicodedata.category(one) in {"Cc", "Cs", "Zl", "Zp"} and one not in kept
    ]


@each_row(
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
def test_what_steers_or_hides_becomes_visible(text: str, expected: str) -> None:
    assert expected == visible(text)
    assert ("a␊b␉c", "xxxx…") == (visible_line("a\nb\tc"), visible_line("x" * 9, 5))


def test_what_caches_saved_is_said_where_they_were_used() -> None:
    read = Usage(
        input_tokens=1000,
        output_tokens=10,
        cached_input_tokens=600,
        cache_writes=(CacheWrite(lifetime="30m", tokens=300),),
    )

    def said(usage: Usage, uncached: float | None, language: str = "en") -> str:
        debate, out = whole(language=language).called("openai/m", CallOutcome.ANSWERED, usage, 0.5), StringIO()
        known = None if uncached is None else UncachedCost(uncached, date(2026, 11, 25))
        render_debate(debate.events, debate.exchanges, debate.texts, Console(file=out, width=200), uncached=known)
        return out.getvalue()

    tokens = "prompt caches: 600 tokens read (60% of those sent), 300 written"
    assert f"{tokens}; without them the cost would be $1.2500 (list prices of 2026-11-25)" in said(read, 1.25)
    assert f"{tokens}\n" in said(read, None)
    assert "キャッシュなしの費用: $1.2500" in said(read, 1.25, "ja")
    assert "prompt caches" not in said(Usage(input_tokens=1000, output_tokens=10), None)
