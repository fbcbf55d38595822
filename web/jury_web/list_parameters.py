"""The query parameters of lists: what is read, refused and written is the same on the pages and over HTTP."""

import math
import re
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from jury_events.conditions import Condition, parse_conditions
from jury_events.evaluation import Decisive
from jury_events.evidence import EvidenceResult
from jury_events.ids import RUN_ID
from jury_events.ladder import MOST_STAGES
from jury_events.outcome import DebateStatus
from jury_events.verdict import Verdict
from jury_judge import SORT_COLUMNS, DebateFilter, SortOrder
from jury_views.evaluation_models import ReviewOfResult

MOST_ROWS = 200
"""Limit of rows in one page."""

AT_MOST = 2**53 - 1
"""The largest integer that every JSON parser represents exactly."""

MOST_CONDITIONS = 20
MOST_CONDITION = 1000
"""Conditions of a list, and characters of each."""

MOST_TEXT = 200
"""Characters of a text that is searched for."""

MOST_DOLLARS = 1e12
_DOLLARS = re.compile(r"[0-9]{1,20}(\.[0-9]{0,20})?([eE][+-]?[0-9]{1,2})?")


def searched(text: str) -> str:
    """A text that is searched for, without the blanks around it; ValueError for one that no record can have."""
    found = text.strip()
    if len(found) > MOST_TEXT:
        raise ValueError(f"at most {MOST_TEXT} characters; search for words or part of an id")
    if not found.isprintable():
        raise ValueError("a character is not printable; search for words or part of an id")
    return found


def dollars(text: str) -> float:
    """An amount of US dollars; ValueError for what is none."""
    found = float(text) if _DOLLARS.fullmatch(text.strip()) else math.nan
    if not found <= MOST_DOLLARS:
        raise ValueError("must be an amount of dollars, such as 0.25")
    return found


def conditions_equal(**values: str | None) -> tuple[Condition, ...]:
    """The conditions that these fields have these values; None is no condition."""
    return tuple(Condition(field, "=", value) for field, value in values.items() if value is not None)


_Run = Annotated[str | None, Field(pattern=f"^{RUN_ID}$")]
_Rows = Annotated[int, Field(ge=1, le=MOST_ROWS)]
_Dollars = Annotated[
    float | None, BeforeValidator(dollars), Field(ge=0, le=MOST_DOLLARS, allow_inf_nan=False, description="US dollars.")
]


class _Parameters(BaseModel):
    """Parameters with their defaults; the last two are `after` and `limit`, the place and the size of the page."""

    model_config = ConfigDict(frozen=True)

    def given(self) -> dict[str, Any]:
        """The parameters that are not their defaults, in order."""
        fields = type(self).model_fields
        return {name: value for name, value in self if value != fields[name].default}

    def address(self, path: str, after: str | int) -> str:
        """The path of the page that begins after a row, with every other parameter that is not the default."""
        given = {name: value for name, value in self.given().items() if name not in {"after", "limit", "totals"}}
        written = {name: written_parameter(value) for name, value in given.items()}
        return f"{path}?{urlencode({**written, 'after': after, 'limit': dict(self)['limit']}, doseq=True)}"


def written_parameter(value: Any) -> Any:
    """A value as an address has it: of an amount every digit that it has."""
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value).removesuffix(".0") if isinstance(value, float) else value


