"""`jury export`: write debates as cassettes."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from jury_judge.cli.exits import Exit
from jury_judge.cli.options import resolved_store, selected, selection_options, store_option

if TYPE_CHECKING:
    from jury_replay.selection import Selection
    from jury_store.event_store import EventStore


@click.command("export")
@selection_options
@click.option(
    "-o",
    "--output",
    metavar="FOLDER|FILE|-",
    default=".",
    help="Where to: a folder, made where it is missing; for one debate a file, or - for stdout. [default: this folder]",
)
@store_option
@click.option("--json", "as_json", is_flag=True, help="Print what was written as JSON.")
def command(
    debate_ids: tuple[str, ...],
    *,
    run_id: str | None,
    everything: bool,
    output: str,
    store_url: str | None,
    as_json: bool,
) -> int:
    """Write each debate as a cassette: one file with every event, every text and the seal of its log.

    The same debate gives the same bytes; a cassette that is there is replaced when it differs. A debate that does not
    verify is not written, and the command exits with 5. The format is in docs/cassettes.md.
    """
    from jury_store.opening import open_store

    selection = selected(debate_ids, run_id, everything=everything)
    one = len(selection.debate_ids or ()) == 1
    if output == "-" and (not one or as_json):
        raise click.UsageError("stdout takes one debate, without --json; name a folder with -o")
    store = open_store(resolved_store(store_url), write=False)
    try:
        if output == "-":
            return _print(store, str(debate_ids[0]))
        folder = not one or output.endswith("/") or Path(output).is_dir()
        return _write(store, selection, Path(output), folder=folder, as_json=as_json)
    finally:
        store.close()


def _print(store: "EventStore", debate_id: str) -> int:
    from jury_replay.cassettes.provenance import Provenance
    from jury_replay.cassettes.writing import write_cassette

    (record,) = store.records([debate_id])
    sys.stdout.buffer.write(write_cassette(record, Provenance(store).seal_of(record)))
    return Exit.DONE


def _write(store: "EventStore", selection: "Selection", output: Path, *, folder: bool, as_json: bool) -> int:
    from jury_judge.cli.exits import code_of
    from jury_judge.cli.terminal import Counting, note
    from jury_judge.views.counted import counted
    from jury_replay.cassettes.lines import BEGINS, SUFFIX
    from jury_replay.cassettes.provenance import Provenance
    from jury_replay.cassettes.shelf import cassette_name, put
    from jury_replay.cassettes.writing import write_cassette
    from jury_replay.errors import DebateMissing, RecordDamaged
    from jury_replay.place import check_place

    provenance = Provenance(store)
    written = same = 0
    code = Exit.DONE
    counting = Counting("debates exported")
    try:
        for chunk in selection.chunks(store):
            for record in store.records(chunk):
                path = output / cassette_name(record.debate_id) if folder else output
                # A file of a cassette's name is one, whatever became of it.
                check_place(path, b"" if path.name.endswith(SUFFIX) else BEGINS)
                try:
                    changed = put(path, write_cassette(record, provenance.seal_of(record)))
                except (DebateMissing, RecordDamaged) as error:
                    note(f"jury: {error}")
                    code = max(code, code_of(error))
                    continue
                written += changed
                same += not changed
                counting.count()
    finally:
        counting.close()
    if not written and not same and code is Exit.DONE:
        raise DebateMissing("there is nothing to export: `jury list` shows what the store holds")
    if as_json:
        print(json.dumps({"output": str(output), "written": written, "unchanged": same}, ensure_ascii=False))
    else:
        note(f"{counted(written, 'cassette')} written to {output}" + (f", {same} there already" if same else ""))
    return code
