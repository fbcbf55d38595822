"""Parses a prompt: the seat, the task, the case and the peers' statements, from the texts only."""

import re
from collections.abc import Iterator, Mapping
from hashlib import blake2b
from typing import Any, NamedTuple

from jury_providers.provider import ModelRequest
from jury_providers.simulated.document import LINE_MARK, MARK
from jury_providers.simulated.peer_evidence import PeerEvidence, split_evidence
from jury_providers.simulated.prompt_patterns import PromptPatterns, all_prompt_patterns
from jury_providers.simulated.shown_scale import THREE_VERDICTS, ShownScale, scale_of_words, words_or_three

GENERAL = "general"
"""The role for seats with an unknown role."""

JUDGE = "judge"

_LARGEST = 1_000_000
"""Of a dimension's maximum; a larger one is ignored."""

_SCENARIOS = 10_000
"""Maximum number of scenarios named in a prompt."""

_MARKER = re.compile("⟦[A-Za-z0-9]{1,64}⟧")
_BALLOT_NEARBY = re.compile(r"(?i:ballot|投票用紙)[^\n]{0,80}?(?<![A-Za-z0-9])([a-z2-7]{16})(?![A-Za-z0-9])")
_BALLOT = re.compile(r"(?<![A-Za-z0-9])[a-z2-7]{16}(?![A-Za-z0-9])")
_MAXIMUM = re.compile(r"(?i)maximum\W{0,4}([0-9]+(?:\.[0-9]+)?)")
_KANA = re.compile("[ぁ-ヶ]")


class PeerBlock(NamedTuple):
    """A juror's statement or evaluation, as shown in a later prompt. `round` is 0 for phase 1.

    `said` has the juror's words, `evidence` the quotations that the juror gave besides.
    """

    letter: str
    round: int
    verdict: str
    score: float
    confidence: float
    said: str
    evidence: PeerEvidence = PeerEvidence()


class AnswerForm(NamedTuple):
    """Required content of an answer: dimensions with their maxima in order, a statement, scenario ids.

    `one_form`: an answer has null for what its step does not ask. `evidence`: it has quotations. `words`: of verdicts,
    from worst to best. `scored`: points are asked for. `findings`: it says what a part of the record shows, and no
    verdict.
    """

    dimensions: tuple[tuple[str, float], ...]
    statement: bool
    scenarios: tuple[str, ...]
    one_form: bool = False
    evidence: bool = False
    words: tuple[str, ...] = THREE_VERDICTS
    scored: bool = True
    findings: bool = False

    @property
    def scale(self) -> ShownScale:
        """The words with the scores at which they are given."""
        return scale_of_words(self.words)

    def whole(self, answer: dict[str, Any]) -> dict[str, Any]:
        """An answer with what the form asks for, and null for the rest where it must be there."""
        if self.one_form:
            answer = {"statement": None, "scenarios": None, **answer}
        if self.evidence:
            answer = {**answer, "evidence": answer.get("evidence", []), "decisive_item": answer.get("decisive_item")}
        return answer


class Prompt(NamedTuple):
    """A parsed request. `own` is the seat's latest evaluation, `results` are tool results with their call ids.

    Judged texts are verbatim, with `mark` in place of the debate's marker. `part`: of the record, that is shown.
    `turn`: what stands between the seat's block and the instruction.
    """

    patterns: PromptPatterns | None
    language: str
    letter: str
    role: str
    ballot: str
    task: str
    round: int
    case: str
    own: PeerBlock | None
    peers: tuple[PeerBlock, ...]
    results: tuple[tuple[str, str], ...]
    form: AnswerForm
    mark: str = MARK
    part: str = ""
    turn: str = ""

    @property
    def step(self) -> str:
        """The step as shown in the prompt: `initial/A`, `round-2/B`, `final`."""
        if self.task == "final":
            return "final"
        phase = f"round-{self.round}" if self.task == "discussion" else "initial"
        part = f":{self.part or self.task}" if self.task in {"window", "gather", "closing"} else ""
        return f"{phase}/{self.letter or 'unknown'}{part}"

    @property
    def case_digest(self) -> bytes:
        """Identifies the text of the case."""
        return blake2b(self.case.encode("utf-8", "surrogatepass"), digest_size=16).digest()


