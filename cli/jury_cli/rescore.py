"""`jury rescore`: the results of recorded debates under other settings."""

import json
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from jury_cli.calls import call, stored
from jury_cli.exits import Exit
from jury_cli.option_groups import options
from jury_cli.options import SELECTION, STORE, fields, one_form
from jury_cli.streams import note
from jury_cli.terminal import Counting, print_json
from jury_events.text import pluralize

if TYPE_CHECKING:
    from jury_judge import RescoreProblem, RescoreRow
    from jury_judge.settings.auditing import Rescoring

_PROBLEMS_SHOWN = 20


@click.command("rescore")
@options(SELECTION)
@click.option(
    "--set",
    "sets",
    metavar="KEY=VALUE[,VALUE...]",
    multiple=True,
    help="A setting, with every value to try, as threshold=0.67,1.0 or method=median. Several keys make a grid. "
    "docs/rescoring.md lists the keys.",
)
@click.option("--grid", "grid_file", metavar="FILE", help="Settings from a YAML file.")
@click.option("--recount", "recount", is_flag=True, help="Hold every recorded position fixed.")
@click.option("--parquet", metavar="FILE", help="Write every row to this file too.")
@click.option("--fail-on-flip", is_flag=True, help="Exit with 1 where a verdict changes.")
@options(STORE, fields("Rescoring"))
@click.option("--json", "as_json", is_flag=True, help="Print the tables as one JSON object.")
@click.option("--jsonl", "as_jsonl", is_flag=True, help="Print one JSON object a debate and setting.")
def command(
    *,
    sets: tuple[str, ...],
    grid_file: str | None,
    recount: bool,
    parquet: str | None,
    fail_on_flip: bool,
    store_url: str | None,
    processes: int | None,
    as_json: bool,
    as_jsonl: bool,
    **given: Any,
) -> int:
    """Compute the results of recorded debates under other settings. No model is called; the debates do not change.

    A debate is replayed with its recorded answers, each used only for the identical request; a result that needs
    another request is undetermined, and named. With --recount every recorded position is kept instead, and
    consensus, end and judgment are worked out again, which assumes an unchanged discussion.
    """
    from jury_judge.recorded_debates.grids import load_grid
    from jury_judge.settings.auditing import Rescoring
    from jury_judge.settings.debates import Selection

    form = one_form(as_json=as_json, as_jsonl=as_jsonl)
    asked = Rescoring.of(
        selection=Selection.of(**given),
        grid=load_grid(sets, grid_file),
        mode="recount" if recount else "strict",
        processes=processes,
    )
    report = _Output(asked, form=form)
    call(_rescored(store_url, asked, None if parquet is None else Path(parquet), report))
    report.finish()
    if report.problems:
        return Exit.INTEGRITY
    return Exit.FAILED_ON if fail_on_flip and any(table.flipped for table in report.tables) else Exit.DONE


async def _rescored(store_url: str | None, asked: "Rescoring", parquet: Path | None, report: "_Output") -> None:
    with Counting("debates rescored") as counting:
        async with stored(store_url) as records, aclosing(records.rescore_many(asked, parquet=parquet)) as found:
            async for one in found:
                counting.count()
                report.take(one)


class _Output:
    """Prints rows as they come; tables at the end."""

    def __init__(self, asked: "Rescoring", *, form: str) -> None:
        from jury_cli.views.rescoring import FLIPS_SHOWN
        from jury_judge import RescoreTable

        self.mode = asked.mode
        self.tables = [RescoreTable(setting.name) for setting in asked.grid.settings]
        self.debates = 0
        self.problems: list[RescoreProblem] = []
        self._form = form
        self._most = FLIPS_SHOWN
        self._flips: list[RescoreRow] = []

    def take(self, found: "list[RescoreRow] | RescoreProblem") -> None:
        """The rows of a debate, one a setting, or why it cannot be used."""
        if not isinstance(found, list):
            self._problem(found)
            return
        self.debates += 1
        for table, row in zip(self.tables, found, strict=True):
            table.take(row)
            if row.flipped and len(self._flips) < self._most:
                self._flips.append(row)
            if self._form == "jsonl":
                print(json.dumps(row._asdict(), ensure_ascii=False))

    def _problem(self, found: "RescoreProblem") -> None:
        """A debate that cannot be used; the first ones are named at once."""
        self.problems.append(found)
        if len(self.problems) <= _PROBLEMS_SHOWN:
            note(f"{found.debate_id}: {found.what}")

    def finish(self) -> None:
        if len(self.problems) > _PROBLEMS_SHOWN:
            note(
                f"and {len(self.problems) - _PROBLEMS_SHOWN:,} more debates that cannot be used; see jury verify --all"
            )
        if not self.debates and not self.problems:
            note("no debates in this store")
        if self._form == "json":
            print_json(self._object())
        elif self._form == "jsonl":
            flipped = sum(table.flipped for table in self.tables)
            note(f"{pluralize(self.debates, 'debate')}, {pluralize(len(self.tables), 'setting')}: {flipped:,} flipped")
        elif self.debates:
            self._print()

    def _object(self) -> dict[str, Any]:
        return {
            "mode": self.mode,
            "debates": self.debates,
            "settings": [table.as_json() for table in self.tables],
            "problems": [problem._asdict() for problem in self.problems],
        }

    def _print(self) -> None:
        from jury_cli.views.rescoring import flip_line, table_lines

        for line in table_lines(self.mode, self.tables):
            print(line)
        flipped = sum(table.flipped for table in self.tables)
        if flipped:
            print("\nflips:")
        for row in self._flips:
            print(f"  {flip_line(row, named=len(self.tables) > 1)}")
        if flipped > len(self._flips):
            print(f"  and {flipped - len(self._flips):,} more (--jsonl or --parquet shows all)")
