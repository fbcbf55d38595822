"""How a foreign table of votes is read."""

import re
from functools import partial
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from jury_cases.errors import CaseFileError
from jury_cases.votes.seats import VoteOptions
from jury_cases.votes.words import VerdictWords, parse_words
from jury_events.verdict import FAIL, PASS
from jury_events.verdict_scale import VerdictScale
from jury_judge.errors import SettingsRefused, escaped
from jury_judge.settings.fields import Names
from jury_judge.settings_model import Option, SettingsModel

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


_columns = partial(Option, group="Columns")
_words = partial(Option, group="Words")


class VoteReading(SettingsModel):
    """Which columns are read, and what words mean (docs/votes.md). The defaults are the documented names.

    `mappings` are values of `--map`, or verdicts by word. `scales` are those of the panels' own whose labels the
    columns `vote_label`, `final_label` and `human_label` have, as exports write them; null among them: the
    three verdicts.
    """

    judges: Annotated[
        Texts,
        _columns(
            help="The columns with the votes of a row on one case, as 'judges.*' (words, or objects with a verdict) or "
            "'judges.*.winner'. [default: 'judges.*' if there is such a column, else a row is a vote] Repeatable.",
            metavar="PATTERN",
        ),
    ] = ()
    fields: Annotated[
        dict[str, str],
        _columns(
            help="Where a part of a vote stands, as in seat=model, round=turn, case_id=task.id; nothing after = leaves "
            "the part out. Repeatable.",
            name="--field",
            metavar="PART=COLUMN",
        ),
    ] = Field(default_factory=dict)
    label: Annotated[
        str | None, _columns(help="The human label, as human.final. [default: label]", metavar="COLUMN")
    ] = None
    annotators: Annotated[
        Texts,
        _columns(help="The columns with the labels of several humans, as 'human.*'. Repeatable.", metavar="PATTERN"),
    ] = ()
    cluster: Annotated[
        str | None,
        _columns(
            help="What cases have in common, as question; intervals are over clusters. [default: the case]",
            metavar="COLUMN",
        ),
    ] = None
    seats: Annotated[
        Names,
        _columns(help="Only the votes of these seats. [default: all]", metavar="A,B,C", typed="text"),
    ] = ()
    mappings: Annotated[
        dict[str, str | None] | tuple[str, ...],
        _words(
            help=f"What a word means, as correct={PASS},wrong={FAIL}; none for no vote; label:WORD=VERDICT for labels "
            "alone. Repeatable.",
            name="--map",
            metavar="WORD=VERDICT",
            typed="texts",
        ),
    ] = ()
    order: Annotated[
        Words | None,
        _words(help="The verdicts are these words, from low to high.", metavar="LOW,…,HIGH", typed="text"),
    ] = None
    categories: Annotated[
        Words | None,
        _words(help="The verdicts are these words, without an order.", metavar="A,B,C", typed="text"),
    ] = None
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
