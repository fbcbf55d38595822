"""Results of a run as they come, from this process or from the one that executes it."""

import json
import sys
from collections import Counter
from contextlib import closing
from shutil import get_terminal_size
from textwrap import indent
from typing import TYPE_CHECKING, Any, Self

from jury_cli.event_loops import note_line, run_interruptibly
from jury_cli.report_options import Form
from jury_cli.streams import check_stdout
from jury_cli.terminal import ProgressDisplay
from jury_cli.views.result_line import result_lines_of
from jury_events.text import pluralize
from jury_events.verdict import REVIEW
from jury_judge.runs.plan import RunPlan
from jury_judge.runs.run_watch import followed
from jury_views.reasons import NO_REASON
from jury_views.reports.tally import KeptCases, Tally, judged_case

if TYPE_CHECKING:
    from jury_judge.runs.run_watch import RunOutcome


class Results:
    """Takes the line of each debate (see `result_line`) in order and prints it.

    Args:
        form: the output form.
        keep: keep every case for a report, until `close`.
        reasons: say why each verdict came.
    """

    def __init__(self, form: Form, *, keep: bool = False, reasons: bool = True) -> None:
        self._reasons = reasons
        self._form = form
        self._columns = get_terminal_size().columns if sys.stdout.isatty() else None
        self._keep = keep
        self._others: Counter[tuple[str, str]] = Counter()
        self._absent: Counter[str] = Counter()
        self.tally = Tally()
        self.cases = KeptCases()
        self._kinds: Counter[str] = Counter()
        self._seats = self._not_asked = self._silenced = 0

    def take(self, line: dict[str, Any]) -> None:
        """Take the next line."""
        if not self._reasons:
            line |= NO_REASON
        case = judged_case(line)
        self.tally.take(case)
        if self._keep:
            self.cases.append(case)
        self._others.update({(other["asked"], other["answered"]) for other in line["model_mismatches"]})
        self._absent.update(
            juror for juror, vote in case.votes.items() if vote is None and juror not in case.partly_read
        )
        kinds = line["vote_kinds"] or {}
        # Of a seat with parts that were not read the run says so otherwise.
        self._kinds.update({kind for juror, kind in kinds.items() if juror not in case.partly_read})
        self._seats += len(kinds)
        self._silenced += line["capped_by"] == "silence"
        self._not_asked += sum(kind == "not_asked" for kind in kinds.values())
        if line["method"] == "final_judge" and line["decided_by"] == "majority_vote":
            self._absent["the final judge"] += 1
        match self._form:
            case "json":
                # As `json.dumps` of the whole list would write it; no text contains a line break.
                print("[" if self.taken == 1 else ",")
                print(indent(json.dumps(line, ensure_ascii=False, indent=2), "  "), end="", flush=True)
            case "jsonl":
                print(json.dumps(line, ensure_ascii=False), flush=True)
            case "plain":
                print(*result_lines_of(line, self._columns), sep="\n", flush=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        """After an error, a list that was begun is ended, so that it can be read."""
        if kind is not None:
            self.close()
            if self.taken:
                self.finish()

    def close(self) -> None:
        """Forget the cases."""
        self.cases.close()

    @property
    def taken(self) -> int:
        """How many lines were taken."""
        return self.tally.finished

    def finish(self) -> None:
        """Print the end of a list."""
        if self._form == "json":
            print("\n]" if self.taken else "[]")

    def remarks(self) -> list[str]:
        """Remarks on jurors and models that did not answer."""
        said = [
            f"{absent} gave no usable answer in {pluralize(debates, 'debate')}; `jury show` says why"
            for absent, debates in self._absent.items()
        ]
        said += [
            f"{what} in {pluralize(self._kinds[kind], 'debate')}; `jury show` says whose"
            for kind, what in (
                ("synthetic", "a provider's filter blocked an answer, and a neutral vote stands in,"),
                ("stale", "a seat gave no answer in the end, and its earlier vote stands,"),
            )
            if self._kinds[kind]
        ]
        said += [
            f"{answered} answered in {pluralize(debates, 'debate')} where {asked} was asked; see `jury show`"
            for (asked, answered), debates in sorted(self._others.items())
        ]
        if self._silenced:
            debates = pluralize(self._silenced, "debate")
            said.append(f"votes that passed became {REVIEW} in {debates}: they do not pass with silent seats counted")
        if self._not_asked:
            seats = pluralize(self._seats, "seat")
            said.append(f"{self._not_asked:,} of {seats} not asked: no answer of them could change what is decided")
        if self.tally.simulated:
            said.append(f"simulated jurors in {pluralize(self.tally.simulated, 'debate')}: no verdict of models")
        return said


def follow_run(planned: RunPlan, process: str, results: "Results", display: str) -> "RunOutcome":
    """Print the results of all cases of a run, in the order of its list, until the process ends.

    Ctrl-C ends the printing, and leaves the run going.

    Args:
        planned: the run.
        process: that executes it, as people name it.
        results: takes the line of each debate.
        display: how progress is shown.
    """
    url, run_id = planned.store_url, planned.run.run_id
    prices = planned.settings.price_list(planned.environ)
    note_line(f"run {run_id} goes on in process {process}; Ctrl-C leaves it going")
    with closing(ProgressDisplay(run_id, display)) as progress, followed(url, run_id, progress, prices) as following:

        async def print_results() -> None:
            async for line in following.lines():
                results.take(line)
                check_stdout("the run goes on")

        run_interruptibly(print_results)
        return following.outcome(results.taken)
