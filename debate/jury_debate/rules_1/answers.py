"""The strict parser of jurors' answers: exactly one JSON object, or a refusal with its reason.

No verdict is extracted from prose. An answer without the seat's ballot id is refused: judged text that a juror echoes
cannot vote. All steps of a debate have one form of answers, null where a step does not ask: one form means one schema,
so that a provider's prompt cache, of which the schema is a part, holds from step to step."""

import codecs
import hmac
import re
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple, NoReturn, get_args

from jury_debate.assignment import AnswerSpec
from jury_debate.step_outcome import ParsedAnswer, Quotation
from jury_events.evaluation import ScenarioVerdict, SeatPosition
from jury_events.evidence import LONGEST_QUOTE, MOST_ENTRIES, MOST_ITEM, SHORTEST_QUOTE, Says
from jury_events.outcome import RefusalReason
from jury_events.rubric import DimensionScore, Rubric, Scores
from jury_events.strict_json import MODEL_JSON, InvalidJson, skip_space
from jury_events.text import is_blank
from jury_events.value import trusted
from jury_events.verdict import PASS, Verdict
from jury_events.verdict_scale import VERDICTS, VerdictScale

MAX_BYTES = 256 * 1024


MAX_TEXT = 20_000
"""Characters of a rationale or a statement."""


_SURROGATE = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]")
"""A surrogate encoded as UTF-8, which a provider's JSON decoder may leave behind."""


_OTHERS = bytes(code for code in range(128) if not chr(code).isalnum() or chr(code).isupper())
"""ASCII that is no letter or digit of a ballot id."""


_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}


_BOM = b"\xef\xbb\xbf"


_OPENING = re.compile(r"```(?:json)?[ \t]*\r?\n")


_CUT_OPENING = re.compile(r"`{1,2}|```(?:j|js|jso|json)?[ \t]*\r?")


_CLOSING = re.compile(r"[ \t\r]*\n[ \t\r\n]*```")


_CUT_CLOSING = re.compile(r"[ \t\r\n]*`{0,2}")


class AnswerRefusal(NamedTuple):
    """Why an answer is refused; `detail` is one English line for the model's next try.

    It quotes nothing of the answer, which may contain judged text: no such text may appear outside of a marked line.
    """

    reason: RefusalReason
    detail: str


