"""How a foreign table of votes is read."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field

from jury_cases.errors import CaseFileError
from jury_cases.votes.seats import VoteOptions
from jury_cases.votes.words import VerdictWords, parse_words
from jury_events.verdict_scale import VerdictScale
from jury_judge.errors import SettingsRefused, escaped
from jury_judge.settings.model import SettingsModel

_FIELD_OF_OPTION = {"field": "fields", "map": "mappings"}
_OPTION = re.compile(r"--(field|map|order|categories|label|annotators|judges|seats)\b")


def _listed(value: Any) -> Any:
    """One text is a list of one."""
    return (value,) if isinstance(value, str) else value


def _parted(value: Any) -> Any:
    """Words parted by commas."""
    return tuple(one.strip() for one in value.split(",")) if isinstance(value, str) else value


def _read(value: Any) -> Any:
    """Lists of YAML are tuples of a scale."""
    if not isinstance(value, list | tuple):
        return value
    return tuple(VerdictScale.model_validate(one, strict=False) if isinstance(one, dict) else one for one in value)


Scales = Annotated[tuple[VerdictScale | None, ...], BeforeValidator(_read)]
Texts = Annotated[tuple[str, ...], BeforeValidator(_listed)]
Words = Annotated[tuple[str, ...], BeforeValidator(_parted)]


class VoteReading(SettingsModel):
    """Which columns are read, and what words mean (docs/votes.md). The defaults are the documented names.

    Attributes:
        fields: columns (dotted if nested) by part of a vote; "" leaves the part out.
        judges: patterns of the columns with the votes of a row on one case.
        label: the column of the human label.
        annotators: patterns of the columns with the labels of several humans.
        cluster: the column with what cases have in common.
        seats: the seats that are read; (): all.
        mappings: what words mean: values of `--map`, or verdicts by word.
        order: the verdicts are these words, from low to high.
        categories: the verdicts are these words, without an order.
        scales: the scales of the panels' own whose labels the columns `vote_label`, `final_label` and `human_label`
            have, as exports write them; null among them: the three verdicts.

    Raises:
        SettingsRefused: a column is named twice, a part of a vote is unknown, or words do not fit each other.
    """

    file_names: ClassVar[Mapping[str, str]] = {"fields": "field", "mappings": "map"}

    fields: dict[str, str] = Field(default_factory=dict)
    judges: Texts = ()
    label: str | None = None
    annotators: Texts = ()
    cluster: str | None = None
    seats: Texts = ()
    mappings: dict[str, str | None] | tuple[str, ...] = ()
    order: Words | None = None
    categories: Words | None = None
    scales: Scales = ()

    def model_post_init(self, _context: object) -> None:
        """Refuse settings that do not go together."""
        for part in ("label", "cluster"):
            if getattr(self, part) is not None and part in self.fields:
                raise SettingsRefused(f"{{{part}}} and {{fields}} {part}=…: give one of them")
        try:
            self.options()
        except CaseFileError as error:
            raise SettingsRefused(_template(str(error)), usage=False) from error

    @property
    def declares(self) -> bool:
        """Whether the verdicts are other words than those of Jury Judge."""
        return self.order is not None or self.categories is not None

    @property
    def words(self) -> VerdictWords:
        """What words of verdicts and labels mean."""
        return parse_words(self.mappings, order=self.order, categories=self.categories)

    def options(self) -> VoteOptions:
        """The same for `read_votes`."""
        named = {part: column for part in ("label", "cluster") if (column := getattr(self, part)) is not None}
        return VoteOptions(
            fields={**self.fields, **named},
            judges=self.judges,
            annotators=self.annotators,
            seats=self.seats,
            words=self.words,
        )

    def over(self, other: "VoteReading") -> "VoteReading":
        """This reading, and what it does not say as `other` says it."""
        said = {name: value for name, value in self if value}
        beneath = {name: value for name, value in other if name not in {"label", "cluster"} or name not in self.fields}
        if self.declares:
            beneath |= {"order": None, "categories": None}
        return VoteReading.of(**{**beneath, **said})


def _template(message: str) -> str:
    """A message about options, with the fields of this model in braces."""
    return _OPTION.sub(lambda found: f"{{{_FIELD_OF_OPTION.get(found[1], found[1])}}}", escaped(message))
