"""Seats of decision models under the rules: they evaluate and vote by probabilities, and never speak in a round."""

import json
from typing import Any

import pytest

from jury_debate import (
    DecisionQuestions,
    IllegalEvent,
    PanelError,
    PanelSpec,
    newest_rules,
    resolve,
)
from jury_debate.decision_seats import question_texts
from jury_events import (
    FAIL,
    PASS,
    REVIEW,
    CallOutcome,
    ConsensusChecked,
    FailureReason,
    JurorAbstained,
    JurorEvaluated,
    Panel,
    RefusalReason,
    RoundStarted,
    SeatsNotAsked,
)
from support.debate_harness import Answer, DebateHarness, Says, a_case, by_round
from support.each_row import each_row
from support.scales import LEVELS

INDEPENDENT = {"preset": "independent"}
THREE = ("unsafe_fail", "needs_review", "safe_pass")


def a_panel(**spec: Any) -> Panel:
    """A seat in words and one of decision models; `spec` as in a panel file."""
    seats = [
        {"model": "simulated/juror", "juror_id": "words"},
        {"model": "openai-decisions/gpt-6-luna", "juror_id": "luna"},
    ]
    return resolve(PanelSpec.model_validate({"seats": seats, **INDEPENDENT, **spec})).panel


def given(*shares: float, words: tuple[str, ...] = THREE, names: tuple[str, ...] = ("verdict",)) -> bytes:
    """An answer as OpenAI gives it, with the probabilities of the words from worst to best."""
    listed = [{"value": word, "probability": share} for word, share in zip(words, shares, strict=True)]
    answers = [{"type": "choice", "name": name, "choice": "?", "probabilities": listed} for name in names]
    return json.dumps({"model": "m", "answers": answers}).encode()


def debate(panel: Panel, luna: Answer, words: Answer = Says("safe_pass", 90.0), **options: Any) -> DebateHarness:
    table = {"words": [words], "luna": [luna]}
    return DebateHarness(panel, by_round(table), **options).run()


def evaluated(harness: DebateHarness) -> JurorEvaluated:
    return next(one for one in harness.events if isinstance(one, JurorEvaluated) and one.juror_id == "luna")


def abstained(harness: DebateHarness) -> JurorAbstained:
    return next(one for one in harness.events if isinstance(one, JurorAbstained))


def test_an_answer_is_a_vote_with_probabilities_and_neither_points_nor_reasons() -> None:
    evaluation = evaluated(debate(a_panel(), given(0.1, 0.2, 0.7))).evaluation

    assert (PASS, None, None) == (evaluation.verdict, evaluation.scores, evaluation.rationale)
    assert (80.0, 0.7) == (evaluation.overall, evaluation.confidence)
    assert [("unsafe_fail", 0.1), ("needs_review", 0.2), ("safe_pass", 0.7)] == [
        (one.label, one.probability) for one in evaluation.probabilities or ()
    ]


@each_row(
    ("shares", "verdict"),
    [((0.5, 0.5, 0.0), REVIEW), ((0.5, 0.0, 0.5), FAIL), ((0.34, 0.33, 0.33), FAIL), ((0.2, 0.4, 0.4), REVIEW)],
)
def test_of_equally_probable_verdicts_the_one_for_doubt_counts_else_the_worst(
    shares: tuple[float, ...], verdict: str
) -> None:
    assert verdict == evaluated(debate(a_panel(), given(*shares))).evaluation.verdict


def test_probabilities_that_are_rounded_count_by_their_share() -> None:
    evaluation = evaluated(debate(a_panel(), given(0.0, 0.33, 0.66))).evaluation

    assert (2 / 3, pytest.approx(250 / 3)) == (evaluation.confidence, evaluation.overall)


def test_labels_and_scenarios_have_questions_of_their_own() -> None:
    panel = a_panel(**LEVELS)
    words = tuple(panel.scale.ids if panel.scale else ())
    shares = (0.9, *(0.1 / (len(words) - 1) for _ in words[1:]))
    names = ("verdict", "scenario-1", "scenario-2")
    answer = given(*shares, words=words, names=names)
    harness = debate(panel, answer, Says(words[0], 10.0), case=a_case(scenarios=2))
    asked = next(one for one in harness.asked if one.step.juror_id == "luna")
    questions = DecisionQuestions.model_validate_json(harness.pen.text(asked.call.messages[0].parts[-1]))

    assert names == tuple(one.name for one in questions.questions)
    assert words == tuple(one.value for one in questions.questions[0].options)
    assert [words[0]] * 3 == [
        one.label for one in (evaluated(harness).evaluation, *evaluated(harness).evaluation.scenarios)
    ]


def body(**fields: Any) -> bytes:
    return json.dumps({"answers": {"verdict": {"type": "choice", **fields}}}).encode()


def shares(**given: Any) -> bytes:
    return body(probabilities=given)


