"""The prompts of a debate as they would be sent, without running it. Its secret is zeros."""

from typing import NamedTuple

from jury_debate.assignment import CASE_WITH_IMAGES, OPERATOR_POLICY, CallMessage
from jury_debate.conversation import Call
from jury_debate.debate import Debate
from jury_debate.panel_spec import ResolvedPanel
from jury_debate.reading.planning import CASE, GUIDE, part_name
from jury_debate.rules import SECRET_BYTES
from jury_debate.rules_registry import newest_rules
from jury_events.case import Case
from jury_events.debate_events import DebateOpened
from jury_events.ids import Step
from jury_events.parts import SALT_BYTES, PartBuffer, PartRef


class PromptMessage(NamedTuple):
    """One message of a prompt; `images` counts the pictures that follow its text."""

    role: str
    text: str
    images: int = 0


class RequestSize(NamedTuple):
    """Bytes of the messages of one request, its pictures, and the bytes with which those of equal seats begin too."""

    size: int
    pictures: int
    shared: int


class Rehearsal:
    """A case before a panel.

    Args:
        case: what would be judged, with its records.
        resolved: who would judge it.
        operator_policy: of the whole run, see `Rules.open_debate`.
    """

    def __init__(self, case: Case, resolved: ResolvedPanel, operator_policy: str | None = None) -> None:
        self._pen = PartBuffer(lambda: bytes(SALT_BYTES))
        secret = bytes(SECRET_BYTES)
        self.opened: DebateOpened = newest_rules().open_debate(
            case,
            resolved.panel,
            debate_id="rehearsal",
            run_id=None,
            secret=secret,
            parts=self._pen,
            role_prompts=resolved.role_prompts,
            judge_prompt=resolved.judge_prompt,
            prompts_version=resolved.prompts,
            operator_policy=operator_policy,
        )
        self._debate = Debate(self.opened, secret, self._pen)

    @property
    def pieces(self) -> dict[str, bytes]:
        """The texts that prompts are made of, by name."""
        return {piece.name: self._pen.text(piece.text) for piece in self.opened.pieces}

    def pictures(self) -> list[bytes]:
        """The pictures that are sent along."""
        return [self._pen.text(image.content) for image in self.opened.images]

    def first_prompt(self, juror_id: str) -> tuple[PromptMessage, ...]:
        """The prompt of a seat in phase 1; of one that reads the case in parts, that with the first part."""
        return tuple(
            PromptMessage(
                message.role,
                b"".join(self._pen.text(ref) for ref in message.parts).decode("utf-8"),
                len(message.images),
            )
            for message in self._first_calls(juror_id)[0].messages
        )

    def first_sizes(self, juror_id: str) -> tuple[RequestSize, ...]:
        """The sizes of a seat's requests that wait for no answer: one, or one for each part that it reads."""
        return tuple(
            RequestSize(
                sum(len(self._pen.text(ref)) for message in call.messages for ref in message.parts),
                sum(len(message.images) for message in call.messages),
                sum(len(self._pen.text(ref)) for message in call.messages for ref in _shared(message)),
            )
            for call in self._first_calls(juror_id)
        )

    def _first_calls(self, juror_id: str) -> tuple[Call, ...]:
        return self._debate.rules.conversation(self._debate.assign(Step(0, juror_id)), self._pen).calls

    def common_size(self, juror_id: str) -> int:
        """Bytes of what a seat's requests of phase 1 have in common; where it reads the case whole, of its only one."""
        assignment = self._debate.assign(Step(0, juror_id))
        return sum(len(self._pen.text(ref)) for message in assignment.messages for ref in message.parts)

    def final_prompt(self, *, images: bool) -> bytes:
        """The texts of the final judge's prompt without the evaluations, and without items that they cite.

        Args:
            images: with pictures.
        """
        pieces = self.pieces
        before = b"".join(pieces[name] for name in ("system/final", "system", OPERATOR_POLICY) if name in pieces)
        guide = pieces.get(f"{GUIDE}final")
        case = self.case_piece(images=images).encode() if guide is None else guide
        return before + case + pieces.get("seat/final", b"") + pieces["instruction/final"]

    def case_piece(self, *, images: bool) -> str:
        """The case as the seats are shown it that see pictures, or do not."""
        pieces, plan = self.pieces, self.opened.reading
        in_parts = 0 if plan is None else plan.image_parts
        name = CASE_WITH_IMAGES if images and (in_parts or CASE_WITH_IMAGES in pieces) else CASE
        parts = 0 if plan is None else in_parts if name == CASE_WITH_IMAGES else plan.parts
        names = [part_name(name, number) for number in range(1, parts + 1)] or [name]
        return b"".join(pieces[one] for one in names).decode("utf-8")

    @property
    def policy_piece(self) -> str:
        """The operator's policy as it stands before the case; "" where none does."""
        return self.pieces.get(OPERATOR_POLICY, b"").decode("utf-8")


def _shared(message: CallMessage) -> tuple[PartRef, ...]:
    """The parts that equal seats are sent too: the system message, and the shared blocks of the other one."""
    return message.parts if message.role == "system" else message.parts[: message.shared]
