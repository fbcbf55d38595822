"""Reasons of a report as data: a wording, in each language of the reader, and the values in its blanks."""

from dataclasses import dataclass
from string import Formatter
from typing import TYPE_CHECKING, Any, Self

from jury_events.panel import Language

if TYPE_CHECKING:
    from pydantic_core.core_schema import CoreSchema

Blanks = dict[str, float | str]
"""What stands in the blanks of a wording; a `Reason` among them is in the same language."""


@dataclass(frozen=True)
class Wording:
    """A sentence with blanks, as `{n}`. Each language is an argument: no wording lacks one.

    `one` is the English where the number in `n` is 1, if that differs.
    """

    english: str
    japanese: str
    one: str = ""

    def __post_init__(self) -> None:
        """Both languages say something, and have the same blanks."""
        blanks = {frozenset(_blanks(text)) for text in (self.english, self.japanese, self.one or self.english)}
        if len(blanks) > 1 or not (self.english and self.japanese):
            raise ValueError(f"the languages of a wording differ in their blanks: {self.english!r}")

    def __call__(self, **values: float | str) -> "Reason":
        return Reason(self, values)

    def text(self, values: Blanks, language: Language) -> str:
        if language == "ja":
            template = self.japanese
        else:
            template = self.one if self.one and values.get("n") == 1 else self.english
        shown = {name: one.text(language) if isinstance(one, Reason) else one for name, one in values.items()}
        return template.format(**shown)


class Reason(str):
    """Why a figure has no value or no interval, what limits it, or what was left out.

    It is equal to its English text, which reports have as JSON; `text` has it in another language.
    """

    __slots__ = ("values", "wording")
    wording: Wording
    values: Blanks

    def __new__(cls, wording: Wording, values: "Blanks | None" = None) -> Self:
        """Made by a wording, so that none is without a language."""
        made = super().__new__(cls, wording.text(values or {}, "en"))
        made.wording, made.values = wording, values or {}
        return made

    def __reduce__(self) -> "tuple[type[Reason], tuple[Wording, Blanks]]":
        """Copies and pickles keep the wording."""
        return Reason, (self.wording, self.values)

    def text(self, language: Language) -> str:
        return self.wording.text(self.values, language)

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: Any, _handler: Any) -> "CoreSchema":
        """In the JSON Schemas of reports it is a string."""
        from pydantic_core import core_schema  # noqa: PLC0415  (reports are made without it)

        return core_schema.str_schema()


def _blanks(text: str) -> list[str]:
    return [name for _, name, _, _ in Formatter().parse(text) if name]
