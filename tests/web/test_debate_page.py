"""The page of one debate: the discussion area, the matrix, the calls, earlier states."""

import asyncio
import json
import re
from functools import cache
from typing import Any

import pytest

from jury_debate import SIGN_PATTERN
from jury_events import (
    Acceptance,
    CallOutcome,
    ConsensusStatus,
    DebateCancelled,
    DebateFailed,
    JudgmentRendered,
    RoundStarted,
    ScenarioVerdict,
    Usage,
    Verdict,
)
from jury_store import Seal
from support.debate_builder import DebateBuilder
from support.pages import Page, Site, keep, stored
from support.runtime_harness import KeptStore, Run, a_case_with_records
from support.unguarded import unguarded

ADDRESS = "/debates/run-1~c1"


def whole(**options: str) -> DebateBuilder:
    return DebateBuilder(**options).phase_1().round_1().judged()  # type: ignore[arg-type]


def page(debate: DebateBuilder, address: str = ADDRESS, **headers: str) -> Page:
    return Site(stored(debate)).get(address, **headers)


@cache
def simulated_site() -> Site:
    """A debate whose simulated jurors called tools."""
    run = Run(KeptStore(), case=a_case_with_records)
    asyncio.run(run.execute())
    return Site(run.store)


def test_every_statement_of_every_round_is_in_one_area_in_the_order_in_which_it_was_made():
    debate = DebateBuilder().phase_1().round_1()
    started = next(event for event in debate.events if isinstance(event, RoundStarted))
    debate.events.append(started.changed(round=2))
    debate.add_statement(2, 1, "Nothing new.", debate.evaluation(Verdict.UNSAFE_FAIL, (1.0, 1.0, 1.0, 1.0), "r"))

    area = page(debate).node("[role=log]")

    assert 1 == len(area.css("ol"))
    assert [
        ("Juror A (juror-gpt)", "I overlooked the code; I now fail it."),
        ("Juror B (juror-claude)", "I stay with my verdict."),
        ("Juror C (juror-gemini)", ""),
        ("Juror B (juror-claude)", "Nothing new."),
    ] == [
        (item.css_first("h3").text(), "".join(one.text() for one in item.css("article > .prose")))
        for item in area.css("li.statement")
    ]


def test_a_changed_position_has_its_badge_on_that_statement_alone():
    for lang, badge in (("en", "↻ Position changed"), ("ja", "↻ 立場変更")):
        shown = page(whole(), f"{ADDRESS}?lang={lang}")

        assert [badge] == shown.all("[role=log] .badge.changed")
        assert badge in shown.one("[role=log] .statement:first-child .statement-head")


OF_A_WHOLE_DEBATE = {
    "[role=log] .abstained": ["abstained (unparseable, wrong_ballot); its earlier evaluation stands"],
    ".evaluations li:first-child .subscores li": [
        *("task_completion 38/40", "tool_usage 27/30", "autonomy 18/20", "safety 9/10")
    ],
    ".simulated-notice": ["Simulated jurors: no model was called."],
    ".passages dt": ["Policy", "Question", "Response"],
    ".passages dd .prose": ["Verify first.", "May I?", "Done."],
    ".matrix thead th": ["Seat", "Phase 1", "Round 1"],
    ".matrix tfoot th, .matrix tfoot td": ["Consensus", "split 1/3not reached", "majority 2/3reached"],
}
"""What a page has at each place."""


def test_the_page_has_what_was_recorded_in_its_place(subtests: pytest.Subtests):
    shown = page(whole())
    unnamed = page(whole().opened_as(roles={"juror-gpt": "juror-gpt"}))

    for selector, expected in OF_A_WHOLE_DEBATE.items():
        with subtests.test(selector):
            assert expected == [" ".join(one.split()) for one in shown.all(selector)]
    assert "juror-gpt" == unnamed.all("[role=log] .statement h3")[0], "a seat without a name of its role"


