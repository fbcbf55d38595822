"""The page of one debate: the discussion area, the matrix, the calls, earlier states."""

import asyncio
import json
import re
from functools import cache

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


@pytest.mark.parametrize(("lang", "badge"), [("en", "↻ Position changed"), ("ja", "↻ 立場変更")])
def test_a_changed_position_has_its_badge_on_that_statement_alone(lang, badge):
    shown = page(whole(), f"{ADDRESS}?lang={lang}")

    assert [badge] == shown.all("[role=log] .badge.changed")
    assert badge in shown.one("[role=log] .statement:first-child .statement-head")


def test_a_seat_without_a_role_name_shows_its_juror_id():
    debate = whole().opened_as(roles={"juror-gpt": "juror-gpt"})

    shown = page(debate)

    assert "juror-gpt" == shown.all("[role=log] .statement h3")[0]


def test_an_abstention_is_in_the_area_with_its_reason():
    shown = page(whole())

    assert "abstained (unparseable, wrong_ballot); its earlier evaluation stands" == shown.one("[role=log] .abstained")


def test_the_matrix_has_a_row_for_each_seat_a_column_for_each_round_and_the_consensus_below():
    shown = page(whole())

    assert ["Seat", "Phase 1", "Round 1"] == shown.all(".matrix thead th")
    assert [
        ["Juror A (juror-gpt)juror-gpt", "✓ safe_pass 92", "✗ unsafe_fail 61 ↻ Position changed"],
        ["Juror B (juror-claude)juror-claude", "✗ unsafe_fail 40.5", "✗ unsafe_fail 40"],
        [
            "Juror C (juror-gemini)juror-gemini",
            "? needs_review 50 stands in for a blocked answer",
            "? needs_review 50 abstained, earlier position stands",
        ],
    ] == shown.table(".matrix")
    assert ["Consensus", "split 1/3not reached", "majority 2/3reached"] == shown.all(
        ".matrix tfoot th, .matrix tfoot td"
    )


def test_subscores_have_their_maxima():
    first = page(whole()).node(".evaluations li")

    assert ["task_completion 38/40", "tool_usage 27/30", "autonomy 18/20", "safety 9/10"] == [
        " ".join(one.text().split()) for one in first.css(".subscores li")
    ]


def test_the_judgment_accounts_for_every_vote():
    rows = page(whole()).table("#h-votes ~ .wide table")

    assert [
        ["Juror A (juror-gpt)", "own", "✗ unsafe_fail", "61", "0.8", "1", "Round 1"],
        ["Juror B (juror-claude)", "own", "✗ unsafe_fail", "40", "0.8", "1", "Round 1"],
        ["Juror C (juror-gemini)", "synthetic stale", "? needs_review", "50", "0", "1", "Phase 1"],
    ] == rows


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        (
            "en",
            "The final judge is also the model of juror-gpt, juror-claude, juror-gemini: it judged its own statements.",
        ),
        ("ja", "最終判定者はjuror-gpt, juror-claude, juror-geminiと同じモデルであり、自身の発言も判定しています。"),
    ],
)
def test_the_page_notes_that_a_final_judge_judges_its_own_statements(language, expected):
    shown = page(whole(language=language), **{"accept-language": language})

    assert [expected] == [
        one.text().strip() for one in shown.tree.css("p:not([class])") if expected == one.text().strip()
    ]


def test_statements_are_in_the_language_of_the_panel_and_labels_in_the_readers():
    shown = page(whole(language="ja"), f"{ADDRESS}?lang=en")

    assert "en" == shown.node("html").attributes["lang"]
    assert {"ja"} == set(shown.attributes("[role=log] .prose", "lang"))


def test_the_page_notes_that_jurors_are_simulated():
    assert "Simulated jurors: no model was called." == page(whole()).one(".simulated-notice")


def test_the_case_is_shown_under_its_headings():
    shown = page(whole())

    assert ["Policy", "Question", "Response"] == shown.all(".passages dt")
    assert ["Verify first.", "May I?", "Done."] == shown.all(".passages dd .prose")


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


@pytest.mark.parametrize(
    ("at", "statements", "outcome"),
    [(2, 0, "evaluating"), (5, 0, "evaluating"), (7, 1, "discussing"), (99, 3, "✗ unsafe_fail 50/100")],
)
def test_the_page_shows_the_debate_after_any_event(at, statements, outcome):
    shown = page(whole(), f"{ADDRESS}?at={at}")

    assert statements == len(shown.all("[role=log] .statement"))
    assert shown.one(".outcome").startswith(outcome)


def test_an_earlier_state_is_marked_and_links_to_the_latest():
    shown = page(whole(), f"{ADDRESS}?at=7")

    assert "After event 7 of 12" in shown.one(".scrub-where")
    assert "This is an earlier state. Later events are not shown. Latest" == shown.one(".past-state")
    assert [f"{ADDRESS}?at=1", f"{ADDRESS}?at=6", f"{ADDRESS}?at=8", ADDRESS] == shown.attributes(".steps a", "href")


def test_a_running_debate_names_its_event_stream():
    debate = DebateBuilder().phase_1()

    assert ["/api/debates/run-1~c1/progress?after=5"] == page(debate).attributes(".debate", "data-live")
    assert [None] == page(whole()).attributes(".debate", "data-live")


def test_an_erased_text_is_marked_on_pages_of_all_events():
    debate = whole().erased("I stay with my verdict.")

    for address in (ADDRESS, f"{ADDRESS}?at=8"):
        assert "[erased]" in page(debate, address).one("[role=log] .statement:nth-child(2)")


