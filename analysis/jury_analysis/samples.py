"""Which ballots are one sample: simulated ones are left out, those of different panels are not pooled."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

from jury_analysis.errors import MixedPanels, OnlySimulated
from jury_analysis.reasons import SIMULATED_COUNT, SIMULATED_DEBATES, SIMULATED_ONLY
from jury_analysis.scale import OURS, Scale
from jury_analysis.wording import Reason

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
    """The ballots without those of simulated debates, or with them and a warning.

    Raises:
        OnlySimulated: all debates are simulated, and `include` is off.
    """
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
            "use --include-simulated to compute them all the same"
        )
    excluded = Exclusion(SIMULATED_DEBATES, "debates", simulated)
    return Sample(table.filter(pc.invert(table["simulated"])), (excluded,), ())


def panels_of(
    table: pa.Table, *, apart: bool, remedy: str = "use --by panel, or choose the debates of one panel"
) -> Iterator[tuple[str | None, pa.Table]]:
    """The ballots of each panel, in the order of fingerprints, unknown ones last.

    Args:
        table: ballots.
        apart: several panels are no error.
        remedy: what the message says.

    Raises:
        MixedPanels: the debates are of several panels, and `apart` is off.
    """
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
    """The fingerprint of the panel of all debates; None if it is unknown.

    Raises:
        MixedPanels: they are of several panels.
    """
    ((name, _),) = panels_of(table, apart=False, remedy="choose the debates of one panel")
    return name


def debates_in(table: pa.Table) -> int:
    """The number of debates of a table of ballots."""
    return int(pc.count_distinct(plain_text(table["debate_id"])).as_py()) if table.num_rows else 0


def plain_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column of strings without dictionary encoding."""
    return column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column


def _is(column: pa.ChunkedArray, name: str | None) -> pa.ChunkedArray:
    return pc.is_null(column) if name is None else pc.fill_null(pc.equal(column, name), fill_value=False)
