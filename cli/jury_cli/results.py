"""Results of a run as they come, from this process or from the one that executes it."""

import json
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from shutil import get_terminal_size
from textwrap import indent
from typing import TYPE_CHECKING, Any, Self

from jury_cli.event_loops import note_line, run_interruptibly
from jury_cli.exits import Exit
from jury_cli.options import Form
from jury_cli.streams import check_stdout, note
from jury_cli.terminal import ProgressDisplay
from jury_cli.views.result_line import result_lines_of
from jury_events.text import duration, pluralize, rate, visible_line
from jury_events.verdict import REVIEW
from jury_judge.report_files import write_report
from jury_judge.runs.following import followed
from jury_judge.runs.plan import RunPlan
from jury_judge.runs.run import RunOutcome, stop_cause
from jury_judge.settings.run import ReportSettings
from jury_views.reasons import NO_REASON
from jury_views.tally import (
    NO_QUORUM,
    NO_VERDICT,
    PARTLY_READ,
    SEAT_MISSING,
    ConditionResult,
    JudgedCase,
    KeptCases,
    Named,
    RunReport,
    Tally,
    judged_case,
)

if TYPE_CHECKING:
    from jury_judge import Finished


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


NOTHING_WANTED = ReportSettings()


def end_run(run_id: str, results: Results, outcome: RunOutcome, wanted: ReportSettings = NOTHING_WANTED) -> Exit:
    """Note the summary of a run, write its reports, and return its exit code."""
    results.finish()
    tally = results.tally
    judged = [condition.judge(tally.counts, tally.with_verdict) for condition in wanted.conditions]
    for line in (
        headline(run_id, tally, outcome),
        *_by_label(tally),
        *filter(None, [tally.often_without_verdict]),
        *course(outcome),
        *(f"{name}: {said}" for name, said in tally.against_labels.items()),
        *_partly_read(tally),
        *results.remarks(),
    ):
        note(line)
    for one in judged:
        note(f"fail if {one.says}")
    try:
        _write_reports(run_id, results, outcome, wanted, judged)
    finally:
        results.close()
    for line in outcome.left_out:
        note(line)
    return _code(run_id, tally, outcome, judged)


def headline(run_id: str, tally: Tally, outcome: RunOutcome) -> str:
    """How far the run is, and the verdicts; after a stop at once there are fewer results than judged debates."""
    if tally.finished == outcome.total:
        return f"run {run_id}: {tally.shares or 'no debates'}"
    done = outcome.before + outcome.now
    if outcome.total is None:
        said = f"run {run_id}: {pluralize(done, 'debate')} judged so far"
    else:
        said = f"run {run_id}: {done:,} of {pluralize(outcome.total, 'debate')} judged"
    if not tally.finished:
        return said
    if tally.finished == done:
        return f"{said}: {tally.shares}"
    return f"{said}; the {pluralize(tally.finished, 'result')} printed: {tally.shares}"


def course(outcome: RunOutcome) -> list[str]:
    """Duration, rate and cost; those of this session beside those of the whole run."""
    before = f"{pluralize(outcome.before, 'debate')} judged before, " if outcome.before else ""
    fast = rate(outcome.now, outcome.seconds)
    number = f"{outcome.now:,}" if outcome.now else "none"
    now = f"{number} now" if outcome.before else f"{pluralize(outcome.now, 'debate')} judged"
    took = f" in {duration(outcome.seconds)}" + (f" ({fast})" if fast else "") if outcome.now else ""
    lines = [f"{before}{now}{took}"]
    if outcome.run_spent is None:
        lines.append("calls, tokens and cost: unknown, the store could not be read")
    elif outcome.spent is None:
        lines.append(f"the run: {outcome.run_spent}")
    elif outcome.spent.calls < outcome.run_spent.calls:
        lines += [f"this command: {outcome.spent}", f"the run: {outcome.run_spent}"]
    else:
        lines.append(str(outcome.run_spent))
    return lines


def _by_label(tally: Tally) -> list[str]:
    return [f"by label: {tally.label_shares}"] if tally.labels else []


def _partly_read(tally: Tally) -> list[str]:
    found = tally.partly_read
    if not found.count:
        return []
    debates = f"{pluralize(found.count, 'debate')}: {found.names}"
    said = f"{PARTLY_READ}: parts of the record were refused or never answered usably, and their seats do not pass"
    return [f"{said}, in {debates}"]


def _write_reports(
    run_id: str, results: Results, outcome: RunOutcome, wanted: ReportSettings, judged: Sequence[ConditionResult]
) -> None:
    if not wanted.reports:
        return
    for problem in outcome.problems:
        results.cases.append(_unfinished(problem))
    report = RunReport(
        name=f"run {run_id}",
        cases=results.cases,
        tally=results.tally,
        total=outcome.total,
        seconds=outcome.seconds,
        spent="; ".join(course(outcome)),
        conditions=judged,
        failing={one.name for one in wanted.conditions if one.is_any},
        quotes=wanted.quotes,
    )
    if wanted.junit is not None:
        from jury_views.junit import junit

        write_report(wanted.junit, junit(report))
    if wanted.markdown is not None:
        from jury_views.markdown import markdown

        write_report(wanted.markdown, markdown(report))


