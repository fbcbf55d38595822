"""Debates of a store written as files: cassettes, pages, tables."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, Literal, NamedTuple, Protocol

from jury_actors.effects import Effects
from jury_events.debate_history import DebateHistory
from jury_events.errors import DebateNotFound, EventError, JuryError
from jury_events.ids import drift_stream, run_stream
from jury_events.run_facts import run_facts
from jury_judge.seals.key_files import read_private_key
from jury_judge.store_access.debates import must_exist
from jury_judge.store_access.integrity_state import IntegrityState, integrity_states
from jury_judge.store_access.stores import Say
from jury_replay.cassettes.lines import BATCH_SUFFIX, BEGINS, DRIFT_SUFFIX, RUN_SUFFIX, SUFFIX, SignLengths, signing
from jury_replay.cassettes.provenance import Provenance
from jury_replay.cassettes.stream_cassettes import write_stream_cassette
from jury_replay.cassettes.writing import put, write_cassette
from jury_replay.errors import RecordDamaged
from jury_replay.intact import intact_histories
from jury_replay.output_path import check_output_path
from jury_replay.selection import DebateSelection
from jury_store.event_store import EventStore

Progress = Callable[[int], None]
Render = Callable[[DebateHistory, IntegrityState], Iterable[str]]
"""The page of a debate, in chunks."""


class ExportedFiles(NamedTuple):
    """How many files were `written`, and how many were `unchanged`, being there already with the same bytes.

    `altered`: ids of debates whose pages say that their records were altered. `refused`: why debates have no file.
    """

    written: int
    unchanged: int
    altered: tuple[str, ...]
    refused: tuple[JuryError, ...]


class ExportedDocument(NamedTuple):
    """The content of a file, and in words what was altered in the record that it shows; None: nothing."""

    content: bytes
    altered: str | None


class _Documents(Protocol):
    """One kind of file: its suffix, the first bytes of each, and the document of a debate."""

    suffix: str
    begins: bytes

    def of(self, history: DebateHistory) -> ExportedDocument: ...


class _Cassettes:
    suffix = SUFFIX
    begins = BEGINS

    def __init__(self, store: EventStore, sign: SignLengths | None = None, say: Say | None = None) -> None:
        self._provenance = Provenance(store)
        self._sign = sign
        self._say = say

    def of(self, history: DebateHistory) -> ExportedDocument:
        sign = self._sign
        if sign is not None and history.local.later_events is not None:
            # What its own store had, this one cannot say.
            sign = None
            if self._say is not None:
                self._say(f"jury: {history.debate_id}: events of it were imported, so its lengths are not signed here")
        return ExportedDocument(write_cassette(history, self._provenance.seal_of(history), sign), None)


class _Pages:
    suffix = ".html"
    begins = b"<!doctype html>"

    def __init__(self, store: EventStore, render: Render, say: Say) -> None:
        self._store = store
        self._render = render
        self._say = say

    def of(self, history: DebateHistory) -> ExportedDocument:
        _ = history.opened  # without an opening event there is no page
        (state,) = integrity_states(self._store, [history])
        altered = None if state.intact else state.failures[0]
        if altered is not None:
            self._say(f"jury: {history.debate_id}: the record was altered, and its page says so: {altered}")
        return ExportedDocument("".join(self._render(history, state)).encode(), altered)


def cassette(store: EventStore, debate_id: str, key_file: Path | None, say: Say) -> bytes:
    """The cassette of a debate; arguments and errors as of `Records.cassette`."""
    sign = _signing(key_file, say)
    (history,) = store.histories([debate_id])
    return _Cassettes(store, sign, say).of(history).content


def _signing(key_file: Path | None, say: Say) -> SignLengths | None:
    return None if key_file is None else signing(read_private_key(key_file, say), Effects().clock)


def page(store: EventStore, debate_id: str, render: Render, say: Say) -> ExportedDocument:
    """The page of a debate; errors as of `Records.page`."""
    (history,) = store.histories([debate_id])
    return _Pages(store, render, say).of(history)


def export_cassettes(
    store: EventStore,
    selection: DebateSelection,
    output: str,
    key_file: Path | None,
    *,
    progress: Progress | None,
    say: Say,
) -> ExportedFiles:
    """Write cassettes; arguments and errors as of `Records.export_cassettes`."""
    sign = _signing(key_file, say)
    # Debates that are named are looked for one by one: of a damaged one there may be no head.
    must_exist(store, selection._replace(debate_ids=None))
    documents = _Cassettes(store, sign, say)
    exported = _exported(store, selection, documents, output, progress=progress, say=say)
    if selection.debate_ids is not None or selection.where:
        return exported
    # The batches in which calls of these debates were answered.
    for batch_id in store.batch_ids(selection.run_id):
        (history,) = store.histories([batch_id])
        put(Path(output) / f"{batch_id}{BATCH_SUFFIX}", documents.of(history).content)
    return exported._replace(refused=(*exported.refused, *_streams_exported(store, selection.run_id, output, say)))


def _streams_exported(store: EventStore, run_id: str | None, output: str, say: Say) -> Iterator[RecordDamaged]:
    """Write the files of runs, with their lists, and of baselines of which they are; yields why some have none."""
    files = list(_runs_to_export(store, run_id, say))
    files += [
        (drift_stream(one), f"{one}{DRIFT_SUFFIX}")
        for one in store.drift_ids()
        if run_id is None or run_id.startswith(f"{one}.")
    ]
    provenance = Provenance(store)
    for stream, name in files:
        try:
            put(Path(output) / name, write_stream_cassette(store, stream, provenance))
        except RecordDamaged as error:
            say(f"jury: {error}")
            yield error


def _runs_to_export(store: EventStore, run_id: str | None, say: Say) -> Iterator[tuple[str, str]]:
    for one in store.run_ids() if run_id is None else [run_id]:
        facts = run_facts(store.read_stream(run_stream(one)))
        if facts is None:
            continue  # its debates were opened one by one
        if facts.imports:
            say(f"jury: run {one} was imported: pass on the file {one}{RUN_SUFFIX} that it came in")
            continue
        yield run_stream(one), f"{one}{RUN_SUFFIX}"


def export_pages(
    store: EventStore, selection: DebateSelection, output: str, render: Render, *, progress: Progress | None, say: Say
) -> ExportedFiles:
    """Write pages; arguments and errors as of `Records.export_pages`."""
    must_exist(store, selection._replace(debate_ids=None))
    return _exported(store, selection, _Pages(store, render, say), output, progress=progress, say=say)


def _exported(
    store: EventStore,
    selection: DebateSelection,
    documents: _Documents,
    output: str,
    *,
    progress: Progress | None,
    say: Say,
) -> ExportedFiles:
    place = Path(output)
    folder = len(selection.debate_ids or ()) != 1 or output.endswith("/") or place.is_dir()
    written = unchanged = 0
    altered: list[str] = []
    refused: list[JuryError] = []
    # What was judged again goes along: its last event says that it counts for nothing.
    for chunk in selection._replace(replaced=True).chunks(store):
        for history in store.histories(chunk):
            path = place / f"{history.debate_id}{documents.suffix}" if folder else place
            # A file of such a name is one, whatever became of it.
            check_output_path(path, b"" if path.name.endswith(documents.suffix) else documents.begins)
            try:
                made = documents.of(history)
                changed = put(path, made.content)
            except (DebateNotFound, RecordDamaged, EventError) as error:
                say(f"jury: {error}")
                refused.append(error)
                continue
            written += changed
            unchanged += not changed
            if made.altered is not None:
                altered.append(history.debate_id)
            if progress is not None:
                progress(written + unchanged)
    if not (written or unchanged or refused):
        raise DebateNotFound("there is nothing to export: `jury list` shows the debates of the store")
    return ExportedFiles(written, unchanged, tuple(altered), tuple(refused))


def tables(
    store: EventStore,
    selection: DebateSelection,
    folder: Path,
    *,
    form: Literal["parquet", "csv"],
    texts: bool,
    progress: Progress | None,
) -> dict[str, int]:
    """Write tables; arguments and errors as of `Records.export_tables`."""
    from jury_judge.tables.table_export import export_tables  # noqa: PLC0415  (slow to import: pyarrow)

    must_exist(store, selection)
    _named_are_intact(store, selection)
    return export_tables(store, selection, folder, form=form, texts=texts, on_debate=_counter(progress))


def debates_csv(
    store: EventStore, selection: DebateSelection, output: Path | BinaryIO, texts: bool, progress: Progress | None
) -> int:
    """Write the table of debates as CSV; arguments and errors as of `Records.export_debates`."""
    from jury_judge.tables.exported_rows import DEBATES  # noqa: PLC0415
    from jury_judge.tables.table_export import export_debates  # noqa: PLC0415
    from jury_judge.tables.table_files import check_csv_path  # noqa: PLC0415
    from jury_replay.table_file import replacing  # noqa: PLC0415

    must_exist(store, selection)
    _named_are_intact(store, selection)
    if not isinstance(output, Path):
        return export_debates(store, selection, output, texts=texts, on_debate=_counter(progress))
    check_csv_path(output, DEBATES)
    with replacing(output) as part, part.open("wb") as file:
        return export_debates(store, selection, file, texts=texts, on_debate=_counter(progress))


def _named_are_intact(store: EventStore, selection: DebateSelection) -> None:
    """Refuse debates that are named and were altered; of a run or a store the tables are those of its lists."""
    for chunk in selection.chunks(store) if selection.debate_ids is not None else ():
        intact_histories(store, chunk)


def _counter(progress: Progress | None) -> Callable[[], None]:
    """What counts the debates that are done."""
    done = 0

    def count() -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done)

    return count
