"""Results of earlier checks as arguments of the documents' classes: records, or a summary of them.

Document 002 passes decoded JSONL records. Document 004's caller passes one object a check, and its jury shows all of
it to the jurors (document 002's comparison of the two).
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from jury_debate import artifacts
from jury_debate.prompts_registry import PROMPTS_VERSION, load_prompts
from jury_events.canonical import canonical_json
from jury_events.case import ArtifactKind
from jury_events.errors import EventError, SettingError
from jury_events.panel import Language
from jury_events.text.visible_text import visible_line
from jury_judge.documents.artifact_tools import ArtifactContext, Records, records_of

Report = Records | Mapping[str, Any]
"""Decoded JSONL records in a list; or an object with such a list under one of `RECORD_NAMES`, or has at least one
of `SUMMARY_NAMES`."""

RECORD_NAMES = ("records", "results", "scenarios", "items")
SUMMARY_NAMES = (
    "summary", "total", "passed", "failed", "blocked", "needs_review", "errors", "not_executed", "passes", "fails",
    "needsReview", "notExecuted", "attempted", "scenarios", "total_scenarios", "passed_scenarios", "failed_scenarios",
    "samples", "failures", "skills", "by_dataset", "byDataset", "artifacts",
)  # fmt: skip
"""Counts, and excerpts of records."""

_HEADINGS: dict[tuple[ArtifactKind, Language], str] = {
    ("security_gate", "ja"): "セキュリティゲート：集計のみ（記録はない）",
    ("security_gate", "en"): "Security Gate: a summary, without the records",
    ("agent_card", "ja"): "エージェントカード正確性検査：集計のみ（記録はない）",
    ("agent_card", "en"): "Agent Card Accuracy: a summary, without the records",
}
_KNOWN_VERDICTS: dict[ArtifactKind, tuple[str, ...]] = {
    "security_gate": ("pass", "blocked", "fail", "needs_review", "error", "not_executed"),
    "agent_card": ("pass", "fail", "needs_review", "error", "not_executed"),
}


class Reported(NamedTuple):
    """Results of earlier checks for jurors: the records, and a `summary` in place of the generated one.

    `warnings` are for the caller.
    """

    artifacts: ArtifactContext
    summary: str | None
    warnings: tuple[str, ...]


class _Read(NamedTuple):
    """One report: records, their URI, or a summary of them; all None without a report."""

    records: Records | None = None
    uri: str | None = None
    summary: Mapping[str, Any] | None = None
    warning: str | None = None


def read_reports(
    context: ArtifactContext | None,
    *,
    gate: tuple[Report | None, Report | None],
    card: tuple[Report | None, Report | None],
    language: Language,
) -> Reported:
    """Read the results of both checks.

    Args:
        context: records, or their URIs, instead of reports.
        gate: the arguments `security_gate_records` and `security_gate_results`.
        card: the arguments `agent_card_records` and `agent_card_accuracy`.
        language: of the panel, for the headings of a summary.

    Raises:
        SettingError: a report is given twice, or its shape is unknown; the message names the argument and its
            keys.
        CaseFileError: a record cannot be read.
    """
    gate_name, gate_given = _one(gate, "security_gate_records", "security_gate_results")
    card_name, card_given = _one(card, "agent_card_records", "agent_card_accuracy")
    if context is not None:
        if gate_given is not None or card_given is not None:
            raise SettingError("artifact_context: records are given too; keep one of them")
        unknown = (
            *_unknown("security_gate", context.security_gate_records, gate_name),
            *_unknown("agent_card", context.agent_card_records, card_name),
        )
        return Reported(context, None, unknown)
    gate_read, card_read = _read(gate_given, gate_name), _read(card_given, card_name)
    artifacts_given = ArtifactContext(gate_read.uri, card_read.uri, gate_read.records, card_read.records)
    warnings = [one.warning for one in (gate_read, card_read) if one.warning is not None]
    warnings += _unknown("security_gate", gate_read.records, gate_name)
    warnings += _unknown("agent_card", card_read.records, card_name)
    return Reported(artifacts_given, _summary_text(gate_read, card_read, language), tuple(warnings))


def _one(pair: tuple[Report | None, Report | None], name: str, other: str) -> tuple[str, Report | None]:
    if pair[0] is not None and pair[1] is not None:
        raise SettingError(f"{other}: {name} is given too; keep one of them")
    return (name, pair[0]) if pair[1] is None else (other, pair[1])


def _read(given: Any, name: str) -> _Read:
    if given is None or (isinstance(given, Mapping) and not given):
        return _Read()
    if isinstance(given, Mapping):
        return _of_object(given, name)
    if isinstance(given, Iterable) and not isinstance(given, str | bytes | bytearray):
        return _Read(records=list(given))
    raise SettingError(f"{name}: must be a list of records, or an object with them; it is a {type(given).__name__}")


def _of_object(given: Mapping[str, Any], name: str) -> _Read:
    lists = [one for one in RECORD_NAMES if isinstance(given.get(one), list | tuple)]
    filled = [one for one in lists if given[one]]
    if len(filled) > 1:
        raise SettingError(f"{name}: has records as {' and as '.join(filled)}; keep one of them")
    if filled:
        return _Read(records=given[filled[0]])
    if any(one in given and one not in lists for one in SUMMARY_NAMES):
        return _summary(given, name)
    if lists:
        return _Read(records=())
    has = ", ".join(visible_line(str(one), 60) for one in list(given)[:10])
    raise SettingError(
        f"{name}: its shape is unknown; give a list of records, an object with one as {', '.join(RECORD_NAMES)}, "
        f"or a summary with {', '.join(SUMMARY_NAMES[:7])} or the like; it has {has}"
    )


def _summary(given: Mapping[str, Any], name: str) -> _Read:
    try:
        canonical_json(_plain(given))
    except EventError as error:
        raise SettingError(f"{name}: cannot be shown to the jurors: {error}") from error
    places = given.get("artifacts")
    uri = places.get("full_report") if isinstance(places, Mapping) else None
    if not isinstance(uri, str) or not uri:
        return _Read(summary=given)
    if "://" not in uri or uri.partition("://")[0].lower() in {"file", "http", "https"}:
        return _Read(uri=uri, summary=given)
    scheme = visible_line(uri.partition("://")[0], 40)
    return _Read(
        summary=given,
        warning=f"{name}: the report behind artifacts.full_report ({scheme}:) cannot be read here, only a path, file:, "
        "http: or https:; the jurors see the summary only",
    )


def _summary_text(gate: _Read, card: _Read, language: Language) -> str | None:
    """The text for jurors about both checks, if one of them is a summary without records."""
    if not any(one.summary is not None and one.uri is None for one in (gate, card)):
        return None
    made = artifacts.report_summaries(
        records_of(gate.records, "records"),
        records_of(card.records, "records"),
        load_prompts(PROMPTS_VERSION, language),
    )
    kinds: tuple[ArtifactKind, ArtifactKind] = ("security_gate", "agent_card")
    return "\n\n".join(
        text if one.summary is None else f"{_HEADINGS[kind, language]}\n{_as_text(one.summary)}"
        for kind, one, text in zip(kinds, (gate, card), made, strict=True)
    )


def _as_text(summary: Mapping[str, Any]) -> str:
    return json.dumps(_plain(summary), ensure_ascii=False, indent=1)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _plain(inner) for name, inner in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list | tuple) else value


def _unknown(kind: ArtifactKind, records: Records | None, name: str) -> list[str]:
    """A warning of unknown verdicts: they count as failures, and jurors see them as written."""
    found = [one.verdict for one in records_of(records, name) if one.verdict not in _KNOWN_VERDICTS[kind]]
    if not found:
        return []
    words = ", ".join(repr(visible_line(word, 60)) for word in dict.fromkeys(found))
    known = ", ".join(_KNOWN_VERDICTS[kind])
    return [f"{name}: {len(found)} of the records count as failures: their verdict is {words}, not one of {known}"]
