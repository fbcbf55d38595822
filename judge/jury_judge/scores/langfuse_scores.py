"""Scores at Langfuse: its public API takes an id and a time, so that writing again changes nothing.

Source: `POST /api/public/scores` with a list of scores, as SDK 5 sends it; answered with 202, or 207 if some were
refused. "To update an existing score, send it again with the same id and timestamp."
"""

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from jury_cases.containers.langfuse_traces import LangfuseApi, LangfuseRefused
from jury_events.local_events import ExportedScore, ScoreTargetName
from jury_events.text import moment, visible_line
from jury_judge.scores.debate_scores import DebateScore, JudgedTrace
from jury_judge.scores.score_target import ScoresRefused, place_of

_ACCEPTED, _IN_PART = 202, 207
_SHOWN = 300
"""Characters of a refusal."""


class LangfuseScores:
    """Writes scores onto the observation that a case names, else onto its trace."""

    name: ScoreTargetName = "langfuse"
    repeats = False

    def __init__(self, api: LangfuseApi) -> None:
        self._api = api
        self.place = place_of(api.base_url)

    def refusal(self, trace: JudgedTrace) -> None:
        """Its traces have ids of any form."""

    def write(
        self,
        trace: JudgedTrace,
        scores: Sequence[DebateScore],
        before: Mapping[str, ExportedScore],  # noqa: ARG002  (the ids follow from the debate)
    ) -> Mapping[str, str | None]:
        """See `ScoreTarget`; a correction has the same ids and times, by which Langfuse knows that it is one."""
        bodies = [_body(trace, one) for one in scores]
        try:
            status, answer = self._api.post("/api/public/scores", bodies)
        except LangfuseRefused as error:
            raise ScoresRefused(f"debate {trace.debate_id}: {error}") from error
        if status != _ACCEPTED and (status != _IN_PART or answer.get("rejected") != 0):
            said = visible_line(self._api.quoted(json.dumps(answer.get("errors") or answer)), _SHOWN)
            raise ScoresRefused(
                f"debate {trace.debate_id}: Langfuse at {self.place} refused scores: status {status}, {said}"
            )
        return {body["name"]: body["id"] for body in bodies}

    def close(self) -> None:
        """Each request has a connection of its own."""


def _body(trace: JudgedTrace, score: DebateScore) -> dict[str, Any]:
    """A score as SDK 5 sends it."""
    named = f"{trace.debate_id}\n{trace.trace_id}\n{score.name}"
    body = {
        "id": f"jury-{sha256(named.encode()).hexdigest()[:32]}",
        "timestamp": moment(trace.opened_at, "milliseconds"),
        "traceId": trace.trace_id,
        "observationId": trace.observation_id,
        "name": score.name,
        "value": score.value,
        "dataType": "CATEGORICAL" if isinstance(score.value, str) else "NUMERIC",
        "comment": score.explanation or None,
        "metadata": trace.facts,
    }
    return {name: value for name, value in body.items() if value is not None}
