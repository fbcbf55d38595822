"""The scales of the panels' own whose labels a table of ballots has: in the file itself, or in the one beside it."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import yaml

from jury_events.errors import EventError
from jury_events.verdict_scale import VerdictScale
from jury_judge.stores.debates import panel_of
from jury_replay.output_path import check_output_path
from jury_store.debate_rows import DebateRow
from jury_store.event_store import EventStore

Scales = tuple[VerdictScale | None, ...]
"""Each once; None: the three verdicts. (): no panel has a scale of its own."""

_SCALES = b"jury_judge.scales"
"""The key of a Parquet file's metadata."""

ENDING = ".yaml"
"""Of the file beside a table that says how it is read."""

_BEGINS = "scales:"
"""What a file of scales begins with."""


class ScalesOfDebates:
    """The scales of debates. Of each panel one debate is read.

    Args:
        store: open for reading.
    """

    def __init__(self, store: EventStore) -> None:
        self._store = store
        self._of_panels: dict[str | None, VerdictScale | None] = {}

    def take(self, row: DebateRow, panel: str | None) -> None:
        """Read the scale of a debate that has ended; one whose opening cannot be read has none (see `jury verify`)."""
        if not row.has_ended or panel in self._of_panels:
            return
        try:
            self._of_panels[panel] = panel_of(self._store, row.debate_id).panel.scale
        except EventError:
            self._of_panels[panel] = None

    @property
    def found(self) -> Scales:
        """The scales."""
        return distinct_scales(self._of_panels.values())


def distinct_scales(scales: Iterable[VerdictScale | None]) -> Scales:
    """Each scale once; () if all are the three verdicts."""
    found = tuple({None if one is None else one.digest: one for one in scales}.values())
    return found if any(found) else ()


def scales_metadata(scales: Scales) -> dict[bytes, bytes]:
    """What a Parquet file says of its scales."""
    return {_SCALES: json.dumps(_plain(scales), ensure_ascii=False).encode()} if scales else {}


def scales_within(metadata: Mapping[bytes, bytes]) -> Scales:
    """The scales of a Parquet file."""
    found = json.loads(metadata.get(_SCALES, b"[]"))
    return tuple(None if one is None else VerdictScale.model_validate_json(json.dumps(one)) for one in found)


def scales_file(table: Path) -> Path:
    """The file beside a table that says how it is read."""
    path = table.with_suffix(ENDING)
    check_output_path(path, _BEGINS.encode())
    return path


def write_scales(path: Path, scales: Scales) -> None:
    """Write the scales of a table beside it; without any an older file is removed."""
    if not scales:
        path.unlink(missing_ok=True)
        return
    text = yaml.safe_dump({_BEGINS.rstrip(":"): _plain(scales)}, allow_unicode=True, sort_keys=False)
    path.write_text(text, encoding="utf-8")


def _plain(scales: Scales) -> Sequence[object]:
    return [None if one is None else one.model_dump(mode="json") for one in scales]