def closed(properties: dict[str, Any]) -> dict[str, Any]:
    """The schema of an object with exactly these fields."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


class Refused(Exception):
    """An answer is refused, with its reason."""

    def __init__(self, reason: RefusalReason, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


def refuse(reason: RefusalReason, detail: str) -> NoReturn:
    """Raise `Refused`."""
    raise Refused(reason, detail)


def _text(raw: bytes) -> str:
    if len(raw) > MAX_BYTES:
        refuse(RefusalReason.TOO_LARGE, f"the answer has {len(raw)} bytes; at most {MAX_BYTES} are read")
    if raw.startswith(_BOM):
        refuse(RefusalReason.BYTE_ORDER_MARK, "the answer begins with a byte order mark")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        _refuse_bytes(raw)
    if "\0" in text:
        refuse(RefusalReason.NUL, f"the character U+0000 (character {text.index(chr(0)) + 1})")
    return text


def _refuse_bytes(raw: bytes) -> NoReturn:
    try:
        codecs.getincrementaldecoder("utf-8")("strict").decode(raw)
    except UnicodeDecodeError as error:
        if _SURROGATE.match(raw, error.start):
            refuse(RefusalReason.LONE_SURROGATE, f"byte {error.start + 1} of the answer begins a lone surrogate")
        raise Refused(RefusalReason.NOT_UTF8, f"byte {error.start + 1} of the answer is not UTF-8") from error
    # An incremental decoder waits for the rest of a character.
    refuse(RefusalReason.INCOMPLETE, "the answer ends inside a character")


def one_object(raw: bytes) -> dict[str, Any]:
    """The members of the one JSON object of an answer."""
    text = _text(raw)
    at = skip_space(text, 0)
    if at == len(text):
        refuse(RefusalReason.EMPTY, "the answer is empty")
    fenced = text[at] == "`"
    if fenced:
        at = _skip_fence(text, at)
    if text[at : at + 1] != "{":
        _refuse_start(text, at, fenced=fenced)
    value, end = MODEL_JSON.value(text, at)
    _refuse_rest(text, end, fenced=fenced)
    return dict(value)


def _skip_fence(text: str, at: int) -> int:
    opening = _OPENING.match(text, at)
    if opening is None:
        if _CUT_OPENING.fullmatch(text, at):
            refuse(RefusalReason.INCOMPLETE, "the answer ends in its opening code fence")
        refuse(RefusalReason.PROSE, "a code fence must open with ```json or ``` on a line of its own")
    body = skip_space(text, opening.end())
    if body == len(text) or _CUT_CLOSING.fullmatch(text, body):
        refuse(RefusalReason.INCOMPLETE, "the answer ends after its opening code fence")
    if text.startswith("```", body) and skip_space(text, body + 3) == len(text):
        refuse(RefusalReason.EMPTY, "there is nothing in the code fence")
    return body


def _refuse_start(text: str, at: int, *, fenced: bool) -> NoReturn:
    try:
        _, end = MODEL_JSON.value(text, at)
        _refuse_rest(text, end, fenced=fenced)
    except (Refused, InvalidJson) as error:
        if error.reason is RefusalReason.TOO_DEEP:
            raise
        raise Refused(RefusalReason.PROSE, "the answer must begin with {, and nothing may stand before it") from error
    refuse(RefusalReason.NOT_AN_OBJECT, "the answer is JSON, but not an object")


def _refuse_rest(text: str, end: int, *, fenced: bool) -> None:
    """Refuse everything after the object but white space and the closing fence."""
    at = end
    if fenced:
        closing = _CLOSING.match(text, end)
        if closing is not None:
            at = closing.end()
        elif _CUT_CLOSING.fullmatch(text, end):
            refuse(RefusalReason.INCOMPLETE, "the code fence is not closed")
    at = skip_space(text, at)
    if at == len(text) and (not fenced or at > end):
        return
    opening = _OPENING.match(text, at)
    following = skip_space(text, opening.end() if opening else at)
    if text[following : following + 1] == "{":
        refuse(RefusalReason.SEVERAL_OBJECTS, "the answer holds more than one JSON object")
    refuse(RefusalReason.PROSE, "nothing may follow the JSON object, but something does")


def check_ballot(members: dict[str, Any], spec: AnswerSpec) -> None:
    """Refuse an answer without the seat's ballot id."""
    ballot = string(members["ballot"], "ballot")
    if not hmac.compare_digest(ballot.encode("utf-8"), spec.ballot.encode("utf-8", "surrogatepass")):
        refuse(RefusalReason.WRONG_BALLOT, "ballot: not the ballot id that this juror was given")


def shows_ballot(text: str, ballot: str) -> bool:
    """Whether a text contains the ballot id, with any separators, line breaks or other scripts between its characters.

    A ballot is 80 random bits: no text spells one by chance.
    """
    letters = _ballot_letters(ballot)
    return bool(letters) and letters in _letters(text)


@lru_cache(maxsize=4096)
def _ballot_letters(ballot: str) -> bytes:
    return _letters(ballot)


def _letters(text: str) -> bytes:
    narrow = text if text.isascii() else text.translate(_FULL_WIDTH)
    return narrow.lower().encode("ascii", "ignore").translate(None, _OTHERS)


def check_fields(members: dict[str, Any], asked: Sequence[str], where: str) -> None:
    """Refuse an object that has not exactly the fields that are asked for."""
    if not members.keys() ^ asked:
        return
    for name in members:
        if name not in asked:
            refuse(
                RefusalReason.UNKNOWN_FIELD,
                f"{where or 'answer'}: the fields are {', '.join(asked)}; one is given that is none of them",
            )
    for name in asked:
        if name not in members:
            refuse(RefusalReason.MISSING_FIELD, f"{where}{'.' if where else ''}{name}: is missing")


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    return {bool: "a boolean", float: "a number", str: "a string", list: "an array", dict: "an object"}[type(value)]


def typed(value: Any, where: str, kind: type, expected: str) -> None:
    """Refuse a value of another type."""
    if type(value) is not kind:
        refuse(RefusalReason.WRONG_TYPE, f"{where}: must be {expected}, not {_kind(value)}")


def string(value: Any, where: str) -> str:
    """A string, or a refusal."""
    if not isinstance(value, str):
        typed(value, where, str, "a string")
    return str(value)


def number(value: Any, where: str, maximum: float) -> float:
    """A number from 0 to a maximum, or a refusal."""
    if type(value) is float and 0 <= value <= maximum:
        return value + 0.0  # -0.0 becomes 0.0
    typed(value, where, float, "a number")
    refuse(RefusalReason.OUT_OF_RANGE, f"{where}: {value:g} is not between 0 and {maximum:g}")


_THREE_VERDICTS = tuple(verdict.value for verdict in Verdict)


