"""The query parameters of lists, and the paths of their next pages."""

from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from jury_events.conditions import parse_conditions
from jury_events.debate_status import DebateStatus
from jury_events.evidence import EvidenceResult
from jury_events.evidence_facts import Decisive
from jury_events.ids import RUN_ID
from jury_events.ladder import MOST_STAGES
from jury_events.verdict import Verdict
from jury_judge import SORT_COLUMNS, DebateFilter, SortOrder
from jury_views.evaluation_models import ReviewOfResult
from jury_web.api.dependencies import AT_MOST
from jury_web.api.schemas.base import MOST_ROWS
from jury_web.list_values import (
    MOST_CONDITION,
    MOST_CONDITIONS,
    MOST_DOLLARS,
    MOST_TEXT,
    conditions_equal,
    dollars,
    searched,
    written_dollars,
)

_Run = Annotated[str | None, Field(pattern=f"^{RUN_ID}$")]
_Rows = Annotated[int, Field(ge=1, le=MOST_ROWS)]
_Dollars = Annotated[
    float | None, BeforeValidator(dollars), Field(ge=0, le=MOST_DOLLARS, allow_inf_nan=False, description="US dollars.")
]


class _Parameters(BaseModel):
    """Parameters with their defaults; the last two are `after` and `limit`, the place and the size of the page."""

    model_config = ConfigDict(frozen=True)

    def address(self, path: str, after: str | int) -> str:
        """The path of the page that begins after a row, with every other parameter that is not the default."""
        given = {
            name: self._written(name, value)
            for name, value in self
            if name == "limit" or (name not in {"after", "totals"} and value != type(self).model_fields[name].default)
        }
        limit = given.pop("limit")
        return f"{path}?{urlencode({**given, 'after': after, 'limit': limit}, doseq=True)}"

    def _written(self, _name: str, value: Any) -> Any:
        return str(value).lower() if isinstance(value, bool) else value


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

    def _written(self, name: str, value: Any) -> Any:
        if name == "where":
            return parse_conditions(value, recorded=True)
        return written_dollars(value) if isinstance(value, float) else super()._written(name, value)


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
