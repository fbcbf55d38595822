"""Calibrations of recorded debates: what `jury calibrate` finds, with the panel that it is of."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from jury_analysis.calibration import CalibrationOptions, CalibrationReport, calibrate
from jury_analysis.ladder_report import LadderOptions, LadderReport, calibrate_ladder
from jury_analysis.ladder_use import StageBallots
from jury_analysis.scale import OURS, Scale
from jury_debate.calibrated import panel_digest
from jury_events.debate_events import DebateOpened
from jury_events.errors import DebateNotFound, SettingError
from jury_events.text import visible_line
from jury_judge.panels.calibration_files import calibration_bytes, write_file
from jury_judge.panels.document import read_text
from jury_judge.panels.ladders import ladder_bytes
from jury_judge.settings.statistics import Count
from jury_judge.store_access.debates import opening_of, panel_of
from jury_judge.tables.ballot_sources import (
    COUNTED_COLUMNS,
    Votes,
    counted_ballots,
    counted_words,
    of_seats,
    stored_ballots,
)
from jury_replay.output_path import check_output_path
from jury_store.debate_rows import DebateFilter
from jury_store.event_store import EventStore
from jury_store.list_order import OLDEST

_BEGINS = len(b'{"calibration":')
"""The first bytes of a calibration file: of all keys this one sorts first."""


@dataclass(frozen=True)
class CalibratedPanel:
    """The panel whose debates were calibrated on: digests of what votes, as `jury_debate.calibrated` has them."""

    name: str
    panel: str
    prompts: str


@dataclass(frozen=True)
class FoundCalibration:
    """A report, and the panel; None for votes of files."""

    report: CalibrationReport
    panel: CalibratedPanel | None

    def to_dict(self) -> dict[str, Any]:
        """As JSON values, without the digest of a file."""
        certificate = self.report.to_dict()["certificate"]
        return {
            **self.report.to_dict(),
            "risk": certificate["risk"],
            "confidence": certificate["confidence"],
            "threshold": certificate["threshold"],
            "panel": None if self.panel is None else vars(self.panel).copy(),
        }

    def file_bytes(self, made_on: date | None = None) -> bytes:
        """The calibration file; `made_on` is the day that it says, None: none."""
        if self.panel is not None and self.report.categories != OURS.categories:
            raise SettingError(
                "a panel applies a calibration of outcomes, and this one counts labels: leave --count labels out to "
                "write a file, or --output to see what labels certify"
            )
        return calibration_bytes({**self.to_dict(), **({} if made_on is None else {"made_on": f"{made_on:%Y-%m-%d}"})})


def calibrate_ballots(votes: Votes, options: CalibrationOptions, store: EventStore | None = None) -> FoundCalibration:
    """Calibrate, and find the panel of the debates.

    Args:
        votes: ballots as they are recorded, and labels: see `jury_analysis.calibration.calibrate`.
        store: where the debates are recorded; None for votes of files.
    """
    panel = None
    if store is not None:
        panel = calibrated_panel(store, votes.ballots)
        votes = votes._replace(ballots=counted_ballots(store, votes.ballots))
    return FoundCalibration(calibrate(votes.counted, votes.labels, options), panel)


def calibrate_stored(
    store: EventStore,
    wanted: DebateFilter,
    run_ids: Sequence[str],
    labels: pa.Table | None,
    options: CalibrationOptions | None,
    *,
    count: Count = "outcomes",
) -> FoundCalibration:
    """Calibrate on debates of a store; `count` is of debates under a scale of the panel's own."""
    ballots = stored_ballots(store, wanted, run_ids=run_ids, columns=COUNTED_COLUMNS)
    options, words = options or CalibrationOptions(), counted_words(store, ballots, count).words
    if words.labels_of is not None:
        options = replace(options, scale=Scale.of_labels(words.labels_of))
    return calibrate_ballots(Votes(ballots, labels, words), options, store)


def calibrated_panel(store: EventStore, ballots: pa.Table, *, staged: bool = False) -> CalibratedPanel | None:
    """The one panel of these debates; None if they are of several, which `calibrate` refuses.

    Of each run one debate is read, since a run has one panel.

    Args:
        staged: they are a stage of a ladder in which every case goes through every stage.
    """
    found: CalibratedPanel | None = None
    for debate_id in _one_of_each_run(ballots):
        opened = opening_of(store, debate_id)
        if not staged:
            _check_alone(opened)
        resolved = panel_of(store, debate_id)
        if resolved.panel.final.calibration is not None:
            raise SettingError(
                f"debate {debate_id} was judged under a calibration, which withheld verdicts: calibrate on debates of "
                "the panel without calibration"
            )
        if resolved.panel.stop is not None:
            raise SettingError(
                f"debate {debate_id} was judged with stop: settled, where votes are missing by what others said: "
                "calibrate on debates of the panel without stop; the file holds for the panel with it too"
            )
        panel = CalibratedPanel(
            resolved.panel.name,
            panel_digest(resolved.panel),
            resolved.custom,
        )
        if found is not None and panel.panel != found.panel:
            return None
        if found is not None and panel.prompts != found.prompts:
            raise SettingError(
                f"debate {debate_id} was asked with other prompts than the first: select runs with one panel (--run)"
            )
        found = found or panel
    return found


