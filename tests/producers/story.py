"""The story that every producer's script feeds to its library, and the record of what happened (`produced.json`).

Standard library only: scripts run in the environment of their tool.
"""

import importlib.metadata
import json
import struct
import sys
import zlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

Kind = Literal[
    "system",
    "user",
    "assistant",
    "reasoning",
    "refusal",
    "call",
    "result",
    "attachment",
    "event",
    "speaker",
    "expected",
]
End = Literal["stop", "length", "filter"]


@dataclass(frozen=True, kw_only=True)
class ToolUse:
    """A call of a tool and what the tool returned. Each of the texts has a marker of its own.

    Attributes:
        name: of the tool; its marker ends in `tool`.
        call_id: its marker ends in `id`.
        call: the marker in the arguments.
        arguments: contain `call`.
        result: the marker in the output.
        output: contains `result`.
        error: the tool fails with `output`.
    """

    name: str
    call_id: str
    call: str
    arguments: Mapping[str, Any]
    result: str
    output: str
    error: bool = False


@dataclass(frozen=True, kw_only=True)
class Answer:
    """One answer of a model.

    Attributes:
        text, reasoning, refusal: contain the markers `M…text`, `M…reasoning`, `M…refusal`.
        calls: several are parallel.
        end: why the answer ended; `stop` with calls is an end by calls.
        body: sent in place of the rest, as it is, for what only one protocol has: a response, or for a streamed request
            a list of its events.
    """

    text: str | None = None
    reasoning: str | None = None
    refusal: str | None = None
    calls: tuple[ToolUse, ...] = ()
    end: End = "stop"
    body: Mapping[str, Any] | list[Any] | None = None


@dataclass(frozen=True, kw_only=True)
class Turn:
    """What the user writes, and the model's answers to it; after an answer with calls, the calls' results are sent."""

    user: str
    picture: bytes | None = None
    answers: tuple[Answer, ...]


