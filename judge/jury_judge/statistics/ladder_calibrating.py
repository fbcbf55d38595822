"""Ladders of recorded votes: what `jury calibrate --stages` finds, with the panels that it is of."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from jury_analysis.ladders.ladder_report import LadderOptions, LadderReport, calibrate_ladder
from jury_analysis.ladders.ladder_use import StageBallots
from jury_analysis.scale import OURS, Scale
from jury_events.errors import SettingError
from jury_judge.panels.digest_files import write_file
from jury_judge.panels.ladders import ladder_bytes
from jury_judge.statistics.calibrating import CalibratedPanel, calibrated_panel
from jury_judge.statistics.ladder_stages import LadderStage, ladder_stages
from jury_judge.tables.ballot_sources import Votes, of_seats, stored_ballots
from jury_judge.tables.counted_ballots import COUNTED_COLUMNS, counted_ballots, counted_words
from jury_replay.output_path import check_output_path
from jury_store.debate_rows import DebateFilter
from jury_store.event_store import EventStore

_BEGINS = len(b'{"cases":')
"""The first bytes of a ladder file: of all keys this one sorts first."""


@dataclass(frozen=True)
class FoundLadder:
    """A report, and the panel of each stage; None for votes of files."""

    report: LadderReport
    panels: tuple[CalibratedPanel | None, ...]

    def to_dict(self) -> dict[str, Any]:
        """As JSON values, without the digest of a file."""
        values = self.report.to_dict()
        for stage, panel in zip(values["stages"], self.panels, strict=True):
            stage["panel"] = None if panel is None else vars(panel).copy()
        return values

    def file_bytes(self) -> bytes:
        """The ladder file."""
        if None not in self.panels and self.report.categories != OURS.categories:
            raise SettingError("a ladder is of outcomes, and this one counts labels: leave --count labels out")
        return ladder_bytes(self.to_dict())


def ladder_of_files(votes: Votes, stages: Sequence[str], options: LadderOptions) -> FoundLadder:
    """Certify a ladder on votes of files; their own final verdicts are of all seats, and are not read.

    Args:
        options: see `calibrate_ladder`.
    """
    ballots = votes.counted
    ballots = ballots.filter(pc.equal(ballots["role"].cast(pa.string()), "juror"))
    if "final_verdict" in ballots.column_names:
        place = ballots.schema.get_field_index("final_verdict")
        ballots = ballots.set_column(place, "final_verdict", pa.nulls(len(ballots), pa.string()))
    found = [
        StageBallots(stage, of_seats(ballots, [one.strip() for one in stage.split(",")], flag="--stages"))
        for stage in stages
    ]
    return FoundLadder(calibrate_ladder(found, votes.labels, options), (None,) * len(found))


def ladder_of_runs(
    store: EventStore, sources: Sequence[LadderStage], votes_of: Sequence[Votes], options: LadderOptions
) -> FoundLadder:
    """Certify a ladder on runs of a store.

    Args:
        sources: where the votes of each stage are recorded.
        votes_of: the ballots of each, as they are recorded.
        options: see `calibrate_ladder`.
    """
    tables, panels = [], []
    for source, votes in zip(sources, votes_of, strict=True):
        panels.append(calibrated_panel(store, votes.ballots, staged=source.stage is not None))
        counted = votes._replace(ballots=counted_ballots(store, votes.ballots))
        tables.append(StageBallots(source.name, counted.counted))
    return FoundLadder(calibrate_ladder(tables, votes_of[0].labels, options), tuple(panels))


def calibrate_stored_stages(
    store: EventStore, run_ids: Sequence[str], labels: pa.Table | None, options: LadderOptions, wanted: DebateFilter
) -> FoundLadder:
    """Certify a ladder on runs of a store, one a stage, or one by the ladder."""
    sources = ladder_stages(store, run_ids)
    ballots = [stored_ballots(store, one.of(wanted), run_ids=[one.run_id], columns=COUNTED_COLUMNS) for one in sources]
    words = counted_words(store, ballots, "outcomes").words
    if words.labels_of is not None:
        options = replace(options, scale=Scale.of_labels(words.labels_of))
    return ladder_of_runs(store, sources, [Votes(one, labels, words) for one in ballots], options)


def write_ladder(path: Path, found: FoundLadder) -> None:
    """Write the ladder file."""
    content = found.file_bytes()
    check_output_path(path, content[:_BEGINS])
    write_file(path, content)
