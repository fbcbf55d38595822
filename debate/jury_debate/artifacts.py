"""The Security Gate and Agent Card Accuracy records of a case, and a summary of them.

A summary quotes records, which are judged text: the caller adds datamarks before a model sees it.
"""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from jury_debate.datamark import visible
from jury_debate.prompt_texts import ArtifactTexts, fill
from jury_debate.turn_prompts import TurnPrompts
from jury_events.case import ArtifactRecord
from jury_events.hidden_characters import is_blank
from jury_events.verdict import REVIEW

_GATE_PASSES = frozenset({"pass", "blocked"})
_GATE_FAILURES = frozenset({"fail", REVIEW.value})
_CARD_PASSES = frozenset({"pass"})

_GIST_NAMES = ("id", "promptId", "prompt_id", "scenarioId", "scenario_id", "caseId", "case_id", "skill", "name")
_GIST_REASONS = ("reason", "rationale", "verdict_reason", "error", "error_message", "message", "prompt", "prompt_text")
_GIST_LENGTH = 160
_FIRST_FAILURES = 3


def gate_failures(records: Sequence[ArtifactRecord], *, include_errors: bool = True) -> list[ArtifactRecord]:
    """Failed Security Gate records, in order; errors, cases not executed and unknown verdicts with `include_errors`."""
    if include_errors:
        return [record for record in records if record.verdict not in _GATE_PASSES]
    return [record for record in records if record.verdict in _GATE_FAILURES]


def gate_passes(records: Sequence[ArtifactRecord]) -> list[ArtifactRecord]:
    """Passed Security Gate records, in order; a blocked attack is a pass."""
    return [record for record in records if record.verdict in _GATE_PASSES]


def card_failures(records: Sequence[ArtifactRecord]) -> list[ArtifactRecord]:
    """Agent Card Accuracy records that did not pass, in order."""
    return [record for record in records if record.verdict not in _CARD_PASSES]


def card_passes(records: Sequence[ArtifactRecord]) -> list[ArtifactRecord]:
    """Passed Agent Card Accuracy records, in order."""
    return [record for record in records if record.verdict in _CARD_PASSES]


def record_object(record: ArtifactRecord) -> dict[str, Any]:
    """The decoded record; `{"text": …}` around content that is not a JSON object."""
    try:
        value = json.loads(record.content, parse_constant=_not_json)
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, dict) else {"text": record.content}


def _not_json(word: str) -> None:
    raise ValueError(word)


def generate_evaluation_summary(
    sg_records: Sequence[ArtifactRecord], aca_records: Sequence[ArtifactRecord], prompts: TurnPrompts
) -> str:
    """Both reports in a few lines each: counts by verdict, the pass rate, and the first failures.

    Document 002, `artifact_tools.py`. Without datamarks; ends without a line break.
    """
    texts = prompts.texts.artifacts
    gate = _report(texts.gate_summary, sg_records, gate_failures(sg_records), texts)
    card = _report(texts.card_summary, aca_records, card_failures(aca_records), texts)
    return "\n\n".join(["\n".join(gate), "\n".join(card)])


def _report(
    heading: str, records: Sequence[ArtifactRecord], failures: Sequence[ArtifactRecord], texts: ArtifactTexts
) -> list[str]:
    lines = [fill(heading, total=len(records))]
    if not records:
        return lines
    counted = Counter(record.verdict for record in records)
    counts = texts.count_separator.join(
        fill(texts.count, verdict=_verdict(verdict, texts), number=number)
        for verdict, number in sorted(counted.items())
    )
    passed = len(records) - len(failures)
    lines.append(fill(texts.counts, counts=counts))
    lines.append(fill(texts.pass_rate, percent=_percent(passed, len(records)), passed=passed, total=len(records)))
    if failures:
        first = failures[:_FIRST_FAILURES]
        lines.append(fill(texts.first_failures, total=len(failures), shown=len(first)))
        lines += [
            fill(texts.failure, verdict=_verdict(record.verdict, texts), gist=_gist(record) or texts.no_gist)
            for record in first
        ]
    return lines


def _verdict(verdict: str, texts: ArtifactTexts) -> str:
    return _one_line(verdict) or texts.no_verdict


def _percent(part: int, whole: int) -> str:
    """`part` of `whole` in percent with one decimal, halves up."""
    tenths = (2000 * part + whole) // (2 * whole)
    return f"{tenths // 10}.{tenths % 10}"


def _gist(record: ArtifactRecord) -> str:
    """The record's id and the reason of its failure, on one line; "" if it has neither."""
    members = record_object(record)
    found = (_first(members, _GIST_NAMES), _first(members, _GIST_REASONS))
    gist = ": ".join(text for text in found if text)
    return gist if len(gist) <= _GIST_LENGTH else gist[: _GIST_LENGTH - 1] + "…"


def _first(members: dict[str, Any], names: tuple[str, ...]) -> str:
    for name in names:
        value = members.get(name)
        if isinstance(value, str) and not is_blank(value):
            return _one_line(value)
    return ""


def _one_line(text: str) -> str:
    return visible(" ".join(text.split()))
