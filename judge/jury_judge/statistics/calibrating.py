"""Calibrations of recorded debates: what `jury calibrate` finds, with the panel that it is of."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from jury_analysis.calibration import CalibrationOptions, CalibrationReport, calibrate
from jury_analysis.scale import OURS, Scale
from jury_debate.calibrated import panel_digest, prompts_digest
from jury_events.debate_events import DebateOpened
from jury_events.errors import SettingError
from jury_events.text import visible_line
from jury_judge.panels.calibration_files import calibration_bytes
from jury_judge.panels.digest_files import write_file
from jury_judge.panels.document import read_text
from jury_judge.settings.statistics import Count
from jury_judge.stores.debates import opening_of, panel_of
from jury_judge.tables.ballot_sources import Votes, stored_ballots
from jury_judge.tables.counted_ballots import COUNTED_COLUMNS, counted_ballots, counted_words
from jury_replay.output_path import check_output_path
from jury_store.debate_rows import DebateFilter
from jury_store.event_store import EventStore

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
        options: likewise; their scale is of the words of the votes.
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
            prompts_digest(resolved.role_prompts, resolved.judge_prompt, resolved.prompts),
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
