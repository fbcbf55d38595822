"""Debates written as cassettes, pages, tables or scores: jury export."""

import json
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from jury_cli.calls import call, read_from, stored
from jury_cli.exits import Exit, code_of
from jury_cli.option_groups import options
from jury_cli.options import SELECTION, STORE

if TYPE_CHECKING:
    from collections.abc import Callable

    from jury_events.debate_history import DebateHistory
    from jury_events.local_events import ScoreTargetName
    from jury_judge import ExportedFiles, IntegrityState, Records
    from jury_judge.scores.score_export import ExportedScores
    from jury_judge.settings.debates import Selection


def write_scores(
    selection: "Selection", target: "ScoreTargetName", *, dry_run: bool, store_url: str | None, as_json: bool
) -> int:
    """Write scores, and print a line a debate; returns the exit code."""
    counts = Counter[str]()

    def take(one: "ExportedScores") -> None:
        counts[one.status] += 1
        if as_json:
            scores = {score.name: score.value for score in one.scores}
            print(json.dumps({**one._asdict(), "scores": scores, "dry_run": dry_run}, ensure_ascii=False))
        else:
            _print(one, dry_run=dry_run)

    try:
        call(_written(selection, target, store_url, dry_run=dry_run, take=take))
    finally:
        _note(counts, target, dry_run=dry_run)
    return Exit.INTEGRITY if counts["unreadable"] else Exit.DONE


async def _written(
    selection: "Selection",
    target: "ScoreTargetName",
    store_url: str | None,
    *,
    dry_run: bool,
    take: "Callable[[ExportedScores], None]",
) -> None:
    from jury_cli.judging import note_line

    async with (
        stored(store_url) as records,
        aclosing(records.export_scores(selection, target, dry_run=dry_run, say=note_line)) as found,
    ):
        async for one in found:
            take(one)


def _print(one: "ExportedScores", *, dry_run: bool) -> None:
    from jury_events.text import visible_line

    if one.status == "unchanged":
        return
    if one.detail is not None:
        said = "left out" if one.status == "left_out" else "unreadable"
        print(visible_line(f"{one.debate_id}: {said}: {one.detail}", 1000))
        return
    would = "would be " if dry_run else ""
    values = ", ".join(f"{score.name} {score.value}" for score in one.scores)
    print(visible_line(f"{one.debate_id}: {would}{one.status} on trace {one.trace_id}: {values}", 1000))
    if one.repeated:
        print(
            visible_line(
                f"{one.debate_id}: an earlier call ended before it recorded what it wrote: these scores may stand "
                f"twice on trace {one.trace_id}",
                1000,
            )
        )


def _note(counts: Counter[str], target: str, *, dry_run: bool) -> None:
    from jury_cli.terminal import note
    from jury_events.text import pluralize

    if not counts:
        return
    said = ", ".join(f"{number:,} {status.replace('_', ' ')}" for status, number in sorted(counts.items()))
    note(f"{target}: {pluralize(counts.total(), 'debate')}{': ' + said if said else ''}{', nothing written' * dry_run}")


@click.command("export")
@options(SELECTION)
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
    help="Write tables instead: debates, reasons, ballots, exchanges and labels as Parquet files (docs/python-api.md).",
)
@click.option(
    "--csv",
    "csv_output",
    metavar="FOLDER|FILE.csv|-",
    help="Write the same tables as CSV files; of FILE.csv or - (stdout) the debates alone.",
)
@click.option("--texts", is_flag=True, help="With --parquet or --csv: with the texts of cases, requests and answers.")
@click.option(
    "--seal-key",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Sign with this private key how long the streams of each debate are now, so that a cassette that was cut is "
    "refused by jury import --key.",
)
@click.option(
    "--to",
    "target",
    type=click.Choice(["langfuse", "mlflow", "otel"]),
    help="Write verdicts, scores and votes onto the traces that the debates judged instead (docs/traces.md).",
)
@click.option("--dry-run", is_flag=True, help="With --to: print what would be written; write nothing.")
@options(STORE)
@click.option("--json", "as_json", is_flag=True, help="Print what was written as JSON.")
def command(
    debate_ids: tuple[str, ...],
    *,
    run_id: str | None,
    everything: bool,
    where: tuple[str, ...],
    output: str | None,
    html: bool,
    parquet: Path | None,
    csv_output: str | None,
    texts: bool,
    seal_key: Path | None,
    target: "ScoreTargetName | None",
    dry_run: bool,
    store_url: str | None,
    as_json: bool,
) -> int:
    """Write each debate as a cassette: one file with every event, every text and the seal of its log.

    The same debate gives the same bytes; a cassette that is there is replaced when it differs. A debate that does not
    verify is not written, and the command exits with 5. The format is in docs/cassettes.md.

    With --html it is a page instead: everything whole, no script, nothing that is fetched. A debate that does not
    verify is written too; its page says what was altered, and the command exits with 5.

    With --parquet it is six tables of all debates, for pandas, polars, DuckDB or R; with --csv the same for
    spreadsheets. The same debates give the same bytes; texts are written with --texts only.

    With --to scores go to the tool that has the traces that were judged. A second call writes what changed alone.
    """
    from jury_judge.settings.debates import Selection

    selection = Selection.of(debate_ids=debate_ids, run_id=run_id, everything=everything, where=where)
    if target is not None:
        if html or output is not None or parquet is not None or csv_output is not None or seal_key is not None:
            raise click.UsageError("--to writes to a tool: leave --html, -o, --parquet, --csv and --seal-key out")

        return write_scores(selection, target, dry_run=dry_run, store_url=store_url, as_json=as_json)
    if dry_run:
        raise click.UsageError("--dry-run is about --to")
    _check_tables(parquet, csv_output, texts=texts, others=html or output is not None, as_json=as_json)
    if seal_key is not None and (html or parquet is not None or csv_output is not None):
        raise click.UsageError("--seal-key signs cassettes: leave --html, --parquet and --csv out")
    if parquet is not None:
        return _tables(selection, parquet, "parquet", texts=texts, store_url=store_url, as_json=as_json)
    if csv_output is not None:
        return _csv(selection, csv_output, texts=texts, store_url=store_url, as_json=as_json)
    one = len({*debate_ids}) == 1
    if output == "-" and (not one or as_json):
        raise click.UsageError("stdout takes one debate, without --json; name a folder with -o")
    if output == "-":
        return _to_stdout(store_url, debate_ids[0], html=html, seal_key=seal_key)
    return _files(selection, output or ".", html=html, seal_key=seal_key, store_url=store_url, as_json=as_json)