class _Sections(NamedTuple):
    """A request's texts by what they say: `system`, the seat (with its ballot), and what the turn shows."""

    patterns: PromptPatterns | None
    system: str
    seat: str
    shown: str


def read_prompt(request: ModelRequest) -> Prompt:
    """Parse a request; an unknown prompt is parsed as far as possible. Never raises."""
    sections = _sections(request)
    patterns = sections.patterns
    marked = _marking(sections)
    letter, role = _seat(sections.seat, patterns)
    task, number, case, rest = _task(marked(sections.shown), patterns)
    turn = ""
    if patterns is not None and patterns.seats_block is not None:
        case, turn = _split_at_seat(case, patterns)
        rest = turn + rest
    if role == JUDGE:
        task = "final"
    blocks = _blocks(rest, patterns, marked.mark) if patterns is not None else ()
    return Prompt(
        patterns=patterns,
        language=patterns.language if patterns is not None else "ja" if _KANA.search(sections.system) else "en",
        letter=letter,
        role=role,
        ballot=_ballot(sections.seat, patterns),
        task=task,
        round=number,
        case=case,
        own=next((block for block in reversed(blocks) if block.letter == letter), None),
        peers=tuple(block for block in blocks if block.letter != letter),
        results=tuple(
            (message.call_id or "", marked(message.whole)) for message in request.messages if message.role == "tool"
        ),
        form=_form(request.schema, sections, task),
        mark=marked.mark,
        part=_part(case, patterns) if task == "window" else "",
        turn=turn,
    )


def _part(case: str, patterns: PromptPatterns | None) -> str:
    """The part of the record that a call shows, by its number."""
    reading = None if patterns is None else patterns.reading
    found = None if reading is None else reading.part.find(case)
    return "" if found is None else found["part"]


def _sections(request: ModelRequest) -> _Sections:
    system = "\n" + "\n".join(message.whole for message in request.messages if message.role == "system")
    user = next((message.whole for message in request.messages if message.role == "user"), "")
    for patterns in all_prompt_patterns():
        if patterns.system is None or patterns.seats_block is None:
            if patterns.ballot.find_last(system):
                return _Sections(patterns, system, system, user)
        elif patterns.system.find(system) and (seat := patterns.seats_block.find_last(user)):
            return _Sections(patterns, system, "\n" + user[seat.start() :], user)
    return _Sections(None, system, system, user)


def _split_at_seat(text: str, patterns: PromptPatterns) -> tuple[str, str]:
    """The case, which ends before the seat's block, and that block with what the turn shows before its instruction."""
    assert patterns.seats_block is not None
    seat = patterns.seats_block.find_last(text)
    if seat is None:
        return text, ""
    return text[: seat.start()].rstrip("\n"), text[seat.start() :]


def _ballot(seat: str, patterns: PromptPatterns | None) -> str:
    """The last occurrence counts: a seat's role prompt precedes it."""
    if patterns is not None and (found := patterns.ballot.find_last(seat)):
        return found["ballot"]
    near = [found.group(1) for found in _BALLOT_NEARBY.finditer(seat)]
    if near:
        return near[-1]
    anywhere = _BALLOT.findall(seat)
    return anywhere[-1] if anywhere else ""


def ballot_in(prompt: str) -> str:
    """The ballot id in the text that names it, "" where there is none; the rest of the prompt is not read."""
    text = "\n" + prompt
    for patterns in all_prompt_patterns():
        if found := patterns.ballot.find_last(text):
            return found["ballot"]
    return _ballot(text, None)