def _position_of(value: Any, where: str, scale: VerdictScale | None) -> SeatPosition:
    word, words = string(value, where), _THREE_VERDICTS if scale is None else scale.ids
    if word not in words:
        refuse(RefusalReason.UNKNOWN_VERDICT, f"{where}: must be one of {', '.join(words)}")
    return SeatPosition(Verdict(word)) if scale is None else SeatPosition(scale.verdict(word), word)


def scores_of(position: SeatPosition, spec: AnswerSpec) -> Scores:
    """The scores of a verdict where no points are asked for."""
    if position.label is None or spec.scale is None:
        return spec.rubric.scores_of_rank(list(VERDICTS.values()).index(position.verdict), len(VERDICTS) - 1)
    return spec.rubric.scores_of_rank(spec.scale.rank(position.label), spec.scale.best_rank)


def _prose(value: Any, where: str) -> str:
    text = string(value, where)
    if len(text) > MAX_TEXT:
        refuse(RefusalReason.TOO_LONG, f"{where}: {len(text)} characters; at most {MAX_TEXT} are taken")
    if is_blank(text):
        refuse(RefusalReason.EMPTY_TEXT, f"{where}: says nothing")
    return text


def _scores(value: Any, rubric: Rubric) -> Scores:
    typed(value, "scores", dict, "an object")
    check_fields(value, rubric.names, "scores")
    points = [
        _points(dimension.name, number(value[dimension.name], f"scores.{dimension.name}", dimension.maximum))
        for dimension in rubric.dimensions
    ]
    return trusted(Scores)(dimensions=tuple(points))


@lru_cache(maxsize=4096)
def _points(dimension: str, points: float) -> DimensionScore:
    """Kept: jurors give few different points, and every answer has some until its debate is over."""
    return DimensionScore(dimension=dimension, points=points)


def _scenarios(value: Any, spec: AnswerSpec) -> tuple[ScenarioVerdict, ...]:
    ids, scored = spec.scenarios, bool(spec.rubric.asked)
    typed(value, "scenarios", list, "an array")
    judged: dict[str, ScenarioVerdict] = {}
    for index, item in enumerate(value):
        where = f"scenarios[{index}]"
        typed(item, where, dict, "an object")
        check_fields(item, ["scenario_id", "verdict", *(["score"] if scored else [])], where)
        scenario = string(item["scenario_id"], f"{where}.scenario_id")
        if scenario not in ids:
            refuse(RefusalReason.UNKNOWN_SCENARIO, f"{where}.scenario_id: this case has no such scenario")
        if scenario in judged:
            refuse(RefusalReason.DUPLICATE_KEY, f"{where}.scenario_id: judged twice")
        position = _position_of(item["verdict"], f"{where}.verdict", spec.scale)
        judged[scenario] = ScenarioVerdict(
            scenario_id=scenario,
            verdict=position.verdict,
            label=position.label,
            score=number(item["score"], f"{where}.score", 100) if scored else scores_of(position, spec).overall,
        )
    if len(judged) < len(ids):
        refuse(RefusalReason.MISSING_FIELD, f"scenarios: {len(judged)} of {len(ids)} are judged; judge each once")
    return tuple(judged[scenario] for scenario in ids)


FIELDS = ("ballot", "verdict", "scores", "confidence", "rationale", "statement", "scenarios")


SCORES = "scores"
"""The field that is there only where points are asked for."""


EVIDENCE_FIELDS = ("evidence", "decisive_item")


@cache
def _fields(*, asked: bool, evidence: bool) -> tuple[str, ...]:
    """The fields of an answer, with those of points and of quotations where they are asked for."""
    fields = (name for name in FIELDS if asked or name != SCORES)
    return (*fields, *(EVIDENCE_FIELDS if evidence else ()))


ENTRY_FIELDS = ("item", "quote", "says", "criterion", "seat")


def parse_answer(raw: bytes, spec: AnswerSpec) -> ParsedAnswer | AnswerRefusal:
    """Parse `raw`, the answer as received; raises nothing, whatever the bytes."""
    try:
        members = one_object(raw)
        answer = _answer_of(members, spec)
        return answer if spec.evidence is None else _with_evidence(answer, members, spec)
    except (Refused, InvalidJson) as error:
        return AnswerRefusal(error.reason, str(error))


