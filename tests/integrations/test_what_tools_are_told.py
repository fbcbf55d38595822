"""What tools are told of recorded debates: outcomes in their words, quotations that stand, progress without texts."""

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from integrations.test_inspect_scorer import REFUSED, a_state, scored
from jury_events import Case, DebateHistory
from jury_integrations import HostedJury, JuryOutcome, said_of
from jury_replay import read_cassette
from jury_views import CollaborativeJuryResult, SseEvents, result_of
from support.corpus import CORPUS

LONG_ENOUGH = 12
"""Characters of a text that stands nowhere by chance."""

CASSETTES = sorted(CORPUS.glob("*.cassette.jsonl"))


def recorded(path: Path) -> DebateHistory:
    return read_cassette(path).history


def result(path: Path) -> CollaborativeJuryResult:
    return result_of(recorded(path))


def test_a_step_is_told_without_a_text_that_a_juror_wrote() -> None:
    for path in CASSETTES:
        history, fold = recorded(path), SseEvents()
        told, texts = [], set()
        for event in history.events:
            for live in fold.take(event, history.texts):
                told.append(said_of(live) or "")
                texts |= {str(live.get(name) or "")[:LONG_ENOUGH] for name in ("statement", "rationale")}

        assert "phase 1: initial evaluation" == told[0]
        assert [] == [one for one in told for text in texts if len(text) == LONG_ENOUGH and text in one]


def test_a_message_is_cited_for_quotations_that_stand_in_it_alone() -> None:
    found = result(CORPUS / "every-result-of-a-quotation.cassette.jsonl")
    last = {one.juror_id: one for one in found.phase1_evaluations}
    for round_of_statements in found.discussion_rounds:
        for one in round_of_statements.statements:
            if one.updated_evaluation is not None:
                last[one.juror_id] = one.updated_evaluation
    quoted = [each for evaluation in last.values() for each in evaluation.evidence or ()]
    items = {one.item: one.item for one in quoted}
    outcome = JuryOutcome(cast("Case", None), found, cast("Any", found.phase3_judgment), items)
    standing = [one for one in quoted if one.seat is None and one.result in {"verified", "normalised"}]

    assert {"verified", "normalised"} < {one.result for one in quoted}
    assert len(standing) == sum(map(len, outcome.cited_messages.values()))


@pytest.mark.parametrize(("verdict", "letter"), [("safe_pass", "C"), ("needs_review", "N"), ("unsafe_fail", "I")])
async def test_inspect_has_a_letter_for_each_verdict_and_only_a_pass_passes_in_a_tool(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch, verdict: str, letter: str
) -> None:
    found = result(CASSETTES[0])
    judgment = found.phase3_judgment
    assert judgment is not None
    outcome = JuryOutcome(cast("Case", None), found, replace(judgment, verdict=verdict))

    async def judged(_hosted: HostedJury, case: Case) -> JuryOutcome:
        return replace(outcome, case=case)

    monkeypatch.setattr(HostedJury, "judged", judged)
    score = await scored(sqlite_url, a_state(REFUSED), run=verdict)

    assert letter == score.value
    assert (verdict == "safe_pass") == outcome.passed
