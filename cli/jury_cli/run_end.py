"""The end of a run: its summary on stderr, its reports and its exit code."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from jury_cli.exits import Exit
from jury_cli.results import Results
from jury_cli.terminal import note
from jury_events.text import duration, pluralize, rate, visible_line
from jury_judge.report_files import write_report
from jury_judge.runs.run_watch import RunOutcome, stop_cause
from jury_judge.settings.run import ReportSettings
from jury_views.reports.junit import junit
from jury_views.reports.markdown import markdown
from jury_views.reports.tally import (
    NO_QUORUM,
    NO_VERDICT,
    PARTLY_READ,
    SEAT_MISSING,
    ConditionResult,
    JudgedCase,
    Named,
    RunReport,
    Tally,
)

if TYPE_CHECKING:
    from jury_judge import Finished


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
    for path, form in ((wanted.junit, junit), (wanted.markdown, markdown)):
        if path is not None:
            write_report(path, form(report))


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
    open_ones = [
        (named, what, how)
        for name, named, what, how in (
            (NO_VERDICT, tally.no_verdict, "ended without a verdict", f"jury resume {run_id} --again no_evaluation"),
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