def test_the_matrix_has_a_row_for_each_seat_and_a_column_for_each_round():
    shown = page(whole())

    assert [
        ["Juror A (juror-gpt)juror-gpt", "✓ safe_pass 92", "✗ unsafe_fail 61 ↻ Position changed"],
        ["Juror B (juror-claude)juror-claude", "✗ unsafe_fail 40.5", "✗ unsafe_fail 40"],
        [
            "Juror C (juror-gemini)juror-gemini",
            "? needs_review 50 stands in for a blocked answer",
            "? needs_review 50 abstained, earlier position stands",
        ],
    ] == shown.table(".matrix")


def test_the_judgment_accounts_for_every_vote():
    rows = page(whole()).table("#h-votes ~ .wide table")

    assert [
        ["Juror A (juror-gpt)", "own", "✗ unsafe_fail", "61", "0.8", "1", "Round 1"],
        ["Juror B (juror-claude)", "own", "✗ unsafe_fail", "40", "0.8", "1", "Round 1"],
        ["Juror C (juror-gemini)", "synthetic stale", "? needs_review", "50", "0", "1", "Phase 1"],
    ] == rows


def test_the_page_notes_that_a_final_judge_judges_its_own_statements():
    for language, expected in (
        (
            "en",
            "The final judge is also the model of juror-gpt, juror-claude, juror-gemini: it judged its own statements.",
        ),
        ("ja", "最終判定者はjuror-gpt, juror-claude, juror-geminiと同じモデルであり、自身の発言も判定しています。"),
    ):
        shown = page(whole(language=language), **{"accept-language": language})

        assert 1 == [one.text().strip() for one in shown.tree.css("p:not([class])")].count(expected)


def test_statements_are_in_the_language_of_the_panel_and_labels_in_the_readers():
    shown = page(whole(language="ja"), f"{ADDRESS}?lang=en")

    assert "en" == shown.node("html").attributes["lang"]
    assert {"ja"} == set(shown.attributes("[role=log] .prose", "lang"))


def test_the_summary_of_the_records_is_part_of_the_case():
    debate = DebateBuilder()
    case = json.loads(debate.texts[debate.opened.case.part])
    with_summary = DebateBuilder(case=json.dumps({**case, "artifact_summary": "Two of ten checks failed."}))

    shown = page(with_summary)

    assert "Summary of earlier checks" == shown.all(".passages dt")[-1]
    assert "Two of ten checks failed." == shown.all(".passages dd")[-1]


def test_an_ended_debate_has_no_pending_steps():
    debate = DebateBuilder()
    debate.events.append(DebateFailed(reason="nobody", detail=debate.text("no seat answered")))

    shown = page(debate)

    none = "No person has reviewed this yet."
    assert ["(nothing)", "There was no discussion.", "(nothing)", none, "(nothing)"] == [
        one.text() for one in shown.tree.css("p.absent:not([hidden])")
    ]


def test_the_page_shows_the_debate_after_any_event():
    site = Site(stored(whole()))
    for at, statements, outcome in (
        *((2, 0, "evaluating"), (5, 0, "evaluating"), (7, 1, "discussing")),
        (99, 3, "✗ unsafe_fail 50/100"),
    ):
        shown = site.get(f"{ADDRESS}?at={at}")
        assert statements == len(shown.all("[role=log] .statement"))
        assert shown.one(".outcome").startswith(outcome)
    earlier = site.get(f"{ADDRESS}?at=7")

    assert "After event 7 of 12" in earlier.one(".scrub-where")
    assert "This is an earlier state. Later events are not shown. Latest" == earlier.one(".past-state")
    assert [f"{ADDRESS}?at=1", f"{ADDRESS}?at=6", f"{ADDRESS}?at=8", ADDRESS] == earlier.attributes(".steps a", "href")


def test_a_running_debate_names_its_event_stream():
    debate = DebateBuilder().phase_1()

    assert ["/api/debates/run-1~c1/progress?after=5"] == page(debate).attributes(".debate", "data-live")
    assert [None] == page(whole()).attributes(".debate", "data-live")


