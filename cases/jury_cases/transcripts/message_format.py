"""Formats of messages that are declared in YAML (`message_formats/`): how a list of them is recognised and read."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from jury_cases.bundled import MESSAGE_FORMATS, bundled_texts
from jury_cases.transcripts.builder import TranscriptBuilder
from jury_cases.transcripts.expressions import Expression, ExpressionReading
from jury_cases.transcripts.steps import Declared, StepReader, Steps, Who
from jury_cases.yaml_values import decode_yaml


class MessageFormat(Declared):
    """How messages are read.

    Attributes:
        marks, lists, begins: what is looked at first, since it costs little; see `reading.message_format_of`.
        message: a condition: whether an object is a message of it. A list has the format if one of its messages has it.
        roles: what its words for roles mean.
        steps: what is made of each message.
        ignore: names of fields that say nothing.
    """

    marks: frozenset[str] = frozenset()
    lists: tuple[str, ...] = ()
    begins: tuple[str, ...] = ()
    message: Expression | None = None
    roles: Mapping[str, Who] = {}
    steps: Steps = ()
    ignore: frozenset[str] = frozenset()

    def has(self, message: dict[str, Any]) -> bool:
        """Whether an object is a message of it."""
        return self.message is not None and ExpressionReading().holds(self.message, message, "message")

    def read(
        self, messages: Any, builder: TranscriptBuilder, place: str, reading: ExpressionReading | None = None
    ) -> None:
        """Read messages; raises CaseFileError."""
        StepReader(self.steps, self.roles, self.ignore, reading or ExpressionReading(), builder).read(messages, place)


@cache
def bundled_message_format(name: str) -> MessageFormat:
    """That of a bundled file."""
    return MessageFormat.model_validate(decode_yaml(bundled_texts(MESSAGE_FORMATS)[name], name))