def _check_alone(opened: DebateOpened) -> None:
    """Refuse a debate that is a stage of a ladder."""
    debate_id, place = opened.debate_id, opened.stage
    if place is not None and place.every_case:
        raise SettingError(
            f"debate {debate_id} is a stage of a ladder that is to be calibrated: name its run alone: jury calibrate "
            f"--stages {opened.run_id}"
        )
    if place is not None:
        raise SettingError(
            f"debate {debate_id} is a stage of a ladder: later stages saw a selection of the cases, so their votes "
            "certify nothing; judge all labelled cases by each panel in a run of its own"
        )


def _one_of_each_run(ballots: pa.Table) -> Sequence[str]:
    """Debates, sorted: one a run and panel, and all that belong to no run."""
    columns = [ballots[name].cast(pa.string()).to_pylist() for name in ("run_id", "panel", "debate_id")]
    chosen: dict[tuple[str, ...], str] = {}
    for run_id, panel, debate_id in zip(*columns, strict=True):
        key = ("", debate_id) if run_id is None else (run_id, panel or "")
        chosen[key] = min(debate_id, chosen.get(key, debate_id))
    return sorted(set(chosen.values()))


def read_case_ids(path: Path) -> frozenset[str]:
    """The ids of a list of cases: one a line, blank lines left out."""
    name = visible_line(str(path), 1000)
    text = read_text(path, name, lambda: f"{name}: there is no such list of cases")
    ids = frozenset(line.strip() for line in text.splitlines() if line.strip())
    if not ids:
        raise SettingError(f"{name}: has no case: write one case id a line")
    return ids


def write_calibration(path: Path, found: FoundCalibration) -> None:
    """Write the calibration file."""
    content = found.file_bytes(datetime.now(UTC).date())
    check_output_path(path, content[:_BEGINS])
    write_file(path, content)


class LadderStage(NamedTuple):
    """`name` is shown; `stage` is the number of the stage in a run by a ladder, None where the run is the stage's."""

    name: str
    run_id: str
    stage: int | None = None

    def of(self, wanted: DebateFilter) -> DebateFilter:
        """These debates of the stage; a ladder's lists have one debate a case unless a stage is named."""
        return wanted if self.stage is None else wanted._replace(stage=self.stage)


def ladder_stages(store: EventStore, run_ids: Sequence[str]) -> tuple[LadderStage, ...]:
    """The stages of a ladder.

    Args:
        run_ids: one of each stage, or one by the ladder.
    """
    if len(run_ids) != 1:
        return tuple(LadderStage(run_id, run_id) for run_id in run_ids)
    (run_id,) = run_ids
    first = _first(store, run_id)
    if first is None:
        raise DebateNotFound(f"run {visible_line(run_id, 60)} has no debate")
    place, shown = first.stage, visible_line(run_id, 60)
    if place is None:
        raise SettingError(
            f"run {shown} is by no ladder: name a run of each stage, parted by ;, or one run by a ladder with "
            "certificate: none"
        )
    if place.every_case is None:
        raise SettingError(
            f"run {shown} is by a ladder with a certificate: later stages saw a selection of the cases, so their votes "
            "certify nothing; judge all labelled cases by the ladder with certificate: none"
        )
    return tuple(LadderStage(f"{run_id} stage {number}", run_id, number) for number in range(1, place.of + 1))


def _first(store: EventStore, run_id: str) -> DebateOpened | None:
    wanted = DebateFilter(run_id, counted=None)
    return next((opening_of(store, row.debate_id) for row in store.list_debates(wanted, OLDEST, limit=1)), None)


_LADDER_BEGINS = len(b'{"cases":')
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
    """Certify a ladder on votes of files; their own final verdicts are of all seats, and are not read."""
    ballots = votes.counted
    ballots = ballots.filter(pc.equal(ballots["role"].cast(pa.string()), "juror"))
    if "final_verdict" in ballots.column_names:
        place = ballots.schema.get_field_index("final_verdict")
        ballots = ballots.set_column(place, "final_verdict", pa.nulls(len(ballots), pa.string()))
    found = [
        StageBallots(stage, of_seats(ballots, [one.strip() for one in stage.split(",")], setting="stages"))
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
    check_output_path(path, content[:_LADDER_BEGINS])
    write_file(path, content)
