"""The live figures of a run as lines."""

from collections import Counter
from collections.abc import Iterator

from jury_cli.views.run_progress import run_progress, run_state_text, run_verdicts
from jury_events.text import dollars, duration, pluralize, rate, visible_line
from jury_judge.running.live_run import LiveRun
from jury_judge.running.status_file import SeatFigures
from jury_judge.runs.spending import Spending


def live_line(live: LiveRun) -> str:
    """The figures that matter most, in one line."""
    recent = live.recent
    fast = rate(recent.debates_ended, recent.seconds)
    left = None if live.eta_seconds is None else f"about {duration(live.eta_seconds)} left"
    said = (fast, left, _spending(live).cost_text)
    return ", ".join((f"run {live.row.run_id}: {run_progress(live.row)}", *(one for one in said if one)))


def live_lines(live: LiveRun) -> Iterator[str]:
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
    yield f"spent      {_spending(live)}"
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


def _seat(seat: SeatFigures) -> str:
    if seat.calling is None or seat.waiting is None:
        calls = "does not answer now"
    else:
        by_provider = Counter(seat.calling)
        calls = ", ".join(f"{number} at {visible_line(name, 40)}" for name, number in by_provider.items()) or "idle"
        waiting = sum(seat.waiting.values())
        calls += f", {waiting} waiting for a permit" if waiting else ""
    return f"{pluralize(seat.steps, 'step')} asked, {seat.queued} queued: {calls}"


def _spending(live: LiveRun) -> Spending:
    return Spending.of_run(live.row, live.totals)
