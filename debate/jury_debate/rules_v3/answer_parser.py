"""The parser of answers under prompts 2: one form for all steps of a debate, null where a step does not ask.

One form means one schema, so that a provider's prompt cache, of which the schema is a part, holds from step to step.
"""

from collections.abc import Sequence
from typing import Any, get_args

from jury_debate.assignment import AnswerSpec
from jury_debate.rules_v1 import answer_parser as before
from jury_debate.rules_v1.answer_parser import (
    AnswerRefusal,
    Refused,
    answer_of,
    check_ballot_unseen,
    check_fields,
    closed,
    number,
    one_object,
    refuse,
    scenario_schema,
    shows_ballot,
    string,
    typed,
)
from jury_debate.step_outcome import ParsedAnswer, Quotation
from jury_events.evidence import LONGEST_QUOTE, MOST_ENTRIES, MOST_ITEM, SHORTEST_QUOTE, Says
from jury_events.outcome import RefusalReason
from jury_events.rubric import Rubric
from jury_events.strict_json import InvalidJson
from jury_events.verdict import PASS
from jury_events.verdict_scale import VerdictScale

FIELDS = ("ballot", "verdict", "scores", "confidence", "rationale", "statement", "scenarios")
SCORES = "scores"
"""The field that is there only where points are asked for."""
EVIDENCE_FIELDS = ("evidence", "decisive_item")
ENTRY_FIELDS = ("item", "quote", "says", "criterion", "seat")


def parse_answer(raw: bytes, spec: AnswerSpec) -> ParsedAnswer | AnswerRefusal:
    """Parse `raw`, the answer as received; raises nothing, whatever the bytes."""
    try:
        members = one_object(raw)
        answer = answer_of(_asked(members, spec), spec)
        return answer if spec.evidence is None else _with_evidence(answer, members, spec)
    except (Refused, InvalidJson) as error:
        return AnswerRefusal(error.reason, str(error))


def _asked(members: dict[str, Any], spec: AnswerSpec) -> dict[str, Any]:
    """The members without those that this step does not ask for.

    A statement that is not asked for is passed over: schemas of providers cannot forbid it, and peers never see it.
    """
    fields = [name for name in FIELDS if name != SCORES or spec.rubric.asked]
    check_fields(members, [*fields, *(EVIDENCE_FIELDS if spec.evidence is not None else ())], "")
    check_ballot_unseen(members, spec)
    passed_over = set(EVIDENCE_FIELDS)
    if not spec.statement:
        if not isinstance(members["statement"], str | None):
            refuse(RefusalReason.WRONG_TYPE, "statement: must be a string or null")
        passed_over.add("statement")
    if not spec.scenarios:
        if members["scenarios"] not in (None, []):
            refuse(RefusalReason.UNKNOWN_SCENARIO, "scenarios: this case is judged as a whole; write null")
        passed_over.add("scenarios")
    return {name: value for name, value in members.items() if name not in passed_over}


def _with_evidence(answer: ParsedAnswer, members: dict[str, Any], spec: AnswerSpec) -> ParsedAnswer:
    entries = members["evidence"]
    typed(entries, "evidence", list, "an array")
    if len(entries) > MOST_ENTRIES:
        refuse(RefusalReason.TOO_LONG, f"evidence: {len(entries)} entries; at most {MOST_ENTRIES} are taken")
    decisive = members["decisive_item"]
    if decisive is not None:
        decisive = item_of(decisive, "decisive_item")
    return answer._replace(
        quotations=tuple(entry_of(entry, f"evidence[{index}]", spec) for index, entry in enumerate(entries)),
        # Nothing went wrong where the verdict passes.
        decisive_item=None if answer.verdict is PASS else decisive,
    )