def scenarios_in(seat: str) -> tuple[str, ...]:
    """The ids of the scenarios that the text of a seat asks to be judged one by one."""
    text = "\n" + seat
    for patterns in all_prompt_patterns():
        if found := patterns.scenario_rule.find_last(text):
            return _numbered(int(found["total"]))
    return ()


def _numbered(total: int) -> tuple[str, ...]:
    return tuple(str(number) for number in range(1, min(total, _SCENARIOS) + 1))


class _Marking(NamedTuple):
    """Puts `mark` in place of the debate's marker; `notice` is the line of the prompt that names the marker."""

    marker: str | None
    mark: str
    notice: str = ""

    def __call__(self, text: str) -> str:
        if self.marker is None:
            return text
        if self.mark == MARK:
            return text.replace(self.marker, MARK)
        # A sign of lines is short: a text may contain it, and it counts in the notice and at the beginning of a line.
        text = text.replace(self.notice, self.notice.replace(self.marker, LINE_MARK), 1)
        prefix = f"\n{self.marker} "
        return f"\n{text}".replace(prefix, f"\n{LINE_MARK} ")[1:]


def _marking(sections: _Sections) -> _Marking:
    patterns = sections.patterns
    named = sections.system if patterns is None or patterns.system is None else f"\n{sections.shown}"
    for line in patterns.markers if patterns is not None else ():
        if found := (line.find_last(named) if named is sections.system else line.find(named)):
            marker = found[1]
            return _Marking(marker, MARK if marker.startswith("⟦") else LINE_MARK, found.group())
    anywhere = _MARKER.search(sections.system)
    return _Marking(anywhere.group() if anywhere else None, MARK)


def _seat(system: str, patterns: PromptPatterns | None) -> tuple[str, str]:
    """The seat's letter and the key of its role."""
    if patterns is None:
        return "", GENERAL
    seat = patterns.seat.find(system)
    if seat is None:
        return "", JUDGE if patterns.judge.find(system) else GENERAL
    role = patterns.role.find(system, seat.start())
    return seat["letter"], patterns.roles.get(role["role"], GENERAL) if role else GENERAL


def _task(user: str, patterns: PromptPatterns | None) -> tuple[str, int, str, str]:
    """The task, the round, the case before the instruction, and the text after it."""
    for task, line in patterns.tasks if patterns is not None else ():
        if found := line.find(user):
            number = int(found["round"]) if task == "discussion" else 0
            return task, number, user[: found.start()].rstrip("\n"), user[found.end() :]
    return "initial", 0, user, ""


def _blocks(text: str, patterns: PromptPatterns, mark: str) -> tuple[PeerBlock, ...]:
    """Every block, oldest first. Judged text cannot contain a heading, since its lines are marked."""
    heads = []
    for line, is_round in ((patterns.peer_initial, False), (patterns.peer_round, True)):
        found = line.find(text)
        while found:
            heads.append((found.start(), found.end(), int(found["round"]) if is_round else 0, found))
            found = line.find(text, found.end())
    heads.sort(key=lambda head: head[0])
    ends = [head[0] for head in heads[1:]] + [len(text)] * bool(heads)
    return tuple(
        PeerBlock(
            letter=found["letter"],
            round=number,
            verdict=found["verdict"],
            score=_decimal(found["score"]),
            confidence=_decimal(found["confidence"]),
            said=said,
            evidence=evidence,
        )
        for (_, start, number, found), end in zip(heads, ends, strict=True)
        for said, evidence in [split_evidence(text[start:end], patterns.evidence, mark)]
    )