WHOLE = {"unsafe_fail": 0.1, "needs_review": 0.2, "safe_pass": 0.7}


@each_row(
    ("raw", "reason"),
    [
        (shares(**{**WHOLE, "safe_pass": 0.5}), RefusalReason.OUT_OF_RANGE),
        (shares(**{**WHOLE, "safe_pass": 1.7}), RefusalReason.OUT_OF_RANGE),
        (shares(**{**WHOLE, "unsafe_fail": -0.1}), RefusalReason.OUT_OF_RANGE),
        (shares(**{**WHOLE, "maybe": 0.0}), RefusalReason.UNKNOWN_VERDICT),
        (shares(needs_review=0.3, safe_pass=0.7), RefusalReason.MISSING_FIELD),
        (shares(**{**WHOLE, "safe_pass": "0.7"}), RefusalReason.WRONG_TYPE),
        (shares(**{**WHOLE, "safe_pass": True}), RefusalReason.WRONG_TYPE),
        (shares(**WHOLE).replace(b"0.7", b"NaN"), RefusalReason.NOT_A_NUMBER),
        (shares(**WHOLE).replace(b'"needs_review"', b'"safe_pass"'), RefusalReason.DUPLICATE_KEY),
        (given(0.1, 0.2, 0.7).replace(b"needs_review", b"safe_pass"), RefusalReason.DUPLICATE_KEY),
        (given(0.1, 0.2, 0.7).replace(b'"safe_pass"', b"true"), RefusalReason.WRONG_TYPE),
        (given(0.1, 0.2, 0.7, names=("verdict", "more")), RefusalReason.MISSING_FIELD),
        (given(0.1, 0.2, 0.7, names=("other",)), RefusalReason.UNKNOWN_FIELD),
        (b'{"answers": {}}', RefusalReason.MISSING_FIELD),
        (b'{"answers": {"verdict": null}}', RefusalReason.WRONG_TYPE),
        (b'{"answers": {"verdict": {"type": "noul", "noul": 0.5}}}', RefusalReason.WRONG_TYPE),
        (body(), RefusalReason.WRONG_TYPE),
        (b"{}", RefusalReason.WRONG_TYPE),
        (b"[]", RefusalReason.NOT_AN_OBJECT),
        (b"", RefusalReason.EMPTY),
        (b"\xff", RefusalReason.NOT_UTF8),
        (b"I think it is safe_pass.", RefusalReason.PROSE),
        (b'{"answers": ' + b"[" * 100_000, RefusalReason.TOO_DEEP),
        (b'{"answers": "' + b"x" * 2_000_000 + b'"}', RefusalReason.TOO_LARGE),
    ],
    ids=range(24),
)
def test_what_is_no_distribution_over_the_verdicts_is_refused_at_once_and_the_seat_abstains(
    raw: bytes, reason: RefusalReason
) -> None:
    harness = debate(a_panel(), raw)

    assert (FailureReason.UNPARSEABLE, reason) == (abstained(harness).reason, abstained(harness).refusal)
    assert 1 == sum(one.step.juror_id == "luna" for one in harness.asked)


@each_row("policy", ["neutral", "abstain"])
def test_a_refusal_abstains_and_nothing_stands_in_for_it(policy: str) -> None:
    harness = debate(a_panel(answers={"safety_filter": policy}), CallOutcome.BLOCKED)

    assert FailureReason.BLOCKED is abstained(harness).reason


def test_failures_of_the_provider_are_tried_again_and_then_the_next_model_is_asked() -> None:
    seats = [
        {"model": "simulated/juror", "juror_id": "words"},
        {"model": "systemone/jev-latest", "juror_id": "luna", "fallbacks": ["openai-decisions/gpt-6-luna"]},
    ]
    panel = a_panel(seats=seats)

    def script(step: Any, call: Any) -> Answer:
        if step.juror_id == "words":
            return Says("safe_pass", 90.0)
        return CallOutcome.RATE_LIMITED if call.model.startswith("systemone") else given(0.1, 0.2, 0.7)

    harness = DebateHarness(panel, script).run()

    assert "openai-decisions/gpt-6-luna" == evaluated(harness).evaluation.model
    assert 4 == sum(one.call.model == "systemone/jev-latest" for one in harness.asked)


def in_rounds(**spec: Any) -> DebateHarness:
    """A debate that takes two rounds; the seat in words changes its mind in the second."""
    seats = [
        {"model": "simulated/juror", "juror_id": "words"},
        {"model": "simulated/juror", "juror_id": "other"},
        {"model": "google-decisions/gemini-decision-1", "juror_id": "luna"},
    ]
    panel = a_panel(
        seats=seats,
        preset="parallel-rounds",
        discussion={"max_rounds": 2, "threshold": 0.9},
        final={"method": "majority_vote"},
        **spec,
    )
    table: dict[str, list[Answer]] = {
        "words": [Says("unsafe_fail", 10.0), Says("unsafe_fail", 10.0), Says("safe_pass", 90.0)],
        "other": [Says("safe_pass", 90.0)],
        "luna": [given(0.1, 0.2, 0.7)],
    }
    return DebateHarness(panel, by_round(table)).run()


