"""The categories of votes and labels: their names, whether they have an order, and which of them pass and fail.

There is one idea of ordered categories: the scale of a panel (`jury_events.verdict_scale`). These are its labels from
the best to the worst, or its outcomes; or words that a table of foreign votes declares.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from jury_analysis.ballots import OWN_WORDS
from jury_analysis.errors import AnalysisError, MixedPanels, OnlySimulated, UnknownVerdict
from jury_analysis.reasons import SIMULATED_COUNT, SIMULATED_DEBATES, SIMULATED_ONLY
from jury_analysis.wording import Reason
from jury_events.verdict_scale import OUTCOME_WORDS, VERDICTS, OutcomeWord, VerdictScale


@dataclass(frozen=True)
class Scale:
    """The categories of verdicts and labels.

    All declared categories count, used or not: AC1 and AC2 depend on their number.
    """

    categories: tuple[str, ...]
    """Names, in ascending order if `ordered`; otherwise in the order in which they were declared."""
    ordered: bool
    """Whether ordinal figures have a meaning. Two categories are always in order."""
    abstaining: str | None = None
    """A category that counts as an abstention against labels, because no label can have it."""
    labels_of: VerdictScale | None = None
    """The panel's scale whose labels these are; None: the first of the order passes, and the last fails."""

    @classmethod
    def of_labels(cls, scale: VerdictScale) -> Self:
        """The labels of a panel's scale, from the best to the worst: as our verdicts, a pass comes first."""
        return cls(scale.ids[::-1], ordered=True, labels_of=scale)

    def __post_init__(self) -> None:
        """Refuse scales without two different categories."""
        if len(set(self.categories)) < len(self.categories):
            raise AnalysisError(f"a verdict is declared twice: {', '.join(self.categories)}")
        if len(self.categories) < 2:  # noqa: PLR2004  (two categories are the least that can disagree)
            raise AnalysisError("a scale needs two verdicts or more: declare them with --order")
        if len(self.categories) > 127:  # noqa: PLR2004  (codes are int8)
            raise AnalysisError(f"{len(self.categories)} verdicts are too many: a scale has at most 127")
        if self.abstaining is not None and self.abstaining not in self.categories:
            raise AnalysisError(f"the abstaining verdict {self.abstaining!r} is none of {', '.join(self.categories)}")

    @property
    def passing(self) -> tuple[str, ...]:
        """The categories that pass; () without an order."""
        return self._coming_to("pass", self.categories[:1])

    @property
    def failing(self) -> tuple[str, ...]:
        """The categories that fail; () without an order."""
        return self._coming_to("fail", self.categories[-1:])

    @property
    def for_people(self) -> tuple[str, ...]:
        """The categories that ask for a person, so that nothing can be accepted; () where none is known to."""
        if self.categories == _OURS:
            return self.categories[1:2]
        return self._coming_to("review", ())

    def passes(self, codes: npt.NDArray[np.int8]) -> npt.NDArray[np.bool_]:
        """Which of these codes are of a category that passes; the shape is kept."""
        return np.isin(codes, [self.categories.index(name) for name in self.passing])

    def fails(self, codes: npt.NDArray[np.int8]) -> npt.NDArray[np.bool_]:
        """Which of these codes are of a category that fails; the shape is kept."""
        return np.isin(codes, [self.categories.index(name) for name in self.failing])

    def asks(self, codes: npt.NDArray[np.int8]) -> npt.NDArray[np.bool_]:
        """Which of these codes are of a category that asks for a person; the shape is kept."""
        return np.isin(codes, [self.categories.index(name) for name in self.for_people])

    def _coming_to(self, outcome: OutcomeWord, otherwise: tuple[str, ...]) -> tuple[str, ...]:
        if self.labels_of is None:
            return otherwise if self.ordered else ()
        return tuple(name for name in self.categories if self.labels_of.label(name).outcome == outcome)

    def code(self, verdict: str) -> int:
        """The position of a verdict in `categories`."""
        try:
            return self.categories.index(verdict)
        except ValueError:
            raise UnknownVerdict(
                f"{verdict!r:.60} is none of the verdicts {', '.join(self.categories)}: "
                "map it with --map, or declare all verdicts with --order"
            ) from None

    @property
    def abstaining_code(self) -> int | None:
        """The code of `abstaining`, if there is one."""
        return None if self.abstaining is None else self.categories.index(self.abstaining)

    def against(self, labels: Iterable[str]) -> "Scale":
        """The scale for a comparison with labels.

        Where three ordered verdicts meet labels that know only the two ends, the middle one is an abstention.
        """
        known = set(labels)
        ends = {self.categories[0], self.categories[-1]}
        middle = (
            self.ordered
            and len(self.categories) == 3  # noqa: PLR2004  (two ends and a middle)
            and known
            and known <= ends
            and self.categories[1] not in (*self.passing, *self.failing)
        )
        return replace(self, abstaining=self.categories[1]) if middle else replace(self, abstaining=None)


_OURS = tuple(verdict.value for verdict in reversed(VERDICTS.values()))

OURS = Scale(_OURS, ordered=True)
"""The verdicts of Jury Judge, which are the outcomes of every panel's labels: pass < review < fail."""


_SHOWN = 5  # panels that a message names


@dataclass(frozen=True)
class BallotOptions:
    """Which ballots count, and over which verdicts: what the options of all reports share."""

    scale: Scale = OURS
    simulated: bool = False
    """Simulated debates count; without it they are left out."""
    stale: bool = False
    """Votes count that were repeated from an earlier round because the seat abstained."""
    synthetic: bool = False
    """Votes count that were made up for an answer that a provider blocked."""