def test_a_text_that_is_gone_is_said_to_be_erased_or_missing_and_an_intact_record_lists_what_was_checked():
    second = "[role=log] .statement:nth-child(2)"
    erased, missing = (whole().erased("I stay with my verdict.", recorded=recorded) for recorded in (True, False))
    for address in (ADDRESS, f"{ADDRESS}?at=8"):
        assert "[erased]" in page(erased, address).one(second)
    shown, line = page(missing), page(whole()).one(".integrity-line")

    assert "[missing, and no erasure is recorded: run jury verify]" in shown.one(second)
    assert "and no erasure of it is recorded" in shown.one(".notice.broken")
    assert line.startswith("✓ Nothing was altered: 12 events and ")
    assert line.endswith("texts checked; the log has no seal yet")


def test_a_debate_that_did_not_complete_shows_the_reason():
    for ending, said in ((DebateFailed, {"reason": "nobody"}), (DebateCancelled, {"by": "ops"})):
        debate = DebateBuilder().phase_1()
        text = debate.text("why it ended")
        debate.events.append(ending(**said, detail=text) if ending is DebateFailed else ending(**said, reason=text))

        assert "why it ended" in page(debate).one(".head")


def test_every_event_has_a_link():
    shown = page(whole(), f"{ADDRESS}/events")

    assert [f"e-{number}" for number in range(1, 13)] == shown.attributes(".events tbody tr", "id")


def test_the_prompt_is_shown_as_sent_and_the_answer_as_received():
    shown = simulated_site().get("/debates/d0/exchanges/1")

    assert ["system", "user"] == [one.split()[0] for one in shown.all(".messages .who")][:2]
    assert "ballot" in shown.one(".messages li:first-child").lower()


def test_no_page_serves_the_secret_of_the_ballots():
    debate = whole()

    shown = page(debate, f"{ADDRESS}/texts/{debate.opened.secret.part}")

    assert 404 == shown.status


def test_a_long_text_is_cut_and_links_to_the_whole():
    debate = DebateBuilder().phase_1()
    long = "a" + "é" * 1_000_000  # the cut is within a character
    debate.add_statement(1, 0, long, debate.evaluation(Verdict.SAFE_PASS, (1.0, 1.0, 1.0, 1.0), "r"))
    debate.events.insert(-1, whole().events[5].changed(instruction=debate.text("Discuss.")))
    site = Site(stored(debate))

    shown = site.get(ADDRESS)

    assert len(shown.text) < 60_000
    assert "a" + "é" * 2047 == shown.one("[role=log] article > .prose")
    (link,) = shown.attributes("[role=log] .cut a", "href")
    assert long == site.get(str(link)).text


def test_the_page_of_a_large_debate_counts_and_links_what_it_leaves_out():
    debate = DebateBuilder().phase_1()
    evaluation = debate.evaluation(Verdict.SAFE_PASS, (1.0, 1.0, 1.0, 1.0), "r")
    started = next(event for event in whole().events if isinstance(event, RoundStarted))
    for number in range(1, 91):
        debate.events.append(started.changed(round=number, instruction=debate.text("Discuss.")))
        for order in range(3):
            debate.add_statement(number, order, f"Round {number}, seat {order}.", evaluation)
    site = Site(stored(debate))

    shown = site.get(ADDRESS)
    earlier = site.get(next(iter(shown.attributes("[data-region=discussion-left] a", "href"))) or "")

    assert 200 == len(shown.all("[role=log] .statement"))
    assert shown.one("[data-region=discussion-left]").startswith("70 earlier statements are not shown")
    assert 70 == len(earlier.all("[role=log] .statement"))
    assert 21 == len(shown.all(".matrix thead th")) - 1
    assert 270 == len(site.get(f"{ADDRESS}/export.html").all("[role=log] .statement"))


def test_the_page_shows_new_events():
    debate = DebateBuilder().phase_1()
    store = stored(debate)
    site = Site(store)
    before = len(site.get(ADDRESS).all(".statement"))
    keep(store, debate.round_1().judged())

    after = site.get(ADDRESS)

    assert (3, 6) == (before, len(after.all(".statement")))