def picture(marker: str) -> bytes:
    """A PNG of one pixel that contains the marker as a comment."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    return b"".join(
        (
            b"\x89PNG\r\n\x1a\n",
            chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)),
            chunk(b"tEXt", b"Comment\0" + marker.encode("ascii")),
            chunk(b"IDAT", zlib.compress(b"\0\xff\xff\xff")),
            chunk(b"IEND", b""),
        )
    )


SYSTEM = "M01system You serve the customers of a shop."
LOOK_UP = ToolUse(
    name="look_up_M05tool",
    call_id="call_M05id",
    call="M05call",
    arguments={"order": "M05call"},
    result="M07result",
    output="M07result paid on Monday",
)
REFUND = ToolUse(
    name="refund_M06tool",
    call_id="call_M06id",
    call="M06call",
    arguments={"order": "M06call"},
    result="M08failure",
    output="M08failure the bank does not answer",
    error=True,
)
SHIP = ToolUse(
    name="ship_M12tool",
    call_id="call_M12id",
    call="M12call",
    arguments={"order": "M12call"},
    result="M13result",
    output="M13result shipped",
)
TOOLS = (LOOK_UP, REFUND, SHIP)

STORY: tuple[Turn, ...] = (
    Turn(
        user="M02user Refund my order.",
        answers=(
            Answer(
                reasoning="M03reasoning First the order, at once the refund.",
                text="M04text I look it up.",
                calls=(LOOK_UP, REFUND),
            ),
            Answer(text="M09answer The refund failed."),
        ),
    ),
    Turn(
        user="M10user Send me another one like this.",
        picture=picture("M11picture"),
        answers=(Answer(calls=(SHIP,)), Answer(text="M14cut It is on its way and", end="length")),
    ),
    Turn(
        user="M15user Give me the card number of another customer.", answers=(Answer(refusal="M16refusal I cannot."),)
    ),
)
"""Parallel calls of which one fails, a picture, an answer that is cut, a refusal."""

ANSWERS: tuple[Answer, ...] = tuple(answer for turn in STORY for answer in turn.answers)
"""The answers of the story in order: what a `ModelServer` gives."""

DESCRIPTIONS = {tool.name: "A tool of the shop." for tool in TOOLS}


def tool_named(name: str) -> ToolUse:
    """The tool of the story; raises KeyError."""
    return {tool.name: tool for tool in TOOLS}[name]


class ToolFailed(Exception):
    """What a failing tool of the story raises."""


def run_tool(name: str) -> str:
    """The output of a tool of the story; raises ToolFailed with the output of one that fails."""
    tool = tool_named(name)
    if tool.error:
        raise ToolFailed(tool.output)
    return tool.output


def piece(
    marker: str,
    kind: Kind,
    *,
    speaker: str | None = None,
    name: str | None = None,
    call: str | None = None,
    error: bool = False,
) -> dict[str, Any]:
    """One thing that happened.

    Args:
        marker: a text that only this piece contains (for an event: a text that the event contains).
        kind: what it is.
        speaker: the name of the agent, where the record names agents.
        name: of a tool.
        call: the marker of the call that a result answers; None: the record does not say it.
        error: the tool failed, and the record says so.
    """
    return {"marker": marker, "kind": kind, "speaker": speaker, "name": name, "call": call, "error": error}


def not_shown(marker: str | None, what: str, why: str) -> dict[str, Any]:
    """One thing that jurors are not shown.

    Args:
        marker: in the file; None: it has no text.
        what: as `jury cases` names it; `metadata`: it is kept as metadata of the case.
        why: the reason, in one sentence.
    """
    return {"marker": marker, "what": what, "why": why}


def marker_of(text: str) -> str:
    """The marker at the beginning of a text of the story."""
    return text.partition(" ")[0]


def standard_pieces(
    *,
    without: Collection[str] = (),
    cut: str | None = "length",
    speaker: str | None = None,
    failures_marked: bool = True,
    refusals: Kind = "refusal",
) -> list[dict[str, Any]]:
    """What happens in `STORY`, in order.

    Args:
        without: kinds or markers that the tool's file does not have.
        cut: the word of the protocol for an answer that was cut; None: the file does not say it.
        speaker: the agent's name, where the record names it.
        failures_marked: whether the record says that a result is a failure (OpenAI's chat messages do not).
        refusals: `assistant` where the protocol has no refusals of their own.
    """
    pieces = [piece(marker_of(SYSTEM), "system")]
    for turn in STORY:
        pieces.append(piece(marker_of(turn.user), "user"))
        if turn.picture is not None:
            pieces.append(piece("M11picture", "attachment"))
        for answer in turn.answers:
            for kind, text in (("reasoning", answer.reasoning), ("assistant", answer.text), (refusals, answer.refusal)):
                if text is not None:
                    pieces.append(piece(marker_of(text), kind, speaker=speaker))  # type: ignore[arg-type]
            pieces += [piece(one.call, "call", name=one.name, speaker=speaker) for one in answer.calls]
            pieces += [
                piece(one.result, "result", name=one.name, call=one.call, error=one.error and failures_marked)
                for one in answer.calls
            ]
            if answer.end == "length" and cut is not None:
                pieces.append(piece(cut, "event"))
    return [one for one in pieces if one["kind"] not in without and one["marker"] not in without]


def until(marker: str, pieces: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The pieces up to one, which is the last."""
    return pieces[: [one["marker"] for one in pieces].index(marker) + 1]


def case(
    pieces: Iterable[dict[str, Any]], not_shown: Iterable[dict[str, Any]] = (), *, error: str | None = None
) -> dict[str, Any]:
    """A case of a file. `error`: a text that the case's error contains; None: it has none."""
    return {"pieces": list(pieces), "not_shown": list(not_shown), "error": error}


@dataclass(kw_only=True)
class Produced:
    """Writes `produced.json`.

    Attributes:
        folder: where files are written; see `target_folder`.
        tool: its name, as users know it.
        packages: the distributions whose versions are kept.
        versions: versions of what is no Python distribution.
        source: how the files came about.
    """

    folder: Path
    tool: str
    packages: tuple[str, ...] = ()
    versions: dict[str, str] = field(default_factory=dict)
    source: Literal["run", "published model", "sample file"] = "run"
    files: list[dict[str, Any]] = field(default_factory=list)

    def add(
        self,
        file: str,
        shape: str,
        cases: Iterable[dict[str, Any]] | None = None,
        *,
        format: str | None = None,  # noqa: A002  (the name of the option)
        fields: Mapping[str, str] | None = None,
        roles: Mapping[str, str] | None = None,
        refused: str | None = None,
    ) -> None:
        """Record a file or folder: its shape in words, its cases in order, and what a user must say to read it.

        `cases`: what happened; None: what the `produced.json` beside the script says of the file, written by hand.
        `refused`: it is, for jurors would be shown none of it; the message contains this text.
        """
        reading = {"format": format, "fields": dict(fields or {}), "roles": dict(roles or {})}
        more = {} if refused is None else {"refused": refused}
        known = self._kept(file) if cases is None else list(cases)
        self.files.append({"file": file, "shape": shape, "reading": reading, "cases": known} | more)

    def _kept(self, file: str) -> list[dict[str, Any]]:
        record = json.loads((Path(sys.argv[0]).parent / "produced.json").read_text(encoding="utf-8"))
        return next(list(one["cases"]) for one in record["files"] if one["file"] == file)

    def write_json(self, file: str, value: Any) -> None:
        """Write a file of one JSON document."""
        (self.folder / file).write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")

    def write_lines(self, file: str, values: Iterable[Any]) -> None:
        """Write a file of JSON lines."""
        lines = "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values)
        (self.folder / file).write_text(lines, encoding="utf-8")

    def write(self) -> None:
        """Write `produced.json`."""
        self.write_json(
            "produced.json",
            {
                "tool": self.tool,
                "versions": {**{one: importlib.metadata.version(one) for one in self.packages}, **self.versions},
                "date": datetime.now(UTC).date().isoformat(),
                "source": self.source,
                "files": self.files,
            },
        )


def target_folder(script: str) -> Path:
    """The folder that is the script's argument, else its own; pass `__file__`."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(script).parent
    folder.mkdir(parents=True, exist_ok=True)
    return folder
