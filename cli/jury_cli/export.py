"""Debates written as cassettes, pages, tables or scores: jury export."""

import json
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from jury_cli.calls import call, read_from, stored
from jury_cli.exits import Exit, code_of
from jury_cli.option_groups import options
from jury_cli.options import debate_ids, fields
from jury_cli.streams import note
from jury_cli.terminal import Counting
from jury_events.text import pluralize, visible_line

if TYPE_CHECKING:
    from jury_events.debate_history import DebateHistory
    from jury_judge import ExportedFiles, IntegrityState, Records
    from jury_judge.scores.score_export import ExportedScores
    from jury_judge.settings.debates import ExportSettings


@click.command("export")
@click.argument("debate_ids", metavar="[DEBATE]...", nargs=-1, callback=debate_ids)
@options(fields("Selection"))
@click.option(
    "-o",
    "--output",
    metavar="FOLDER|FILE|-",
    help="Where to: a folder, made where it is missing; for one debate a file, or - for stdout. [default: this folder]",
)
@options(fields("ExportSettings", of_its_own=True))
def command(**given: Any) -> int:
    """Write each debate as a cassette: one file with every event, every text and the seal of its log.

    The same debate gives the same bytes; a cassette that is there is replaced when it differs. A debate that does not
    verify is not written, and the command exits with 5. The format is in docs/cassettes.md.

    With --html it is a page instead: everything whole, no script, nothing that is fetched. A debate that does not
    verify is written too; its page says what was altered, and the command exits with 5.

    With --parquet it is six tables of all debates, for pandas, polars, DuckDB or R; with --csv the same for
    spreadsheets. The same debates give the same bytes; texts are written with --texts only.

    With --to scores go to the tool that has the traces that were judged. A second call writes what changed alone.
    """
    from jury_judge.settings.debates import ExportSettings

    asked = ExportSettings.of(**given)
    if asked.target is not None:
        return _scores(asked)
    if asked.parquet is not None:
        return _tables(asked, asked.parquet, "parquet")
    if asked.csv is not None:
        alone = asked.csv == "-" or asked.csv.lower().endswith(".csv")
        return _debates(asked, asked.csv) if alone else _tables(asked, Path(asked.csv), "csv")
    return _to_stdout(asked) if asked.output == "-" else _files(asked, asked.output or ".")


def _scores(asked: "ExportSettings") -> int:
    from jury_cli.event_loops import note_line

    counts = Counter[str]()

    async def write() -> None:
        assert asked.target is not None
        async with (
            stored(asked.store_url) as records,
            aclosing(records.export_scores(asked, asked.target, dry_run=asked.dry_run, say=note_line)) as found,
        ):
            async for one in found:
                counts[one.status] += 1
                _print_scores(one, asked)

    try:
        call(write())
    finally:
        if counts:
            said = ", ".join(f"{number:,} {status.replace('_', ' ')}" for status, number in sorted(counts.items()))
            note(f"{asked.target}: {pluralize(counts.total(), 'debate')}: {said}{', nothing written' * asked.dry_run}")
    return Exit.INTEGRITY if counts["unreadable"] else Exit.DONE


def _print_scores(one: "ExportedScores", asked: "ExportSettings") -> None:
    if asked.as_json:
        scores = {score.name: score.value for score in one.scores}
        print(json.dumps({**one._asdict(), "scores": scores, "dry_run": asked.dry_run}, ensure_ascii=False))
        return
    if one.status == "unchanged":
        return
    if one.detail is not None:
        lines = [f"{'left out' if one.status == 'left_out' else 'unreadable'}: {one.detail}"]
    else:
        values = ", ".join(f"{score.name} {score.value}" for score in one.scores)
        lines = [f"{'would be ' * asked.dry_run}{one.status} on trace {one.trace_id}: {values}"]
    if one.repeated:
        lines.append(
            "an earlier call ended before it recorded what it wrote: these scores may stand twice on trace "
            f"{one.trace_id}"
        )
    for line in lines:
        print(visible_line(f"{one.debate_id}: {line}", 1000))


def _tables(asked: "ExportSettings", folder: Path, form: Literal["parquet", "csv"]) -> int:
    with Counting("debates exported") as counting:
        rows = read_from(
            asked.store_url,
            lambda records: records.export_tables(asked, folder, form=form, texts=asked.texts, progress=counting.reach),
        )
    if asked.as_json:
        print(json.dumps({"output": str(folder), "rows": rows}, ensure_ascii=False))
    else:
        counted = ", ".join(pluralize(count, name.removesuffix("s")) for name, count in rows.items())
        note(f"{counted} written to {folder}")
    return Exit.DONE


def _debates(asked: "ExportSettings", output: str) -> int:
    """The table of debates alone, as CSV."""
    if output == "-":
        read_from(asked.store_url, lambda records: records.export_debates(asked, sys.stdout.buffer, texts=asked.texts))
        sys.stdout.buffer.flush()
        return Exit.DONE
    with Counting("debates exported") as counting:
        rows = read_from(
            asked.store_url,
            lambda records: records.export_debates(asked, Path(output), texts=asked.texts, progress=counting.reach),
        )
    if asked.as_json:
        print(json.dumps({"output": output, "rows": {"debates": rows}}, ensure_ascii=False))
    else:
        note(f"{pluralize(rows, 'debate')} written to {output}")
    return Exit.DONE


def _to_stdout(asked: "ExportSettings") -> int:
    (debate_id,) = {*asked.debate_ids}
    if not asked.html:
        content = read_from(
            asked.store_url, lambda records: records.cassette(debate_id, key_file=asked.seal_key, say=note)
        )
        sys.stdout.buffer.write(content)
        return Exit.DONE
    page = read_from(asked.store_url, lambda records: records.page(debate_id, _page, say=note))
    sys.stdout.buffer.write(page.content)
    return Exit.DONE if page.altered is None else Exit.INTEGRITY


def _page(history: "DebateHistory", state: "IntegrityState") -> Iterator[str]:
    from jury_web.pages.debate_page import single_file

    return single_file(history, state, history.opened.panel.language)


def _files(asked: "ExportSettings", output: str) -> int:
    async def export(records: "Records") -> "ExportedFiles":
        if asked.html:
            return await records.export_pages(asked, output, _page, progress=counting.reach, say=note)
        return await records.export_cassettes(asked, output, key_file=asked.seal_key, progress=counting.reach, say=note)

    with Counting("debates exported") as counting:
        done = read_from(asked.store_url, export)
    if asked.as_json:
        fields = {"output": str(Path(output)), "written": done.written, "unchanged": done.unchanged}
        print(json.dumps(fields, ensure_ascii=False))
    elif done.written or done.unchanged:
        there = f", {done.unchanged:,} there already" if done.unchanged else ""
        note(f"{pluralize(done.written, 'page' if asked.html else 'cassette')} written to {Path(output)}{there}")
    return max(Exit.INTEGRITY if done.altered else Exit.DONE, *map(code_of, done.refused), Exit.DONE)