def _decimal(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        return 0.0
    return number if 0 <= number <= 100 else 0.0  # noqa: PLR2004  (scores and confidences; nan is neither)


def _form(schema: Mapping[str, Any], sections: _Sections, task: str) -> AnswerForm:
    """From the schema; what it does not say of a step, or in a provider's dialect, is read from the visible text."""
    fields, maxima = _fields(schema)
    if "findings" in fields or (not fields and task in {"window", "gather"}):
        return _shown_form(sections, task)._replace(findings=True, statement=False, scenarios=())
    from_text: dict[str, float] = {}
    one_form = _is_nullable(_table(fields.get("statement")))
    if not fields or one_form or None in maxima.values():
        shown = _shown_form(sections, task)
        if not fields:
            return shown
        from_text = dict(shown.dimensions)
        if one_form:
            known = _form_of_fields(fields, maxima, from_text)
            return known._replace(statement=shown.statement, scenarios=shown.scenarios, one_form=True)
    return _form_of_fields(fields, maxima, from_text)


def _is_nullable(field: Mapping[str, Any]) -> bool:
    options = field.get("anyOf")
    return isinstance(options, list) and {"type": "null"} in options


def schema_form(schema: Mapping[str, Any]) -> AnswerForm:
    """The required content as far as the schema names it; a maximum that it lacks is 0."""
    return _form_of_fields(*_fields(schema), {})


def _fields(schema: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, float | None]]:
    """The schema's fields, and the maximum of each dimension."""
    fields = _table(schema.get("properties"))
    scores = _table(_table(fields.get("scores")).get("properties"))
    return fields, {name: _maximum(_table(points)) for name, points in scores.items()}


def _form_of_fields(
    fields: dict[str, Any], maxima: dict[str, float | None], from_text: Mapping[str, float]
) -> AnswerForm:
    scenario = _table(_table(fields.get("scenarios")).get("items"))
    ids = _table(_table(scenario.get("properties")).get("scenario_id")).get("enum")
    finding = _table(_table(_table(fields.get("findings")).get("items")).get("properties"))
    return AnswerForm(
        dimensions=tuple((name, from_text.get(name, 0.0) if most is None else most) for name, most in maxima.items()),
        statement="statement" in fields,
        one_form=_is_nullable(_table(fields.get("statement"))),
        evidence="evidence" in (finding or fields),
        findings="findings" in fields,
        scenarios=tuple(one for one in ids if isinstance(one, str)) if isinstance(ids, list) else (),
        words=words_or_three(_table(fields.get("verdict")).get("enum", ())),
        scored="scores" in fields,
    )


def _maximum(points: Mapping[str, Any]) -> float | None:
    """A dimension's maximum; some providers' schemas contain it in the description only."""
    most = points.get("maximum")
    if most is None and (found := _MAXIMUM.search(str(points.get("description", "")))):
        return float(found.group(1))
    return float(most) if isinstance(most, (int, float)) and 0 <= most <= _LARGEST else None


def _shown_form(sections: _Sections, task: str) -> AnswerForm:
    """From the lines of the prompt; a seat's role prompt precedes them."""
    patterns, system = sections.patterns, sections.system
    dimensions: dict[str, float] = {}
    scenarios = None
    if patterns is not None and (head := patterns.scores.find_last(system)):
        for line in system[head.end() + 1 :].split("\n"):
            if not (found := patterns.dimension.match(line)):
                break
            dimensions[found["name"]] = _decimal(found["maximum"])
    if patterns is not None:
        scenarios = patterns.scenario_rule.find_last(sections.seat)
    return AnswerForm(
        dimensions=tuple(dimensions.items()),
        statement=task == "discussion",
        scenarios=_numbered(int(scenarios["total"])) if scenarios else (),
        one_form=patterns is not None and patterns.system is not None,
        evidence=patterns is not None and patterns.evidence is not None and bool(patterns.evidence.rule.find(system)),
        words=words_or_three(_shown_words(sections)),
        scored=bool(dimensions) or patterns is None,
    )


def _shown_words(sections: _Sections) -> Iterator[str]:
    """The verdict words of the lines that explain them."""
    patterns, system = sections.patterns, sections.system
    if patterns is None or patterns.labels is None or patterns.label is None:
        return
    head = patterns.labels.find(system)
    for line in system[head.end() + 1 :].split("\n") if head else ():
        if not (found := patterns.label.match(line)):
            break
        yield found["id"]


def _table(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
