"""`jury export`: write debates as cassettes, or as pages."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from jury_cli.exits import Exit
from jury_cli.options import resolved_store, selected, selection_options, store_option

if TYPE_CHECKING:
    from jury_events.conditions import Condition
    from jury_events.debate_history import DebateHistory
    from jury_replay.selection import DebateSelection
    from jury_store.event_store import EventStore


@click.command("export")
@selection_options
@click.option(
    "-o",
    "--output",
    metavar="FOLDER|FILE|-",
    help="Where to: a folder, made where it is missing; for one debate a file, or - for stdout. [default: this folder]",
)
@click.option("--html", is_flag=True, help="Write each debate as one HTML file to be read, which opens offline.")
@click.option(
    "--parquet",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="Write tables instead: debates, ballots, exchanges and labels as Parquet files (docs/tables.md).",
)
@click.option("--texts", is_flag=True, help="With --parquet: with the texts of cases, requests and answers.")
@store_option
@click.option("--json", "as_json", is_flag=True, help="Print what was written as JSON.")
def command(
    debate_ids: tuple[str, ...],
    *,
    run_id: str | None,
    everything: bool,
    where: "tuple[Condition, ...]",
    output: str | None,
    html: bool,
    parquet: Path | None,
    texts: bool,
    store_url: str | None,
    as_json: bool,
) -> int:
    """Write each debate as a cassette: one file with every event, every text and the seal of its log.

    The same debate gives the same bytes; a cassette that is there is replaced when it differs. A debate that does not
    verify is not written, and the command exits with 5. The format is in docs/cassettes.md.

    With --html it is a page instead: everything whole, no script, nothing that is fetched. A debate that does not
    verify is written too; its page says what was altered, and the command exits with 5.

    With --parquet it is four tables of all debates, for pandas, polars, DuckDB or R. The same debates give the same
    bytes; texts are written with --texts only.
    """
    from jury_judge.stores.debates import must_exist
    from jury_store.opening import open_store

    selection = selected(debate_ids, run_id, everything=everything, where=where)
    if parquet is not None and (html or output is not None):
        raise click.UsageError("--parquet names the folder of the tables: leave --html and -o out")
    if texts and parquet is None:
        raise click.UsageError("--texts belongs to --parquet: cassettes and pages always have the texts")
    if parquet is not None:
        return _tables(selection, parquet, texts=texts, store_url=store_url, as_json=as_json)
    output = output or "."
    one = len(selection.debate_ids or ()) == 1
    if output == "-" and (not one or as_json):
        raise click.UsageError("stdout takes one debate, without --json; name a folder with -o")
    store = open_store(resolved_store(store_url), write=False)
    try:
        # Debates that are named are looked for one by one: of a damaged one there may be no head.
        must_exist(store, selection._replace(debate_ids=None))
        documents = _Pages(store) if html else _Cassettes(store)
        if output == "-":
            (history,) = store.histories([str(debate_ids[0])])
            sys.stdout.buffer.write(documents.document(history))
            return documents.code
        folder = not one or output.endswith("/") or Path(output).is_dir()
        return _write(store, selection, documents, Path(output), folder=folder, as_json=as_json)
    finally:
        store.close()


def _tables(selection: "DebateSelection", folder: Path, *, texts: bool, store_url: str | None, as_json: bool) -> int:
    from jury_cli.terminal import Counting, note
    from jury_events.text.pluralize import pluralize
    from jury_judge.stores.debates import must_exist
    from jury_judge.tables.parquet_export import export_tables
    from jury_store.opening import open_store

    store = open_store(resolved_store(store_url), write=False)
    counting = Counting("debates exported")
    try:
        must_exist(store, selection)
        rows = export_tables(store, selection, folder, texts=texts, on_debate=counting.count)
    finally:
        counting.close()
        store.close()
    if as_json:
        print(json.dumps({"output": str(folder), "rows": rows}, ensure_ascii=False))
    else:
        counted = ", ".join(pluralize(count, name.removesuffix("s")) for name, count in rows.items())
        note(f"{counted} written to {folder}")
    return Exit.DONE


class _Cassettes:
    noun = "cassette"
    code = Exit.DONE

    def __init__(self, store: "EventStore") -> None:
        from jury_replay.cassettes.lines import BEGINS, SUFFIX
        from jury_replay.cassettes.provenance import Provenance

        self.suffix = SUFFIX
        self.begins = BEGINS
        self._provenance = Provenance(store)

    def name(self, debate_id: str) -> str:
        return debate_id + self.suffix

    def document(self, history: "DebateHistory") -> bytes:
        from jury_replay.cassettes.writing import write_cassette

        return write_cassette(history, self._provenance.seal_of(history))


class _Pages:
    noun = "page"
    suffix = ".html"
    begins = b"<!doctype html>"

    def __init__(self, store: "EventStore") -> None:
        self._store = store
        self.code = Exit.DONE

    def name(self, debate_id: str) -> str:
        return debate_id + self.suffix

    def document(self, history: "DebateHistory") -> bytes:
        from jury_cli.terminal import note
        from jury_judge.stores.integrity_state import integrity_states
        from jury_web.pages.single_file import single_file

        opened = history.opened
        (state,) = integrity_states(self._store, [history])
        if not state.intact:
            self.code = Exit.INTEGRITY
            note(f"jury: {history.debate_id}: the record was altered, and its page says so: {state.failures[0]}")
        return "".join(single_file(history, state, opened.panel.language)).encode()


def _write(
    store: "EventStore",
    selection: "DebateSelection",
    documents: _Cassettes | _Pages,
    output: Path,
    *,
    folder: bool,
    as_json: bool,
) -> int:
    from jury_cli.exits import code_of
    from jury_cli.terminal import Counting, note
    from jury_events.errors import DebateNotFound, EventError
    from jury_events.text.pluralize import pluralize
    from jury_replay.cassettes.library import put
    from jury_replay.errors import RecordDamaged
    from jury_replay.output_path import check_output_path

    written = same = 0
    code = Exit.DONE
    counting = Counting("debates exported")
    try:
        for chunk in selection.chunks(store):
            for history in store.histories(chunk):
                path = output / documents.name(history.debate_id) if folder else output
                # A file of such a name is one, whatever became of it.
                check_output_path(path, b"" if path.name.endswith(documents.suffix) else documents.begins)
                try:
                    changed = put(path, documents.document(history))
                except (DebateNotFound, RecordDamaged, EventError) as error:
                    note(f"jury: {error}")
                    code = max(code, code_of(error))
                    continue
                written += changed
                same += not changed
                counting.count()
    finally:
        counting.close()
    if not written and not same and code is Exit.DONE:
        raise DebateNotFound("there is nothing to export: `jury list` shows the debates of the store")
    if as_json:
        print(json.dumps({"output": str(output), "written": written, "unchanged": same}, ensure_ascii=False))
    elif written or same:
        there = f", {same} there already" if same else ""
        note(f"{pluralize(written, documents.noun)} written to {output}{there}")
    return max(code, documents.code)