def _answer_of(members: dict[str, Any], spec: AnswerSpec) -> ParsedAnswer:
    """The answer without its evidence.

    A statement that is not asked for is passed over: schemas of providers cannot forbid it, and peers never see it.
    """
    check_fields(members, _fields(asked=bool(spec.rubric.asked), evidence=spec.evidence is not None), "")
    for name in ("rationale", "statement"):
        if shows_ballot(str(members.get(name, "")), spec.ballot):
            refuse(RefusalReason.BALLOT_SHOWN, f"{name}: holds the ballot id, which stands in ballot and nowhere else")
    if not spec.statement and not isinstance(members["statement"], str | None):
        refuse(RefusalReason.WRONG_TYPE, "statement: must be a string or null")
    if not spec.scenarios and members["scenarios"] not in (None, []):
        refuse(RefusalReason.UNKNOWN_SCENARIO, "scenarios: this case is judged as a whole; write null")
    check_ballot(members, spec)
    position = _position_of(members["verdict"], "verdict", spec.scale)
    return ParsedAnswer(
        verdict=position.verdict,
        label=position.label,
        scores=_scores(members[SCORES], spec.rubric) if spec.rubric.asked else scores_of(position, spec),
        confidence=number(members["confidence"], "confidence", 1),
        rationale=_prose(members["rationale"], "rationale"),
        statement=_prose(members["statement"], "statement") if spec.statement else None,
        scenarios=_scenarios(members["scenarios"], spec) if spec.scenarios else (),
    )


def _with_evidence(answer: ParsedAnswer, members: dict[str, Any], spec: AnswerSpec) -> ParsedAnswer:
    entries = members["evidence"]
    typed(entries, "evidence", list, "an array")
    if len(entries) > MOST_ENTRIES:
        refuse(RefusalReason.TOO_LONG, f"evidence: {len(entries)} entries; at most {MOST_ENTRIES} are taken")
    decisive = members["decisive_item"]
    if decisive is not None:
        decisive = item_of(decisive, "decisive_item")
    return answer._replace(
        quotations=tuple([entry_of(entry, f"evidence[{index}]", spec) for index, entry in enumerate(entries)]),
        # Nothing went wrong where the verdict passes.
        decisive_item=None if answer.verdict is PASS else decisive,
    )


def entry_of(entry: Any, where: str, spec: AnswerSpec) -> Quotation:
    """A quotation, or a refusal."""
    typed(entry, where, dict, "an object")
    check_fields(entry, ENTRY_FIELDS, where)
    quote = string(entry["quote"], f"{where}.quote")
    if not SHORTEST_QUOTE <= len(quote) <= LONGEST_QUOTE:
        refuse(
            RefusalReason.OUT_OF_RANGE,
            f"{where}.quote: {len(quote)} characters; {SHORTEST_QUOTE} to {LONGEST_QUOTE} are taken",
        )
    if shows_ballot(quote, spec.ballot):
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
    return _one_of_or_null(value, where, spec.rubric.names if spec.rubric.asked else ())


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


def criterion_schema(rubric: Rubric) -> dict[str, Any]:
    """The JSON schema of the criterion that something is about."""
    null = {"type": "null"}
    names = [dimension.name for dimension in rubric.asked]
    return {"anyOf": [{"type": "string", "enum": names}, null]} if names else null


def answer_schema(rubric: Rubric, *, evidence: bool, scale: VerdictScale | None = None) -> dict[str, Any]:
    """The JSON schema of every answer of a debate; the parser is stricter still.

    Args:
        evidence: whether quotations are asked for.
        scale: of the panel; None: the three verdicts.
    """
    verdict = {"type": "string", "enum": list(_THREE_VERDICTS if scale is None else scale.ids)}
    fields: dict[str, Any] = {"ballot": {"type": "string"}, "verdict": verdict}
    scenario: dict[str, Any] = {"scenario_id": {"type": "string"}, "verdict": verdict}
    if rubric.asked:
        fields[SCORES] = closed(
            {one.name: {"type": "number", "minimum": 0, "maximum": one.maximum} for one in rubric.dimensions}
        )
        scenario["score"] = {"type": "number", "minimum": 0, "maximum": 100}
    fields["confidence"] = {"type": "number", "minimum": 0, "maximum": 1}
    fields["rationale"] = {"type": "string"}
    fields["statement"] = {"anyOf": [{"type": "string"}, {"type": "null"}]}
    fields["scenarios"] = {"anyOf": [{"type": "array", "items": closed(scenario)}, {"type": "null"}]}
    if evidence:
        fields["evidence"] = {"type": "array", "items": entry_schema(rubric), "maxItems": MOST_ENTRIES}
        fields["decisive_item"] = {"anyOf": [_ITEM, {"type": "null"}]}
    return closed(fields)
