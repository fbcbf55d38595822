"""Runs as lines: what is on record of one, its figures while it is executed, and its progress."""

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from jury_events.text import dollars, duration, pluralize, rate, visible_line
from jury_events.verdict import Verdict

if TYPE_CHECKING:
    from jury_events.run_facts import RunFacts
    from jury_judge import RunHolder, RunRow
    from jury_judge.runs.live_run import LiveRun, RunState
    from jury_judge.runs.supervision import SeatFigures
    from jury_judge.runs.usage import RunUsage


def run_progress(run: "RunRow") -> str:
    """`12 of 123 debates over`; of a run whose size is not known, how many are over and how many were begun.

    None counts for its case in a run of which only an early stage was imported, or where all are in quarantine.
    """
    if not run.debates and not run.waiting and run.total is None:
        return "0 debates that count for their cases (see jury list --stage N, or --quarantined)"
    if run.total is not None:
        return f"{run.ended:,} of {pluralize(run.total, 'debate')} over"
    are = "is" if run.debates == 1 else "are"
    return f"{run.ended:,} of {pluralize(run.debates, 'debate')} begun so far {are} over"


def verdict_cells(run: "RunRow") -> tuple[tuple[str, ...], str]:
    """How many debates have each verdict, parted by commas; and how many ended without one or wait, "" if none did.

    Of a cancelled run also who cancelled it.
    """
    counts = [f"{getattr(run, verdict.value):,} {verdict.value}" for verdict in Verdict]
    others = (f", {number:,} {name}" for name in ("failed", "cancelled", "waiting") if (number := getattr(run, name)))
    by = f", cancelled by {visible_line(run.cancelled_by, 100)}" if run.cancelled_by else ""
    return (*(f"{one}," for one in counts[:-1]), counts[-1]), by + "".join(others)


def run_verdicts(run: "RunRow") -> str:
    """The same as one text."""
    verdicts, others = verdict_cells(run)
    return " ".join(verdicts) + others


def run_state_text(state: "RunState", holder: "RunHolder | None") -> str:
    """`complete`, or `running: process 12 on HOST since …`."""
    if holder is None:
        return state
    since = "" if holder.since is None else f" since {holder.since}"
    return f"running: {'detached ' if holder.detached else ''}process {holder.process}{since}"


def live_line(live: "LiveRun") -> str:
    """The figures that matter most, in one line."""
    recent = live.recent
    fast = rate(recent.debates_ended, recent.seconds)
    left = None if live.eta_seconds is None else f"about {duration(live.eta_seconds)} left"
    said = (fast, left, _usage(live).cost_text)
    return ", ".join((f"run {live.row.run_id}: {run_progress(live.row)}", *(one for one in said if one)))


def live_lines(live: "LiveRun") -> Iterator[str]:
    """All figures."""
    recent = live.recent
    yield f"run {live.row.run_id}: {run_progress(live.row)}, {run_state_text(live.state, live.holder)}"
    begun = ", ".join(f"{number} {phase}" for phase, number in live.phases.items() if number) or "none in flight"
    ahead = "" if live.not_begun is None else f", {live.not_begun} not begun"
    yield f"debates    {begun}{ahead}"
    yield f"verdicts   {run_verdicts(live.row)}"
    ended = rate(recent.debates_ended, recent.seconds) or "none ended"
    eta = live.eta_reason if live.eta_seconds is None else f"about {duration(live.eta_seconds)}"
    yield f"rate       {ended} in the last {recent.seconds:.0f} s; time left: {eta}"
    yield f"spent      {_usage(live)}"
    yield (
        f"lately     {pluralize(recent.calls, 'call')}, {recent.retries} after a failed one, "
        f"{pluralize(recent.abstentions, 'abstention')}"
    )
    if (wave := live.batches) is not None:
        calls = ", ".join(f"{number:,} {stage}" for stage, number in wave.calls.items())
        yield (
            f"batches    wave {wave.wave}: {pluralize(wave.batches, 'batch', 'batches')} since {wave.since}, "
            f"calls: {calls}, at most {dollars(wave.most)}"
        )
    for one in recent.providers:
        slowest = "  (slowest)" if len(recent.providers) > 1 and one.provider == recent.slowest_provider else ""
        failed = f", {one.failed} failed" if one.failed else ""
        yield (
            f"  {visible_line(one.provider, 40)}  {pluralize(one.calls, 'call')}{failed}, mean "
            f"{one.mean_latency:.2f} s, longest {one.longest_latency:.2f} s{slowest}"
        )
    if live.process is None:
        yield f"in memory  not known: {live.process_reason}"
        return
    process = live.process
    yield (
        f"in memory  {pluralize(process.debates, 'debate')}, {pluralize(process.calling, 'call')} in flight, "
        f"{process.waiting} waiting for a permit, {pluralize(process.appends, 'append')} to store"
    )
    for seat in process.seats:
        yield f"  {'final judge' if seat.juror_id is None else visible_line(seat.juror_id, 40)}  {_seat(seat)}"


