"""Who wrote the messages of a record: known roles, roles of the record's own, and the user's rules for them."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import translate
from functools import cached_property
from typing import Literal, NamedTuple

from jury_cases.errors import CaseFileError
from jury_events.nearest import did_you_mean
from jury_events.text import visible_line
from jury_events.transcript import Event, Item, Message, Origin, Reasoning, Refusal, ToolCall, ToolResult

MessageKind = Literal["system", "user", "assistant", "speaker"]

AUTHORS: Mapping[MessageKind, Origin] = {
    "system": "developer",
    "user": "user",
    "assistant": "model",
    "speaker": "unknown",
}
"""The default author of each kind of message."""

_KINDS: Mapping[str, MessageKind] = {"user": "user", "agent": "assistant", "system": "system"}
_ORIGINS: Mapping[str, Origin] = {
    "user": "user",
    "agent": "model",
    "system": "developer",
    "tool": "tool",
    "environment": "environment",
    "event": "environment",
    "thought": "model",
}
ROLE_TARGETS = tuple(_ORIGINS)
"""What `--role PATTERN=TARGET` can say that a role is."""

_WILD = frozenset("*?[")
_SHOWN = 12
_WORDS = 1000


class MessageAuthor(NamedTuple):
    """The role of a message and the name beside it (None: no name), as the record writes them.

    `known`: the format knows the role.
    """

    role: str
    name: str | None = None
    known: bool = True

    @property
    def shown(self) -> str | None:
        """The name by which the author is shown: an unknown role is a name."""
        if self.known:
            return self.name
        return self.role if self.name is None else f"{self.role} ({self.name})"


def author_of(item: Item) -> MessageAuthor | None:
    """The author as the item names it; None for a tool's result, a file and the like."""
    match item:
        case Message(kind="speaker", name=str(role)):
            return MessageAuthor(role, known=False)
        case Message():
            return MessageAuthor(item.kind, item.name)
        case Reasoning() | Refusal() | ToolCall():
            if item.origin == "unknown" and item.speaker is not None:
                return MessageAuthor(item.speaker, known=False)
            return MessageAuthor("assistant", item.speaker)
        case _:
            return None


@dataclass(frozen=True)
class RoleRules:
    """The user's rules for roles, by pattern (`Orchestrator*`), in order: the first that matches counts.

    A pattern matches the role or the name of a message, upper and lower case alike. Wildcards match roles of the
    record's own and names, not the roles that a format knows: `*=agent` leaves the user's messages.
    """

    targets: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for pattern, target in self.targets.items():
            if target not in ROLE_TARGETS:
                raise CaseFileError(
                    f"--role {visible_line(pattern)}={visible_line(target)}: a role cannot be "
                    f"{visible_line(target)!r}{did_you_mean(target, ROLE_TARGETS)}; it can be {', '.join(ROLE_TARGETS)}"
                )

    def pattern_of(self, author: MessageAuthor) -> str | None:
        """The first pattern that matches; None if none does."""
        for pattern, matches in self._patterns:
            if author.name is not None and matches(author.name.casefold()):
                return pattern
            if matches(author.role.casefold()) and not (author.known and _WILD.intersection(pattern)):
                return pattern
        return None

    @cached_property
    def _patterns(self) -> list[tuple[str, Callable[[str], object]]]:
        return [(pattern, re.compile(translate(pattern.casefold())).match) for pattern in self.targets]


def as_target(item: Item, name: str | None, target: str) -> Item:
    """The item as one of the `target`'s, who is shown as `name`.

    A tool's result or an event inside a message stays what it is.
    """
    origin = _ORIGINS[target]
    match item:
        case Message():
            return _message(item, name, target)
        case Reasoning() | Refusal() | ToolCall():
            return item.changed(origin=origin, speaker=name)
        case ToolResult() | Event():
            return item
        case _:
            return item if item.origin in {"tool", "environment"} else item.changed(origin=origin)


def _message(item: Message, name: str | None, target: str) -> Item:
    kind, origin = _KINDS.get(target), _ORIGINS[target]
    if kind is not None:
        return Message(kind=kind, origin=origin, text=item.text, name=name)
    if target == "thought":
        return Reasoning(origin=origin, text=item.text, speaker=name)
    if target == "event":
        return Event(origin=origin, name=name or "event", text=item.text)
    return ToolResult(origin=origin, name=name, text=item.text)


@dataclass
class SeenRoles:
    """The roles and names of the messages that were read, and the patterns of `RoleRules` that matched.

    Attributes:
        words: the roles and names, at most about `_WORDS`.
        used: the patterns.
    """

    words: set[str] = field(default_factory=set)
    used: set[str] = field(default_factory=set)

    def add(self, authors: Iterable[MessageAuthor], used: Iterable[str]) -> None:
        """Take those of one transcript."""
        self.used.update(used)
        for one in authors:
            if len(self.words) < _WORDS:
                self.words.update([one.role] if one.name is None else [one.role, one.name])

    def merge(self, other: "SeenRoles") -> None:
        """Take those of another."""
        self.used |= other.used
        if len(self.words) < _WORDS:
            self.words |= other.words

    def unmatched(self, rules: RoleRules) -> Iterator[str]:
        """A line for each pattern that matched nothing, with the nearest of the roles and names that were seen."""
        known = sorted(self.words, key=str.casefold)
        shown = ", ".join(visible_line(one, 60) for one in known[:_SHOWN])
        more = f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else ""
        for pattern in rules.targets:
            if pattern not in self.used:
                yield (
                    f"--role {visible_line(pattern)}: no message has such a role or name{did_you_mean(pattern, known)}"
                    f"; those that were read have {shown or 'none'}{more}"
                )