def _unfinished(finished: "Finished") -> JudgedCase:
    """Its id ends with that of its case."""
    return JudgedCase(
        case_id=finished.debate_id.partition("~")[2] or finished.debate_id,
        debate_id=finished.debate_id,
        status="unfinished",
        problem=str(finished.problem),
    )


def _resumed(run_id: str, outcome: RunOutcome) -> str:
    """The command that goes on where the budget is used up."""
    than = "" if outcome.bounds is None else f" than {outcome.bounds}"
    return f"the same command with --run {run_id} and a higher bound{than}"


def _note_stopped(run_id: str, outcome: RunOutcome) -> None:
    """The debates that could not go on, by what resumes them."""
    stopped, bounded, lost = Named(), Named(), Named()
    kinds = {"budget": bounded, "budget_lost": lost, "other": stopped}
    for one in outcome.problems:
        kinds[stop_cause(one)].take(one.debate_id)
    if bounded.count:
        note(
            f"jury: the budget stopped {pluralize(bounded.count, 'debate')}: {bounded.names}; "
            f"{_resumed(run_id, outcome)} resumes {'it' if bounded.count == 1 else 'them'}"
        )
    if lost.count:
        note(
            f"jury: {pluralize(lost.count, 'debate')} could not go on: {lost.names}; the same command with "
            f"--run {run_id} and the same bound resumes the run"
        )
    for line in outcome.failed:
        note(f"jury: {line}")
    if stopped.count:
        note(
            f"jury: {pluralize(stopped.count, 'debate')} could not go on: {stopped.names}; mend the cause and call the "
            f"same command with --run {run_id}: it resumes the run"
        )


def _note_left(run_id: str, outcome: RunOutcome) -> None:
    """Why a part of a run is left, and how to go on with it."""
    waiting = outcome.waiting and f"jury: {outcome.waiting}; the same command with --run {run_id} goes on from here"
    if outcome.interrupted:
        _note_all(waiting)
        return
    short = outcome.short and f"jury: {outcome.short}; {_resumed(run_id, outcome)} goes on from here"
    cancelled = outcome.cancelled_by and f"jury: run {run_id} was cancelled by {outcome.cancelled_by}"
    if cancelled and outcome.total is not None:
        left = outcome.total - outcome.before - outcome.now
        cancelled += f"; {left:,} of its cases are left" + (f" (jury resume {run_id} reopens it)" if left else "")
    _note_all(short, cancelled, waiting)
    _note_stopped(run_id, outcome)
    if not (outcome.whole or short or cancelled or waiting or outcome.problems):
        rest = "some debates" if outcome.total is None else pluralize(outcome.total - outcome.lines, "debate")
        why = outcome.lost or f"{rest} of run {run_id} without a result"
        note(f"jury: {why}; the same command with --run {run_id} goes on from here")


def _note_all(*lines: str | None) -> None:
    for line in lines:
        if line:
            note(line)


def _code(run_id: str, tally: Tally, outcome: RunOutcome, judged: Sequence[ConditionResult]) -> Exit:
    """The first that applies: interrupted, stopped, failed, without a verdict. The reason goes to stderr."""
    _note_left(run_id, outcome)
    if outcome.interrupted:
        return Exit.INTERRUPTED
    if not outcome.whole or outcome.left_out:
        return Exit.STOPPED
    accepted = {one.condition.name for one in judged}
    elsewhere = "choose them with --case-id in a run of another name"
    lost = "ended without a verdict"
    if (cancelled := tally.ended_as["cancelled"]) and cancelled == tally.no_verdict.count:
        lost = "was cancelled" if cancelled == 1 else "were cancelled"
    again = f"jury resume {run_id} --again no_evaluation"
    if tally.ended_as["failed"]:
        again += " (not those whose texts were erased)"
    open_ones = [
        (named, what, how)
        for name, named, what, how in (
            (NO_VERDICT, tally.no_verdict, lost, again),
            (NO_QUORUM, tally.no_quorum, "had no quorum of jurors", elsewhere),
        )
        if named.count and name not in accepted
    ]
    for named, what, how in open_ones:
        note(
            f"jury: {pluralize(named.count, 'debate')} {what}: {named.names}; `jury show DEBATE` says why. "
            f"They are over: to judge such cases again, {how}"
        )
    silent = () if SEAT_MISSING in accepted else tally.silent_seats
    for seat in silent:
        debates = pluralize(tally.seated[seat], "debate")
        note(f"jury: {visible_line(seat, 100)} has a vote of its own in none of {debates}: `jury show DEBATE` says why")
    if any(one.met for one in judged):
        return Exit.FAILED_ON
    return Exit.NO_VERDICT if open_ones or silent else Exit.DONE