@dataclass(frozen=True)
class Exclusion:
    """What was left out of the figures, and why."""

    reason: Reason
    unit: Literal["debates", "votes", "cases"]
    """What is counted."""
    count: int


@dataclass(frozen=True, eq=False)
class Sample:
    """Ballots that count, what was left out of them, and what has to be said of the rest."""

    ballots: pa.Table
    excluded: tuple[Exclusion, ...]
    warnings: tuple[Reason, ...]


def without_simulated(table: pa.Table, *, include: bool) -> Sample:
    """The ballots without those of simulated debates, or with them and a warning."""
    simulated = debates_in(table.filter(table["simulated"]))
    if not simulated:
        return Sample(table, (), ())
    everything = debates_in(table)
    if include:
        warning = SIMULATED_ONLY if everything == 1 else SIMULATED_COUNT(n=simulated, all=everything)
        return Sample(table, (), (warning,))
    if simulated == everything:
        all_of_them = "the only debate is" if simulated == 1 else f"all {simulated:,} debates are"
        raise OnlySimulated(
            f"{all_of_them} simulated, so nothing can be said about models: "
            "use {include_simulated} to compute them all the same"
        )
    excluded = Exclusion(SIMULATED_DEBATES, "debates", simulated)
    return Sample(table.filter(pc.invert(table["simulated"])), (excluded,), ())


def panels_of(
    table: pa.Table, *, apart: bool, remedy: str = "use --by panel, or choose the debates of one panel"
) -> Iterator[tuple[str | None, pa.Table]]:
    """The ballots of each panel, in the order of fingerprints, unknown ones last."""
    column = plain_text(table["panel"])
    names = sorted(pc.unique(column).to_pylist(), key=lambda name: (name is None, name or ""))
    if len(names) == 1:
        yield names[0], table
        return
    if not apart:
        counts = [
            f"{name or 'unknown'} ({debates_in(table.filter(_is(column, name)))} debates)" for name in names[:_SHOWN]
        ]
        more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        raise MixedPanels(
            f"the debates are of {len(names)} panels: {', '.join(counts)}{more}; they are not pooled: {remedy}"
        )
    for name in names:
        yield name, table.filter(_is(column, name))


def one_panel(table: pa.Table) -> str | None:
    """The fingerprint of the panel of all debates; None if it is unknown."""
    ((name, _),) = panels_of(table, apart=False, remedy="choose the debates of one panel")
    return name


def debates_in(table: pa.Table) -> int:
    return int(pc.count_distinct(plain_text(table["debate_id"])).as_py()) if table.num_rows else 0


def plain_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column of strings without dictionary encoding."""
    return column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column


def _is(column: pa.ChunkedArray, name: str | None) -> pa.ChunkedArray:
    return pc.is_null(column) if name is None else pc.fill_null(pc.equal(column, name), fill_value=False)


_COLUMNS = {
    "verdict": "vote_label",
    "final_verdict": "final_label",
    "label": "human_label",
    "before_reasoning": "before_reasoning_label",
}
"""Columns of outcomes, and those with the labels that come to them."""

_OF_WORDS = (*OWN_WORDS.names, "before_reasoning_label")


def only_label(scale: VerdictScale, verdict: str) -> str | None:
    """The label of a verdict, where the scale has one label alone that comes to it."""
    found = [one.id for one in scale.labels if one.verdict == verdict]
    return found[0] if len(found) == 1 else None


def in_labels(ballots: pa.Table, scale: VerdictScale) -> pa.Table:
    """The ballots with labels as verdicts.

    A vote with an outcome and no label, as what stands in for a blocked answer, counts as an abstention; a jury that
    decided an outcome alone has no verdict. People who gave an outcome gave its label where there is only one.

    Args:
        ballots: columns of `ballots.SCHEMA` and those of `OWN_WORDS` that are known.
    """
    outcomes = plain_text(ballots["label"])
    abstained = pc.equal(plain_text(ballots["kind"]), "abstained")
    for name, source in _COLUMNS.items():
        if name not in ballots.column_names:
            continue
        known = source in ballots.column_names
        column = plain_text(ballots[source]) if known else pa.nulls(ballots.num_rows, pa.string())
        if name == "verdict":
            column = pc.if_else(abstained, pa.scalar(None, pa.string()), column)
        if name == "label":
            for verdict in OUTCOME_WORDS:
                if (label := only_label(scale, verdict)) is not None:
                    of_outcome = pc.and_(
                        pc.is_null(column), pc.fill_null(pc.equal(outcomes, verdict), fill_value=False)
                    )
                    column = pc.if_else(of_outcome, label, column)
        ballots = _with(ballots, name, column)
    kind = plain_text(ballots["kind"])
    ballots = _with(ballots, "kind", pc.if_else(pc.is_null(ballots["verdict"]), "abstained", kind))
    return without_own_words(ballots)


def without_own_words(ballots: pa.Table) -> pa.Table:
    """The ballots without the columns that have labels of a panel's own scale."""
    return ballots.drop_columns([name for name in _OF_WORDS if name in ballots.column_names])


def _with(ballots: pa.Table, name: str, column: pa.ChunkedArray | pa.Array) -> pa.Table:
    place = ballots.schema.get_field_index(name)
    encoded = pa.types.is_dictionary(ballots.schema.field(place).type)
    return ballots.set_column(place, name, pc.dictionary_encode(column) if encoded else column)