def test_a_record_that_cannot_be_decoded_gets_an_error_page_that_names_the_place():
    debate = whole()
    store = stored(debate)
    with unguarded(store) as connection:
        connection.execute("UPDATE events SET body = x'7b7d' WHERE stream = 'debate/run-1~c1' AND version = 4")

    shown = Site(store).get(ADDRESS)

    assert 500 == shown.status
    assert "event 4 of debate/run-1~c1" in shown.one(".notice")


def test_the_response_is_not_cached_and_varies_by_language_and_cookie():
    headers = page(whole()).headers

    assert "no-store" == headers["cache-control"]
    assert "Accept-Language, Cookie" == headers["vary"]


def test_an_earlier_state_has_only_the_calls_made_before():
    def counted(address: str) -> int:
        return sum(int(row[1]) for row in simulated_site().get(address).table("#h-calls ~ .wide table"))

    assert counted("/debates/d0?at=2") < counted("/debates/d0")


def test_the_matrix_of_a_long_debate_has_its_latest_rounds():
    debate = DebateBuilder().phase_1().round_1()
    started = next(event for event in debate.events if isinstance(event, RoundStarted))
    debate.events += [started.changed(round=number) for number in range(2, 26)]

    shown = page(debate)

    assert ["Seat", "Phase 1", "Round 6"] == shown.all(".matrix thead th")[:3]
    assert "Round 25" == shown.all(".matrix thead th")[-1]


CAPPED_BY_SILENCE = (
    "1 of 3 seats gave no evaluation of their own; with these counted as needs_review the votes do not pass: safe_pass "
    "became needs_review (capped)"
)


def judged_otherwise(**changes: Any) -> DebateBuilder:
    """A debate with these fields of its judgment."""
    debate = whole()
    rendered = debate.events[-2]
    assert isinstance(rendered, JudgmentRendered)
    debate.events[-2] = rendered.changed(judgment=rendered.judgment.changed(**changes))
    return debate


NOT_ACCEPTED = Acceptance(
    signal="share", verdict=Verdict.SAFE_PASS, probability=0.666666667, threshold=0.75, accepted=False
)
OF_JUDGMENTS: tuple[tuple[dict[str, Any], str, list[str]], ...] = (
    (
        {"capped": True, "quorum": 3},
        ".head .notice.capped",
        ["quorum lost: safe_pass became needs_review (capped)"],
    ),
    (
        {"capped": True, "quorum": 2, "capped_scenarios": ("s1", "s3")},
        ".head .notice.capped",
        [CAPPED_BY_SILENCE, "safe_pass became needs_review (capped) in the scenarios s1, s3"],
    ),
    (
        {"scenarios": (ScenarioVerdict(scenario_id="s1", verdict=Verdict.NEEDS_REVIEW, score=69.998),)},
        "#h-judgment ~ div .scenarios li",
        ["Scenario s1: ? needs_review 69.998"],
    ),
    (
        {"acceptance": NOT_ACCEPTED},
        ".head .notice",
        ["safe_pass was not accepted and became needs_review: share of the votes 0.6667 is below the threshold 0.75"],
    ),
)
"""Fields of a judgment, and what the page says of them at a place."""


def test_the_page_says_why_a_verdict_is_not_that_of_the_votes_and_keeps_scores_on_their_side_of_the_bands():
    for changes, selector, said in OF_JUDGMENTS:
        shown = page(judged_otherwise(**changes)).all(selector)

        assert said == [one for one in shown if one in said or selector.endswith("capped")]


def test_a_seal_covers_the_events_up_to_its_size():
    for size, expected in (
        (12, "covered by the last seal, over 12 events, which is not checked here (jury verify --all)"),
        (11, "the last seal, over 11 events, covers 11 of its 12 events"),
    ):
        store = stored(whole())
        store.store_seal(Seal(size, bytes(32), bytes(32), b"note", 1))

        assert Site(store).get(ADDRESS).one(".integrity-line").endswith(expected)


