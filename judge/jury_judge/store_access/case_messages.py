"""Which message of the source an item of a recorded debate comes from: read from the case that was recorded."""

from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple, Self

import orjson

from jury_debate.assignment import OPERATOR_POLICY
from jury_debate.prompts_1.case_items import ItemMessages
from jury_events.case import Case, item_messages
from jury_events.codec import SCHEMAS, decode
from jury_events.debate_events import DebateOpened
from jury_events.envelope import StoredEvent
from jury_events.errors import EventError
from jury_events.ids import debate_stream
from jury_events.panel import Language
from jury_events.parts import Digest, Part, decode_digest
from jury_replay.recorded_case import policy_of_piece
from jury_store.event_store import EventStore

_KEPT = 256
_OPENING = "debate_opened"


class OpenedCase(NamedTuple):
    """What the numbers of the items of a debate follow from, as its opening event refers to it.

    It is kept in place of the event, which has hundreds of objects: keeping those of many debates makes Python look
    through all of its memory for garbage again and again.
    """

    debate_id: str
    prompts: int
    scenarios: int
    inline: bool
    language: Language
    case: Digest
    provenance: Digest | None
    policy: Digest | None

    @classmethod
    def of(cls, opened: DebateOpened) -> Self:
        """Of an opening event."""
        policy = next((piece.text for piece in opened.pieces if piece.name == OPERATOR_POLICY), None)
        return cls(
            debate_id=opened.debate_id,
            prompts=opened.prompts,
            scenarios=len(opened.scenarios),
            inline=opened.panel.artifacts.mode == "inline",
            language=opened.panel.language,
            case=opened.case.digest,
            provenance=None if opened.provenance is None else opened.provenance.digest,
            policy=None if policy is None else policy.digest,
        )

    @classmethod
    def of_event(cls, first: StoredEvent) -> Self | None:
        """Of the first event of a debate; None where it opens no debate, or cannot be read (see `jury verify`).

        Of an opening in today's schema only these members are looked at: the others, the panel above all, take most of
        the time to decode.
        """
        if first.type == _OPENING and first.schema == SCHEMAS[_OPENING]:
            try:
                return cls._of_body(orjson.loads(first.body))
            except (ValueError, LookupError, TypeError, AttributeError):
                pass  # decoding says whether it is an opening event all the same
        try:
            opened = decode(first)
        except EventError:
            return None
        return cls.of(opened) if isinstance(opened, DebateOpened) else None

    @classmethod
    def _of_body(cls, body: Mapping[str, Any]) -> Self:
        panel, provenance = body["panel"], body.get("provenance")
        policies = (piece["text"] for piece in body["pieces"] if piece["name"] == OPERATOR_POLICY)
        return cls(
            debate_id=body["debate_id"],
            prompts=body["prompts"],
            scenarios=len(body["scenarios"]),
            inline=panel["artifacts"]["mode"] == "inline",
            language=panel["language"],
            case=decode_digest(body["case"]["part"]),
            provenance=None if provenance is None else decode_digest(provenance["part"]),
            policy=next((decode_digest(policy["part"]) for policy in policies), None),
        )

    @property
    def digests(self) -> list[Digest]:
        """Of its texts."""
        return [one for one in (self.case, self.provenance, self.policy) if one is not None]


class CaseMessages:
    """The messages of the items of debates. The same case in several debates is worked out once."""

    def __init__(self, store: EventStore) -> None:
        self._store = store
        self._known: OrderedDict[_Texts, ItemMessages] = OrderedDict()

    def opened(self, debate_ids: Collection[str]) -> list[OpenedCase]:
        """What the opening events of debates refer to; those that cannot be read are left out."""
        events = self._store.first_events([debate_stream(one) for one in debate_ids])
        return [one for one in map(OpenedCase.of_event, events.values()) if one is not None]

    def of(self, debates: Sequence[OpenedCase]) -> dict[str, ItemMessages]:
        """The messages of the items of debates, by debate; those whose case was erased or altered are left out (see
        `jury verify`)."""
        parts = self._store.named_parts({one.debate_id: one.digests for one in debates})
        found = {}
        for one in debates:
            stored = parts.get(one.debate_id, {})
            if all(digest in stored and stored[digest].is_whole for digest in one.digests):
                try:
                    found[one.debate_id] = self._of(one, stored)
                except EventError:
                    continue
        return found

    def _of(self, debate: OpenedCase, parts: Mapping[Digest, Part]) -> ItemMessages:
        digests = (debate.case, debate.provenance, debate.policy)
        case, provenance, policy = (None if one is None else parts[one].content for one in digests)
        contents = (None if one is None else sha256(one).digest() for one in (case, provenance, policy))
        texts = _Texts(debate.inline, debate.language, *contents)
        found = self._known.pop(texts, None)
        if found is None:
            assert case is not None, "every debate has a case"
            judged = Case.from_part(case)
            shown = None if policy is None else policy_of_piece(policy, debate.prompts, debate.language, judged)
            messages = None if provenance is None else item_messages(judged, provenance)
            found = ItemMessages(judged, shown, inline=debate.inline, messages=messages)
        self._known[texts] = found
        if len(self._known) > _KEPT:
            self._known.popitem(last=False)
        return found


class _Texts(NamedTuple):
    """Digests of the contents that numbers follow from: parts of other debates have other digests."""

    inline: bool
    language: Language
    case: bytes | None
    provenance: bytes | None
    policy: bytes | None