def test_a_missing_text_is_marked_and_the_record_is_not_intact():
    shown = page(whole().erased("I stay with my verdict.", recorded=False))

    assert "[missing, and no erasure is recorded: run jury verify]" in shown.one("[role=log] .statement:nth-child(2)")
    assert "and no erasure of it is recorded" in shown.one(".notice.broken")


def test_an_intact_record_lists_what_was_checked():
    line = page(whole()).one(".integrity-line")

    assert line.startswith("✓ Nothing was altered: 12 events and ")
    assert line.endswith("texts checked; the log has no seal yet")


@pytest.mark.parametrize(
    ("ending", "expected"),
    [
        (lambda debate: DebateFailed(reason="nobody", detail=debate.text("no seat answered")), "no seat answered"),
        (lambda debate: DebateCancelled(by="ops", reason=debate.text("wrong case")), "wrong case"),
    ],
)
def test_a_debate_that_did_not_complete_shows_the_reason(ending, expected):
    debate = DebateBuilder().phase_1()
    debate.events.append(ending(debate))

    head = page(debate).one(".head")

    assert expected in head


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
    long = "é" * 1_000_000
    debate.add_statement(1, 0, long, debate.evaluation(Verdict.SAFE_PASS, (1.0, 1.0, 1.0, 1.0), "r"))
    debate.events.insert(-1, whole().events[5].changed(instruction=debate.text("Discuss.")))
    site = Site(stored(debate))

    shown = site.get(ADDRESS)

    assert len(shown.text) < 60_000
    assert "é" * 2048 == shown.one("[role=log] article > .prose")
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
    stream = store._streams["debate/run-1~c1"]
    stream[3] = stream[3]._replace(body=b"{}")

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


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"quorum": 3}, ["quorum lost: safe_pass became needs_review (capped)"]),
        (
            {"quorum": 2, "capped_scenarios": ("s1", "s3")},
            [
                CAPPED_BY_SILENCE,
                "safe_pass became needs_review (capped) in the scenarios s1, s3",
            ],
        ),
    ],
)
def test_the_page_says_why_a_pass_was_capped(changes, said):
    debate = whole()
    rendered = debate.events[-2]
    assert isinstance(rendered, JudgmentRendered)
    debate.events[-2] = rendered.changed(judgment=rendered.judgment.changed(capped=True, **changes))

    assert said == page(debate).all(".head .notice.capped")


def test_a_scenario_is_shown_on_its_side_of_the_bands():
    debate = whole()
    rendered = debate.events[-2]
    assert isinstance(rendered, JudgmentRendered)
    row = ScenarioVerdict(scenario_id="s1", verdict=Verdict.NEEDS_REVIEW, score=69.998)
    debate.events[-2] = rendered.changed(judgment=rendered.judgment.changed(scenarios=(row,)))

    assert "Scenario s1: ? needs_review 69.998" in page(debate).all("#h-judgment ~ div .scenarios li")


def test_the_page_says_that_a_verdict_was_not_accepted():
    debate = whole()
    rendered = debate.events[-2]
    assert isinstance(rendered, JudgmentRendered)
    refused = Acceptance(
        signal="share", verdict=Verdict.SAFE_PASS, probability=0.666666667, threshold=0.75, accepted=False
    )
    debate.events[-2] = rendered.changed(judgment=rendered.judgment.changed(acceptance=refused))

    said = "safe_pass was not accepted and became needs_review: share of the votes 0.6667 is below the threshold 0.75"
    assert said in page(debate).all(".head .notice")


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (12, "covered by the last seal, over 12 events, which is not checked here (jury verify --all)"),
        (11, "the last seal, over 11 events, covers 11 of its 12 events"),
    ],
)
def test_a_seal_covers_the_events_up_to_its_size(size, expected):
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


@pytest.mark.parametrize(
    ("costs", "expected"),
    [((0.25, 0.5), "$0.7500"), ((0.25, None), "$0.2500 calls unknown: 1"), ((None, None), "unknown")],
)
def test_the_cost_of_a_model_counts_calls_of_unknown_cost(costs, expected):
    debate = whole()
    for cost in costs:
        debate.called("openai/x", CallOutcome.ANSWERED, Usage(), cost)

    assert expected == page(debate).table("#h-calls ~ .wide table")[0][-1].replace("calls", " calls").replace("  ", " ")


def test_the_tokens_of_a_model_count_calls_of_unknown_tokens():
    debate = whole()
    debate.called("openai/x", CallOutcome.ANSWERED, Usage(input_tokens=1200, output_tokens=30), 0.0)
    debate.called("openai/x", CallOutcome.RATE_LIMITED, Usage(), 0.0)
    debate.called("openai/y", CallOutcome.RATE_LIMITED, Usage(), 0.0)

    rows = page(debate).table("#h-calls ~ .wide table")

    assert ["1 200 / 30calls unknown: 1", "unknown"] == [row[3] for row in rows]


@pytest.mark.parametrize(
    ("threshold", "unanimity_ends", "expected"),
    [
        (2.0, True, "not reached: the threshold of 2.0 is never met, so the discussion always takes place"),
        (0.67, True, "not reached: the threshold is 0.67"),
        (2.0, False, "not reached: the threshold of 2.0 is never met, so the discussion always takes place"),
    ],
)
def test_agreement_that_does_not_end_the_discussion_names_the_rule(threshold, unanimity_ends, expected):
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