def test_only_the_evaluation_of_a_simulated_stand_in_is_marked_simulated():
    debate = DebateBuilder().opened_as(simulated=False)
    scores = (20.0, 15.0, 10.0, 5.0)
    debate._evaluated("juror-gpt", debate.evaluation(Verdict.SAFE_PASS, scores, "r", model="openai/x", simulated=True))
    debate._evaluated("juror-claude", debate.evaluation(Verdict.SAFE_PASS, scores, "r", model="anthropic/y"))

    shown = page(debate)

    assert "Simulated jurors: not every answer is a model's." == shown.one(".simulated-notice")
    assert [1, 0] == [len(one.css(".badge.simulated")) for one in shown.tree.css(".evaluations li.statement")]


def test_the_verdicts_on_several_scenarios_are_with_the_evaluation():
    debate = DebateBuilder()
    rows = (
        ScenarioVerdict(scenario_id="refund", verdict=Verdict.SAFE_PASS, score=90.0),
        ScenarioVerdict(scenario_id="deletion", verdict=Verdict.UNSAFE_FAIL, score=12.5),
    )
    evaluation = debate.evaluation(Verdict.UNSAFE_FAIL, (1.0, 1.0, 1.0, 1.0), "r", scenarios=rows)
    debate._evaluated("juror-gpt", evaluation)

    assert ["Scenario refund: ✓ safe_pass 90", "Scenario deletion: ✗ unsafe_fail 12.5"] == page(debate).all(
        ".scenarios li"
    )


def test_the_cost_and_tokens_of_a_model_count_calls_of_which_they_are_unknown():
    for costs, expected in (
        ((0.25, 0.5), "$0.7500"),
        ((0.25, None), "$0.2500 calls unknown: 1"),
        ((None, None), "unknown"),
    ):
        debate = whole()
        for cost in costs:
            debate.called("openai/x", CallOutcome.ANSWERED, Usage(), cost)
        shown = page(debate).table("#h-calls ~ .wide table")[0][-1]
        assert expected == shown.replace("calls", " calls").replace("  ", " ")

    debate = whole()
    debate.called("openai/x", CallOutcome.ANSWERED, Usage(input_tokens=1200, output_tokens=30), 0.0)
    debate.called("openai/x", CallOutcome.RATE_LIMITED, Usage(), 0.0)
    debate.called("openai/y", CallOutcome.RATE_LIMITED, Usage(), 0.0)
    rows = page(debate).table("#h-calls ~ .wide table")
    assert ["1 200 / 30calls unknown: 1", "unknown"] == [row[3] for row in rows]


def test_agreement_that_does_not_end_the_discussion_names_the_rule():
    never = "not reached: the threshold of 2.0 is never met, so the discussion always takes place"
    for threshold, unanimity_ends, expected in (
        *((2.0, True, never), (2.0, False, never)),
        (0.67, True, "not reached: the threshold is 0.67"),
    ):
        debate = DebateBuilder()
        rules = debate.panel.discussion.changed(threshold=threshold, unanimity_ends=unanimity_ends)
        debate.opened_as(panel=debate.panel.changed(discussion=rules))
        status, largest = (ConsensusStatus.UNANIMOUS, 3) if threshold > 1 else (ConsensusStatus.MAJORITY, 2)
        debate._checked(0, status, largest, Verdict.UNSAFE_FAIL, reached=False)

        assert f"{status.value} {largest}/3{expected}" == page(debate).all(".matrix tfoot td")[0]


def test_prompts_are_shown_without_marks_and_as_sent():
    shown = simulated_site().get("/debates/d0/exchanges/1")

    plain, marked = shown.node(".piece > pre").text(), shown.node(".piece details.marked pre").text()
    sign = re.search(rf"^({SIGN_PATTERN}) Refund order 17", marked, re.MULTILINE)
    assert sign is not None
    assert f"\n{sign[1]} " not in "".join(one.text() for one in shown.tree.css(".piece:has(details.marked) > pre"))
    assert plain


def test_a_model_with_a_slash_in_its_name_is_shown_by_that_name():
    site = simulated_site()

    for address in ("/debates/d0", "/debates/d0/events", "/debates/d0/export.html"):
        assert "%2F" not in "".join(
            one.text() for one in site.get(address).tree.css("main a, main h3, main h4, main td, main th")
        )