def entry_of(entry: Any, where: str, spec: AnswerSpec) -> Quotation:
    """A quotation, or a refusal."""
    typed(entry, where, dict, "an object")
    check_fields(entry, list(ENTRY_FIELDS), where)
    quote = string(entry["quote"], f"{where}.quote")
    if not SHORTEST_QUOTE <= len(quote) <= LONGEST_QUOTE:
        refuse(
            RefusalReason.OUT_OF_RANGE,
            f"{where}.quote: {len(quote)} characters; {SHORTEST_QUOTE} to {LONGEST_QUOTE} are taken",
        )
    if shows_ballot(quote, spec):
        refuse(
            RefusalReason.BALLOT_SHOWN, f"{where}.quote: holds the ballot id, which stands in ballot and nowhere else"
        )
    assert spec.evidence is not None
    return Quotation(
        item=item_of(entry["item"], f"{where}.item"),
        quote=quote,
        says=_one_of(entry["says"], f"{where}.says", get_args(Says)),
        criterion=criterion_of(entry["criterion"], f"{where}.criterion", spec),
        seat=_one_of_or_null(entry["seat"], f"{where}.seat", [seat.letter for seat in spec.evidence.seats]),
    )


def criterion_of(value: Any, where: str, spec: AnswerSpec) -> str | None:
    """A dimension of the rubric or None, or a refusal."""
    return _one_of_or_null(value, where, [one.name for one in spec.rubric.asked])


def item_of(value: Any, where: str) -> int:
    """The number of an item, or a refusal."""
    number_found = number(value, where, MOST_ITEM)
    if number_found != int(number_found):
        refuse(RefusalReason.OUT_OF_RANGE, f"{where}: must be the number of an item")
    return int(number_found)


def _one_of(value: Any, where: str, known: Sequence[str]) -> Any:
    word = string(value, where)
    if word not in known:
        refuse(RefusalReason.OUT_OF_RANGE, f"{where}: must be one of {', '.join(known)}")
    return word


def _one_of_or_null(value: Any, where: str, known: Sequence[str]) -> str | None:
    if value is not None and not known:
        refuse(RefusalReason.OUT_OF_RANGE, f"{where}: must be null")
    return None if value is None else str(_one_of(value, where, known))


def answer_schema(rubric: Rubric, *, evidence: bool, scale: VerdictScale | None = None) -> dict[str, Any]:
    """The JSON schema of every answer of a debate under prompts 2; the parser is stricter still.

    Args:
        rubric: of the panel.
        evidence: whether quotations are asked for.
        scale: of the panel; None: the three verdicts.
    """
    schema = before.answer_schema(rubric, statement=False, scenarios=(), scale=scale)
    scenario = scenario_schema({"type": "string"}, rubric, scale)
    nullable = {
        "statement": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "scenarios": {"anyOf": [{"type": "array", "items": scenario}, {"type": "null"}]},
    }
    return closed({**schema["properties"], **nullable, **(_evidence_schema(rubric) if evidence else {})})


def entry_schema(rubric: Rubric) -> dict[str, Any]:
    """The JSON schema of a quotation."""
    return closed(
        {
            "item": _ITEM,
            "quote": {"type": "string", "minLength": SHORTEST_QUOTE, "maxLength": LONGEST_QUOTE},
            "says": {"type": "string", "enum": list(get_args(Says))},
            "criterion": criterion_schema(rubric),
            "seat": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        }
    )


_ITEM = {"type": "integer", "minimum": 1, "maximum": MOST_ITEM}


def _evidence_schema(rubric: Rubric) -> dict[str, Any]:
    return {
        "evidence": {"type": "array", "items": entry_schema(rubric), "maxItems": MOST_ENTRIES},
        "decisive_item": {"anyOf": [_ITEM, {"type": "null"}]},
    }


def criterion_schema(rubric: Rubric) -> dict[str, Any]:
    """The JSON schema of the criterion that something is about."""
    null = {"type": "null"}
    names = [dimension.name for dimension in rubric.asked]
    return {"anyOf": [{"type": "string", "enum": names}, null]} if names else null