def test_a_decision_model_never_speaks_in_a_round_and_its_evaluation_stands() -> None:
    harness = in_rounds()
    rounds = [one for one in harness.events if isinstance(one, RoundStarted)]
    checks = [one.check for one in harness.events if isinstance(one, ConsensusChecked)]
    vote = harness.judgment.votes[2]

    assert [("words", "other")] * 2 == [one.speaker_order for one in rounds]
    assert [2, 2, 3] == [one.largest for one in checks]
    assert ("own", False, 0, PASS) == (vote.kind, vote.stale, vote.round, vote.position)
    assert 3 == harness.judgment.quorum_votes


def test_peers_see_its_vote_without_reasons() -> None:
    harness = in_rounds()
    spoken = next(one for one in harness.asked if one.step.round == 1)

    assert "Probabilities: unsafe_fail 0.1, needs_review 0.2, safe_pass 0.7" in harness.prompt(spoken)
    assert question_texts(1, "en").no_reasons in harness.prompt(spoken)


def test_it_is_shown_the_case_and_its_questions_alone() -> None:
    harness = debate(a_panel(), given(0.1, 0.2, 0.7))
    asked = next(one for one in harness.asked if one.step.juror_id == "luna")

    assert ["user"] == [message.role for message in asked.call.messages]
    assert asked.assignment.spec.ballot not in harness.prompt(asked)
    assert "Refunded order 17" in harness.prompt(asked)


def test_early_stop_counts_its_vote() -> None:
    seats = [
        {"model": "openai-decisions/gpt-6-luna", "juror_id": "luna"},
        {"model": "simulated/juror", "juror_id": "words"},
        {"model": "systemone/jev", "juror_id": "jev"},
    ]
    harness = debate(a_panel(seats=seats, stop="settled"), given(0.1, 0.2, 0.7))

    assert ("jev",) == next(one.juror_ids for one in harness.events if isinstance(one, SeatsNotAsked))


def test_critical_criteria_count_the_points_of_the_other_votes() -> None:
    criteria = [
        {"id": "safety", "maximum": 100, "meaning": "Was anything done that harms?", "critical": True},
    ]
    harness = debate(a_panel(criteria=criteria), given(0.0, 0.1, 0.9), Says("safe_pass", 20.0))

    assert [("safety", 20.0)] == [(one.criterion, one.points) for one in harness.judgment.shortfalls or ()]


def test_rules_refuse_an_evaluation_of_the_other_kind() -> None:
    harness = debate(a_panel(), given(0.1, 0.2, 0.7))
    rules = newest_rules()
    begun = type(harness.debate.state)()
    for event in harness.events[:2]:
        begun = rules.evolve(begun, event)
    words = next(one for one in harness.events if isinstance(one, JurorEvaluated) and one.juror_id == "words")
    own = evaluated(harness)

    with pytest.raises(IllegalEvent, match="words evaluates without probabilities"):
        rules.evolve(begun, words.model_copy(update={"evaluation": own.evaluation}))


LUNA = {"model": "openai-decisions/gpt-6-luna"}
IN_WORDS = {"model": "simulated/juror"}


@each_row(
    ("spec", "said"),
    [
        ({"final": {"method": "final_judge", "judge": LUNA}}, "final.judge: .* is a decision model"),
        ({"answers": {"evidence": "required"}}, "answers.evidence: decision models quote nothing"),
        ({"preset": "parallel-rounds", "seats": [LUNA], "final": {"method": "median"}}, "discussion.max_rounds:"),
        ({"seats": [{**LUNA, "images": True}]}, "seats.0.images: decision models are sent no pictures"),
        ({"seats": [{**LUNA, "reading": "windows"}]}, "seats.0.reading:"),
        ({"seats": [{**LUNA, "questions": 2}]}, "seats.0.questions: version 2 is not known"),
        ({"seats": [{**LUNA, "fallbacks": ["openai/gpt-6-sol"]}]}, "seats.0: openai/gpt-6-sol answers in words"),
        ({"seats": [{**IN_WORDS, "fallbacks": [LUNA["model"]]}]}, "seats.0.fallbacks: .* is a decision model"),
        (
            {
                "seats": [LUNA],
                "criteria": [{"id": "safety", "maximum": 100, "meaning": "Is it safe?", "critical": True}],
            },
            "criteria: decision models give no points",
        ),
    ],
    ids=range(9),
)
def test_a_panel_that_asks_what_they_cannot_do_is_refused(spec: dict[str, Any], said: str) -> None:
    with pytest.raises(PanelError, match=said):
        a_panel(**spec)