def _seat(seat: "SeatFigures") -> str:
    if seat.calling is None or seat.waiting is None:
        calls = "does not answer now"
    else:
        by_provider = Counter(seat.calling)
        calls = ", ".join(f"{number} at {visible_line(name, 40)}" for name, number in by_provider.items()) or "idle"
        waiting = sum(seat.waiting.values())
        calls += f", {waiting} waiting for a permit" if waiting else ""
    return f"{pluralize(seat.steps, 'step')} asked, {seat.queued} queued: {calls}"


def _usage(live: "LiveRun") -> "RunUsage":
    from jury_judge.runs.usage import RunUsage

    return RunUsage.of_run(live.row, live.totals)


def run_facts_lines(facts: "RunFacts") -> Iterator[str]:
    """The run in a few lines: who judges, how much is listed, and how it stands."""
    opened = facts.opened
    seats = ", ".join(f"{one.juror_id} ({one.model})" for one in opened.panel.seats)
    complete = "" if facts.complete else "; the list is not complete"
    yield f"run {opened.run_id}: {pluralize(facts.listed, 'debate')} listed{complete}"
    yield f"  panel    {visible_line(f'{opened.panel.name}: {seats}', 300)}"
    if opened.ladder is not None:
        yield f"  ladder   {opened.ladder.digest[:16]}, whose first stage this is"
    for one in opened.endpoints:
        at = ", ".join(f"{name} {value}" for name, value in one.said.items())
        yield f"  reached  {visible_line(f'{one.provider}: {at}', 300)}"
    if opened.repeats > 1:
        yield f"  repeats  {opened.repeats} debates a case"
    if bounds := facts.budget.words:
        yield f"  budget   {bounds}"
    yield f"  by       {visible_line(opened.by, 100)}, with {visible_line(opened.program, 100)}"
    if facts.cancelled_by is not None:
        yield f"  state    cancelled by {visible_line(facts.cancelled_by, 100)}"
    if (ended := facts.ended) is not None:
        others = "".join(
            f", {count:,} {name}" for name, count in (("failed", ended.failed), ("cancelled", ended.cancelled)) if count
        )
        yield f"  ended    {ended.completed:,} completed{others}; {pluralize(ended.calls, 'call')}, ${ended.cost:.4f}"


def run_facts_object(facts: "RunFacts") -> dict[str, Any]:
    """The same as JSON, with the whole panel."""
    return {
        **facts.opened.model_dump(mode="json", exclude={"type", "budget"}),
        "budget": facts.budget.model_dump(mode="json"),
        "listed": facts.listed,
        "complete": facts.complete,
        "cancelled_by": facts.cancelled_by,
        "ended": None if facts.ended is None else facts.ended.model_dump(mode="json", exclude={"type", "number"}),
    }