class DebateParameters(_Parameters):
    """Which debates are listed, in which order."""

    search: Annotated[
        str | None,
        BeforeValidator(searched),
        Field(
            min_length=1,
            max_length=MOST_TEXT,
            description="Words in jurors' texts, or part of a debate id or case id.",
        ),
    ] = None
    verdict: Verdict | None = None
    status: DebateStatus | None = None
    run: _Run = None
    simulated: bool | None = None
    where: Annotated[
        list[Annotated[str, Field(max_length=MOST_CONDITION)]],
        Field(
            max_length=MOST_CONDITIONS,
            description="Conditions on the cases and quotations (docs/filtering.md); all must hold.",
        ),
    ] = []
    label: Verdict | None = None
    evidence: Annotated[
        EvidenceResult | Literal["none"] | None,
        Field(description="A result that some quotation has; `none`: no quotation."),
    ] = None
    decisive: Annotated[
        Decisive | None, Field(description="Whether the seats that name a decisive item name the same one.")
    ] = None
    unsupported: Annotated[
        Literal["yes", "no"] | None,
        Field(description="Whether a seat fails the agent without a quotation that stands."),
    ] = None
    model: Annotated[
        str | None,
        BeforeValidator(searched),
        Field(min_length=1, max_length=MOST_TEXT, description="Of a seat or the final judge."),
    ] = None
    quorum: Literal["met", "lost"] | None = None
    partly_read: Annotated[
        Literal["yes", "no"] | None, Field(description="Whether a seat did not read parts of the record.")
    ] = None
    split: Annotated[
        bool | None, Field(description="Whether the last votes differ; a debate with fewer than two is neither.")
    ] = None
    min_cost: _Dollars = None
    max_cost: _Dollars = None
    unfinished: bool = False
    disposition: Annotated[
        Verdict | None, Field(description="The last human verdict where there is one, else the jury's.")
    ] = None
    reviewed: Annotated[bool | None, Field(description="Whether a person gave a verdict.")] = None
    stage: Annotated[
        int | None,
        Field(
            ge=1,
            le=MOST_STAGES,
            description="Every debate of this stage of ladders; else of each case the one that counts.",
        ),
    ] = None
    sort: Annotated[
        Literal[tuple(SORT_COLUMNS)],  # type: ignore[valid-type]
        Field(description="Unknown values sort as the smallest."),
    ] = "opened"
    order: Literal["asc", "desc"] = "desc"
    totals: Annotated[bool, Field(description="Add up all matching debates; reads each of them.")] = False
    after: Annotated[str | None, Field(max_length=2000, description="From `next` of the page before.")] = None
    limit: _Rows = MOST_ROWS

    @property
    def chosen(self) -> DebateFilter:
        """Which debates."""
        conditions = parse_conditions(self.where, recorded=True)
        return DebateFilter(
            self.run,
            self.status,
            self.verdict,
            self.simulated,
            self.search,
            (
                *conditions,
                *conditions_equal(
                    label=self.label, evidence=self.evidence, decisive=self.decisive, unsupported=self.unsupported
                ),
            ),
            model=self.model,
            quorum=None if self.quorum is None else self.quorum == "met",
            partly_read=None if self.partly_read is None else self.partly_read == "yes",
            split=self.split,
            min_cost=self.min_cost,
            max_cost=self.max_cost,
            unfinished=self.unfinished,
            disposition=self.disposition,
            reviewed=self.reviewed,
            stage=self.stage,
        )

    @property
    def sorting(self) -> SortOrder:
        """In which order."""
        return SortOrder(self.sort, self.order == "desc")


class ReviewParameters(_Parameters):
    """Which reviews are listed."""

    run: _Run = None
    reviewer: Annotated[str | None, Field(min_length=1, max_length=300, description="The reviewer's name, whole.")] = (
        None
    )
    verdict: Verdict | None = None
    blind: bool | None = None
    sampled: Annotated[bool | None, Field(description="Whether the debate was drawn at random for them.")] = None
    standing: Annotated[bool, Field(description="Only the last review of each person of a debate.")] = False
    after: Annotated[int, Field(ge=0, le=AT_MOST, description="From `next` of the page before.")] = 0
    limit: _Rows = MOST_ROWS

    def chooses(self, review: ReviewOfResult) -> bool:
        """Whether a review, as an object of the API, is listed."""
        said = (review["reviewer"], review["verdict"], review["blind"], review["sampled"])
        wanted = (self.reviewer, self.verdict, self.blind, self.sampled)
        return all(one in {None, found} for one, found in zip(wanted, said, strict=True)) and not (
            self.standing and not review["stands"]
        )
