"""`jury import`: take debates from cassettes into a store."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from jury_cli.calls import call, stored
from jury_cli.exits import Exit, code_of
from jury_cli.option_groups import options
from jury_cli.options import PUBLIC_KEYS, STORE, file_option
from jury_cli.streams import note
from jury_cli.terminal import Counting
from jury_events.errors import JuryError
from jury_events.text import pluralize, visible_line

if TYPE_CHECKING:
    from jury_judge import Imported, Records

_NAMED = 6


@click.command("import")
@click.argument(
    "paths", metavar="FILE|FOLDER...", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path)
)
@options(PUBLIC_KEYS)
@file_option("--checkpoint", "note_file", help="Take only debates sealed by this checkpoint, kept elsewhere.")
@click.option(
    "--erase", is_flag=True, help="Let a cassette erase texts here that its origin erased (--key allows it too)."
)
@options(STORE)
@click.option("--json", "as_json", is_flag=True, help="Print what was imported as JSON.")
def command(
    paths: tuple[Path, ...],
    *,
    keys: tuple[Path, ...],
    note_file: Path | None,
    erase: bool,
    store_url: str | None,
    as_json: bool,
) -> int:
    """Add these debates to the store. Importing again changes nothing.

    With --key or --checkpoint only debates go in that are whole under a seal by such a key, or by this checkpoint.
    Every cassette is verified first; one that does not verify, or that is another debate under a known id, is refused
    and named, the others go on, and the command exits with 5. A missing store is created.
    """
    from jury_judge.seals.key_files import read_keys, read_note

    trusted = read_keys(keys)
    kept = None if note_file is None else read_note(note_file)
    with Counting("cassettes read") as counting:
        found = call(
            stored(store_url).import_cassettes(
                paths, keys=trusted, checkpoint=kept, erase=erase, progress=counting.reach, say=note
            )
        )
    if as_json:
        print(json.dumps(_object(found), ensure_ascii=False))
    else:
        note(_said(found))
        for line in (*imported_streams(found), *_open_ends(found)):
            note(line)
    return max((code_of(error) for _, error in found.refused), default=Exit.DONE)


def _object(found: "Imported") -> dict[str, object]:
    return {
        "imported": found.imported,
        "unchanged": found.unchanged,
        "events": found.events,
        "texts": found.texts,
        "erased": found.erased,
        "withheld": found.withheld,
        "reviews_left": found.reviews_left,
        "reviews_foreign": found.reviews_foreign,
        "later_events_not_excluded": found.not_excluded,
        "unknown_signers_of_lengths": found.unknown_signers,
        "runs": [one._asdict() for one in found.runs],
        "baselines": [one._asdict() for one in found.drifts],
        "refused": [{"file": str(path), "problem": str(error)} for path, error in found.refused],
    }


def imported_streams(found: "Imported") -> "Iterator[str]":
    """How much of each run is there whose file was imported, and which baselines came."""
    from jury_events.text import pluralize

    for drift in found.drifts:
        counts = "" if drift.trusted or not drift.checks else "; without a trusted --key they count for nothing here"
        yield f"baseline {drift.drift_id}: {pluralize(drift.checks, 'check')}{counts}"
    for one in found.runs:
        more = len(one.missing) - _NAMED
        names = ", ".join(one.missing[:_NAMED]) + (f" and {more:,} more" if more > 0 else "")
        here = f"{one.listed - len(one.missing):,} are here"
        missing = f"; missing: {visible_line(names, 600)}" if one.missing else ""
        yield f"run {one.run_id}: of {one.listed:,} listed debates {here}{missing}"


def _open_ends(found: "Imported") -> "Iterator[str]":
    """Which streams may have gone on where they come from."""
    if found.unknown_signers:
        keys = visible_line(", ".join(found.unknown_signers), 300)
        yield f"lengths of streams are signed by {keys}, which is no key given with --key: they count for nothing"
    if found.not_excluded:
        more = len(found.not_excluded) - _NAMED
        names = ", ".join(found.not_excluded[:_NAMED]) + (f" and {more:,} more" if more > 0 else "")
        yield (
            f"completeness is not proven of {names}: their store may have recorded more since (there jury seal now "
            "--key signs the log and jury export --seal-key how long they are; jury import --key proves it up to then)"
        )


def _said(found: "Imported") -> str:
    said = f"{pluralize(found.imported, 'debate')} imported ({pluralize(found.events, 'event')})"
    said += f", {found.unchanged} there already" if found.unchanged else ""
    said += f", {pluralize(found.erased, 'text')} erased" if found.erased else ""
    said += f", {pluralize(found.withheld, 'text')} not brought back, erased on record" if found.withheld else ""
    if found.reviews_left:
        # A cassette without a trusted seal could withdraw what was said here.
        events = pluralize(found.reviews_left, "event")
        said += f", {events} of reviews left out: this store has reviews of its own"
    if found.reviews_foreign:
        events = pluralize(found.reviews_foreign, "event")
        said += (
            f", {events} of reviews still count for nothing: they were imported without --key before; "
            "import the cassettes into another store with --key to count them"
        )
    return said + (f", {pluralize(len(found.refused), 'cassette')} refused" if found.refused else "")


def named_files(names: Sequence[str]) -> list[Path]:
    """Those of the arguments that name cassettes: files and folders that are there, and no ids."""
    return [Path(name) for name in names if name.endswith(".jsonl") or "/" in name or (name and Path(name).is_dir())]


@contextmanager
def cassette_store(paths: Sequence[Path], key_files: Sequence[Path] = ()) -> Iterator[str]:
    """The URL of a store with the debates of these cassettes, or folders of cassettes; it is deleted afterwards.

    With `key_files`, each must be whole under a seal by a public key of one of them.
    """
    from jury_cli.import_ import imported_streams
    from jury_judge import Records
    from jury_judge.seals.key_files import read_keys

    with TemporaryDirectory(prefix="jury-cassettes-") as folder:
        url = f"sqlite:///{folder}/cassettes.db"
        found = call(
            Records(url, threads=False).import_cassettes(paths, keys=read_keys(key_files), say=lambda _line: None)
        )
        for _, problem in found.refused:
            note(f"jury: {problem}")
        if found.refused:
            raise _refused(len(found.refused), found.refused[0][1])
        for line in imported_streams(found):
            note(line)
        yield url


async def every_debate(records: "Records") -> list[str]:
    """The ids of all debates of a store."""
    return [row.debate_id async for row in records.debates()]


def _refused(count: int, first: JuryError) -> JuryError:
    return type(first)(f"{pluralize(count, 'cassette')} refused, so that nothing is shown")
