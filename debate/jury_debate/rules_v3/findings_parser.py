"""The strict parser of what a juror found in a part of the record; its form has no verdict."""

import hmac
from typing import Any

from jury_debate.assignment import AnswerSpec
from jury_debate.prompts_v2.finding_limits import (
    LONGEST_FINDING,
    MOST_DECISIVE,
    MOST_FINDING_ENTRIES,
    MOST_FINDINGS,
    MOST_WANTED,
)
from jury_debate.rules_v1.answer_parser import (
    AnswerRefusal,
    Refused,
    check_fields,
    closed,
    one_object,
    refuse,
    shows_ballot,
    string,
    typed,
)
from jury_debate.rules_v3.answer_parser import criterion_of, criterion_schema, entry_of, entry_schema, item_of
from jury_debate.step_outcome import GivenFinding, ParsedFindings
from jury_events.evidence import MOST_ITEM
from jury_events.hidden_characters import is_blank
from jury_events.outcome import RefusalReason
from jury_events.rubric import Rubric
from jury_events.strict_json import InvalidJson

FIELDS = ("ballot", "findings", "decisive", "wanted")


def parse_findings(raw: bytes, spec: AnswerSpec) -> ParsedFindings | AnswerRefusal:
    """Parse `raw`, the answer as received; raises nothing, whatever the bytes."""
    try:
        members = one_object(raw)
        check_fields(members, list(FIELDS), "")
        ballot = string(members["ballot"], "ballot")
        if not hmac.compare_digest(ballot.encode("utf-8"), spec.ballot.encode("utf-8", "surrogatepass")):
            refuse(RefusalReason.WRONG_BALLOT, "ballot: not the ballot id that this juror was given")
        findings = _list(members["findings"], "findings", MOST_FINDINGS)
        return ParsedFindings(
            tuple(_finding(one, f"findings[{index}]", spec) for index, one in enumerate(findings)),
            _items(members["decisive"], "decisive", MOST_DECISIVE),
            _items(members["wanted"], "wanted", MOST_WANTED),
        )
    except (Refused, InvalidJson) as error:
        return AnswerRefusal(error.reason, str(error))


def _finding(value: Any, where: str, spec: AnswerSpec) -> GivenFinding:
    typed(value, where, dict, "an object")
    check_fields(value, ["criterion", "text", *(["evidence"] if spec.evidence is not None else [])], where)
    text = string(value["text"], f"{where}.text")
    if len(text) > LONGEST_FINDING:
        refuse(RefusalReason.TOO_LONG, f"{where}.text: {len(text)} characters; at most {LONGEST_FINDING} are taken")
    if is_blank(text):
        refuse(RefusalReason.EMPTY_TEXT, f"{where}.text: says nothing")
    if shows_ballot(text, spec):
        refuse(
            RefusalReason.BALLOT_SHOWN, f"{where}.text: holds the ballot id, which stands in ballot and nowhere else"
        )
    entries = _list(value["evidence"], f"{where}.evidence", MOST_FINDING_ENTRIES) if "evidence" in value else []
    return GivenFinding(
        criterion_of(value["criterion"], f"{where}.criterion", spec),
        text,
        tuple(entry_of(entry, f"{where}.evidence[{index}]", spec) for index, entry in enumerate(entries)),
    )


def _items(value: Any, where: str, most: int) -> tuple[int, ...]:
    return tuple(
        dict.fromkeys(item_of(one, f"{where}[{index}]") for index, one in enumerate(_list(value, where, most)))
    )


def _list(value: Any, where: str, most: int) -> list[Any]:
    typed(value, where, list, "an array")
    if len(value) > most:
        refuse(RefusalReason.TOO_LONG, f"{where}: {len(value)} entries; at most {most} are taken")
    return list(value)


def findings_schema(rubric: Rubric, *, evidence: bool) -> dict[str, Any]:
    """The JSON schema of what is found in a part; the parser is stricter still.

    Args:
        rubric: of the panel.
        evidence: whether quotations are asked for.
    """
    fields: dict[str, Any] = {
        "criterion": criterion_schema(rubric),
        "text": {"type": "string", "maxLength": LONGEST_FINDING},
    }
    if evidence:
        fields["evidence"] = {"type": "array", "items": entry_schema(rubric), "maxItems": MOST_FINDING_ENTRIES}
    item = {"type": "integer", "minimum": 1, "maximum": MOST_ITEM}
    return closed(
        {
            "ballot": {"type": "string"},
            "findings": {"type": "array", "items": closed(fields), "maxItems": MOST_FINDINGS},
            "decisive": {"type": "array", "items": item, "maxItems": MOST_DECISIVE},
            "wanted": {"type": "array", "items": item, "maxItems": MOST_WANTED},
        }
    )