def _check_tables(parquet: Path | None, csv_output: str | None, *, texts: bool, others: bool, as_json: bool) -> None:
    """Refuse options that exclude each other; `others`: those of cassettes and pages."""
    tables = [name for name, given in (("--parquet", parquet), ("--csv", csv_output)) if given is not None]
    if len(tables) > 1:
        raise click.UsageError("--parquet and --csv exclude each other")
    if tables and others:
        raise click.UsageError(f"{tables[0]} names where the tables are written: leave --html and -o out")
    if texts and not tables:
        raise click.UsageError("--texts belongs to --parquet and --csv: cassettes and pages always have the texts")
    if parquet == Path("-"):
        raise click.UsageError("--parquet -: tables are several files; name a folder")
    if csv_output == "-" and as_json:
        raise click.UsageError("--csv - writes to stdout: leave --json out, or name a file or folder")


def _csv(selection: "Selection", output: str, *, texts: bool, store_url: str | None, as_json: bool) -> int:
    if output == "-" or output.lower().endswith(".csv"):
        return _debates(selection, output, texts=texts, store_url=store_url, as_json=as_json)
    return _tables(selection, Path(output), "csv", texts=texts, store_url=store_url, as_json=as_json)


def _tables(
    selection: "Selection",
    folder: Path,
    form: Literal["parquet", "csv"],
    *,
    texts: bool,
    store_url: str | None,
    as_json: bool,
) -> int:
    from jury_cli.terminal import Counting, note
    from jury_events.text import pluralize

    counting = Counting("debates exported")
    try:
        rows = read_from(
            store_url,
            lambda records: records.export_tables(selection, folder, form=form, texts=texts, progress=counting.reach),
        )
    finally:
        counting.close()
    if as_json:
        print(json.dumps({"output": str(folder), "rows": rows}, ensure_ascii=False))
    else:
        counted = ", ".join(pluralize(count, name.removesuffix("s")) for name, count in rows.items())
        note(f"{counted} written to {folder}")
    return Exit.DONE


def _debates(selection: "Selection", output: str, *, texts: bool, store_url: str | None, as_json: bool) -> int:
    """The table of debates alone, as CSV."""
    from jury_cli.terminal import Counting, note
    from jury_events.text import pluralize

    if output == "-":
        read_from(store_url, lambda records: records.export_debates(selection, sys.stdout.buffer, texts=texts))
        sys.stdout.buffer.flush()
        return Exit.DONE
    counting = Counting("debates exported")
    try:
        rows = read_from(
            store_url,
            lambda records: records.export_debates(selection, Path(output), texts=texts, progress=counting.reach),
        )
    finally:
        counting.close()
    if as_json:
        print(json.dumps({"output": output, "rows": {"debates": rows}}, ensure_ascii=False))
    else:
        note(f"{pluralize(rows, 'debate')} written to {output}")
    return Exit.DONE


def _to_stdout(store_url: str | None, debate_id: str, *, html: bool, seal_key: Path | None) -> int:
    from jury_cli.terminal import note

    if not html:
        content = read_from(store_url, lambda records: records.cassette(debate_id, key_file=seal_key, say=note))
        sys.stdout.buffer.write(content)
        return Exit.DONE
    page = read_from(store_url, lambda records: records.page(debate_id, _page, say=note))
    sys.stdout.buffer.write(page.content)
    return Exit.DONE if page.altered is None else Exit.INTEGRITY


def _page(history: "DebateHistory", state: "IntegrityState") -> Iterator[str]:
    from jury_web.pages.single_file import single_file

    return single_file(history, state, history.opened.panel.language)


def _files(
    selection: "Selection", output: str, *, html: bool, seal_key: Path | None, store_url: str | None, as_json: bool
) -> int:
    from jury_cli.terminal import Counting, note
    from jury_events.text import pluralize

    counting = Counting("debates exported")

    async def export(records: "Records") -> "ExportedFiles":
        if html:
            return await records.export_pages(selection, output, _page, progress=counting.reach, say=note)
        return await records.export_cassettes(selection, output, key_file=seal_key, progress=counting.reach, say=note)

    try:
        done = read_from(store_url, export)
    finally:
        counting.close()
    if as_json:
        fields = {"output": str(Path(output)), "written": done.written, "unchanged": done.unchanged}
        print(json.dumps(fields, ensure_ascii=False))
    elif done.written or done.unchanged:
        there = f", {done.unchanged:,} there already" if done.unchanged else ""
        note(f"{pluralize(done.written, 'page' if html else 'cassette')} written to {Path(output)}{there}")
    return max(Exit.INTEGRITY if done.altered else Exit.DONE, *map(code_of, done.refused), Exit.DONE)
