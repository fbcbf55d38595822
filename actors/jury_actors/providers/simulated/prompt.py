"""What a simulated model makes of a request: who it is, what is asked, what it may see. Read from the texts alone."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from jury_actors.providers.provider import ModelRequest
from jury_actors.providers.simulated.document import MARK
from jury_actors.providers.simulated.wording import Wording, wordings

GENERAL = "general"
"""The role of a seat whose role has no reader of its own."""

JUDGE = "judge"

_MARKER = re.compile("⟦[A-Za-z0-9]{1,64}⟧")
_BALLOT_NEARBY = re.compile(r"(?i:ballot|投票用紙)[^\n]{0,80}?(?<![A-Za-z0-9])([a-z2-7]{16})(?![A-Za-z0-9])")
_BALLOT = re.compile(r"(?<![A-Za-z0-9])[a-z2-7]{16}(?![A-Za-z0-9])")
_KANA = re.compile("[ぁ-ヶ]")


class Block(NamedTuple):
    """What a juror said, as a later prompt shows it. `round` is 0 for phase 1."""

    letter: str
    round: int
    verdict: str
    score: float
    confidence: float
    said: str


class Form(NamedTuple):
    """What an answer must hold: dimensions with their maxima in order, and what else is asked for."""

    dimensions: tuple[tuple[str, float], ...]
    statement: bool
    scenarios: tuple[str, ...]


class Prompt(NamedTuple):
    """A request as understood. `own` is the seat's latest evaluation, `results` what tools gave back by call id.

    Judged texts are as shown, with `MARK` for the debate's marker.
    """

    wording: Wording | None
    language: str
    letter: str
    role: str
    ballot: str
    task: str
    round: int
    case: str
    own: Block | None
    peers: tuple[Block, ...]
    results: tuple[tuple[str, str], ...]
    form: Form


def read_prompt(request: ModelRequest) -> Prompt:
    """Understand a request; a prompt of unknown form is understood as far as it goes, and nothing raises."""
    system = "\n" + "\n".join(message.text for message in request.messages if message.role == "system")
    users = [message.text for message in request.messages if message.role == "user"]
    wording, ballot = _ballot(system)
    marker = _marker(system, wording)
    letter, role = _seat(system, wording)
    user = users[0] if users else ""
    if marker is not None:
        user = user.replace(marker, MARK)
    task, number, case, rest = _task(user, wording)
    if role == JUDGE:
        task = "final"
    blocks = _blocks(rest, wording) if wording is not None else ()
    return Prompt(
        wording=wording,
        language=wording.language if wording is not None else "ja" if _KANA.search(system) else "en",
        letter=letter,
        role=role,
        ballot=ballot,
        task=task,
        round=number,
        case=case,
        own=next((block for block in reversed(blocks) if block.letter == letter), None),
        peers=tuple(block for block in blocks if block.letter != letter),
        results=tuple(
            (message.call_id or "", message.text.replace(marker, MARK) if marker else message.text)
            for message in request.messages
            if message.role == "tool"
        ),
        form=_form(request.schema),
    )


def _ballot(system: str) -> tuple[Wording | None, str]:
    """The last mention counts: a seat's own charge stands before it."""
    for wording in wordings():
        if found := wording.ballot.find_last(system):
            return wording, found["ballot"]
    near = [found.group(1) for found in _BALLOT_NEARBY.finditer(system)]
    if near:
        return None, near[-1]
    anywhere = _BALLOT.findall(system)
    return None, anywhere[-1] if anywhere else ""


def _marker(system: str, wording: Wording | None) -> str | None:
    found = wording.marker.find_last(system) if wording is not None else None
    if found:
        return found["marker"]
    anywhere = _MARKER.search(system)
    return anywhere.group() if anywhere else None


def _seat(system: str, wording: Wording | None) -> tuple[str, str]:
    """The seat's letter and the key of its role."""
    if wording is None:
        return "", GENERAL
    seat = wording.seat.find(system)
    if seat is None:
        return "", JUDGE if wording.judge.find(system) else GENERAL
    role = wording.role.find(system, seat.start())
    return seat["letter"], wording.roles.get(role["role"], GENERAL) if role else GENERAL


def _task(user: str, wording: Wording | None) -> tuple[str, int, str, str]:
    """What is asked, in which round, the case before the question and what follows it."""
    for task, line in wording.tasks if wording is not None else ():
        if found := line.find(user):
            number = int(found["round"]) if task == "discussion" else 0
            return task, number, user[: found.start()].rstrip("\n"), user[found.end() :]
    return "initial", 0, user, ""


def _blocks(text: str, wording: Wording) -> tuple[Block, ...]:
    """Every block, oldest first. Headings are the engine's; judged text can't hold one, since its lines are marked."""
    heads = []
    for line, is_round in ((wording.peer_initial, False), (wording.peer_round, True)):
        found = line.find(text)
        while found:
            heads.append((found.start(), found.end(), int(found["round"]) if is_round else 0, found))
            found = line.find(text, found.end())
    heads.sort(key=lambda head: head[0])
    ends = [head[0] for head in heads[1:]] + [len(text)] * bool(heads)
    return tuple(
        Block(
            letter=found["letter"],
            round=number,
            verdict=found["verdict"],
            score=_decimal(found["score"]),
            confidence=_decimal(found["confidence"]),
            said=text[start:end],
        )
        for (_, start, number, found), end in zip(heads, ends, strict=True)
    )


def _decimal(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        return 0.0
    return number if 0 <= number <= 100 else 0.0  # noqa: PLR2004  (scores and confidences; nan is neither)


def _form(schema: Mapping[str, Any]) -> Form:
    fields = schema.get("properties", {})
    scores = fields.get("scores", {}).get("properties", {})
    scenarios = fields.get("scenarios", {}).get("items", {}).get("properties", {}).get("scenario_id", {})
    return Form(
        dimensions=tuple((name, float(points.get("maximum", 0))) for name, points in scores.items()),
        statement="statement" in fields,
        scenarios=tuple(scenarios.get("enum", ())),
    )
