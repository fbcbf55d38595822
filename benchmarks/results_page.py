"""`docs/results.md` from the figures of all sets."""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain

from recorded_results import CONFIDENCE, CertifiedStages, PanelResult, Promise, RoundsResult, SetResult, interval_of

from jury_analysis.estimate import Estimate
from jury_analysis.seat_value import SingleSeat

NONE = "–"
PAIR = 2
MOST = 5
"""Juries of a set that win, or lose, that are shown."""

INTRODUCTION = """\
# Results on public recorded judges

*Explanation, for people who ask what juries are worth.* Printed by `benchmarks/results.py`.

What a jury, a pair, a certified ladder and the best single judge do on judgements that others recorded and published,
beside labels of people (of the runs of agents: by construction). No model was called for this page, and nothing was
fetched. One command prints it from local files, which it knows by their SHA-256:

```console
uv run python benchmarks/results.py FOLDER
uv run python benchmarks/results.py FOLDER --check docs/results.md
```

Every figure below is printed by it. The files are conversions of the published data to JSON lines. Several sources
have no licence, so they are not distributed with Jury Judge; `benchmarks/results/` says which columns are read.
"""

READING = """\
## How to read the tables

- **right** is the share of all labelled cases; a case without a verdict is not right. **right where decided** is the
  share of the cases with a verdict. Brackets are 95 % intervals over clusters of cases that resemble each other
  ([statistics](statistics.md#how-to-read-a-figure)).
- **asked** is how many judges are asked a case. A pair gives a verdict where it agrees, or where only one of both has
  one; other cases go to a person. In a jury "third if needed" the third judge is asked only where the first two do
  not settle it ([early stop](rules.md#early-stop)); its verdict is that of all three, always.
- The **best single judge** is found in two ways ([seat value](seat-value.md)). *In hindsight* it
  is the most accurate one on the same labels, which flatters it. *Chosen apart* it is chosen on nine tenths of the
  clusters and counted on the last tenth, ten times.
- **beside the best** is the accuracy of the jury less that of its own best member, case by case. A jury *wins* if it
  beats the member in hindsight, and *loses* if it is worse than the one that was chosen apart, each by the whole
  interval. Everything else is open. With so many juries a few win or lose by chance.
- No price is known: no source recorded dollars. Judges asked are what a case costs.
"""

LIMITS = """\
## What these figures do not show

- The judges are of 2023 to 2025 and were prompted by others. Nothing here measures prompts, evidence or discussion of
  Jury Judge. The discussion is one of personas and temperatures of single models over multiple-choice questions.
- Labels of people are taken for the truth, also where one person labelled.
- The sets were seen before this page was made: panels that are named were chosen by hand. The counts over every three
  judges are not chosen.
- Juries of different providers' newest models may err more independently than these. Measure yours: `jury value`
  prints these figures of your own labelled cases.
"""


def page(found: Sequence[SetResult], discussed: Sequence[RoundsResult] = ()) -> str:
    """The page, as Markdown; `discussed`: the sets with rounds of discussion."""
    ordered = sorted(found, key=lambda one: -one.cases)
    parts = chain(
        [INTRODUCTION],
        _summary(ordered),
        [READING],
        _overview(ordered),
        *(_set(one) for one in ordered),
        *(_rounds(one) for one in discussed),
        [LIMITS],
        _files([*ordered, *discussed]),
    )
    return "\n".join(parts)


def _summary(found: Sequence[SetResult]) -> Iterator[str]:
    juries = [panel for one in found for panel in one.triples]
    wins, losses = sum(one.wins for one in juries), sum(one.loses for one in juries)
    yield (
        f"**In one paragraph.** Of {len(juries):,} juries of three, the majority is better than the best member in "
        f"{wins:,}, worse in {losses:,}, and in {len(juries) - wins - losses:,} the data do not say. Who wants the "
        "highest accuracy alone, and has labels to find the best judge with, is mostly served as well by that judge. "
        "What a jury has beyond a single judge is that it shows when it is unsure: where its members agree they are "
        "right more often, and on some sets a bound on that can be [certified](calibration.md).\n"
    )


def _overview(found: Sequence[SetResult]) -> Iterator[str]:
    yield "## Every three judges\n"
    yield "Each three judges of a set are a jury, compared with its own best member.\n"
    rows = []
    for one in found:
        gains = [panel.best.hindsight.gain.value or 0.0 for panel in one.triples]
        if not gains:
            continue
        judges = f"{len(one.judges)} are worth {_votes(one.effective)}"
        rows.append(
            (
                one.read.recorded.name,
                judges,
                f"{len(gains)}",
                f"{sum(panel.wins for panel in one.triples)}",
                f"{sum(panel.loses for panel in one.triples)}",
                f"{sum(gain > 0 for gain in gains)}",
                f"{_points(min(gains))} to {_points(max(gains))}",
            )
        )
    columns = (
        "set",
        "judges, in independent votes",
        "juries",
        "win",
        "lose",
        "right more often than the best in hindsight",
        "beside the best in hindsight",
    )
    yield _table(columns, rows)


def _set(found: SetResult) -> Iterator[str]:
    recorded = found.read.recorded
    yield f"## {recorded.name}\n"
    yield (
        f"{recorded.about} {found.cases:,} cases, {found.labelled:,} of them with a label, in {found.clusters:,} "
        f"{recorded.clusters}.\n"
    )
    yield _judges(found)
    yield _choices(found)
    yield from _agreeing(found)
    yield from _ladders(found)
    yield from _extremes(found)
    yield from _steps(found)


def _judges(found: SetResult) -> str:
    ranked = sorted(found.judges, key=lambda one: (-(one.accuracy.value or 0.0), one.seat or ""))
    rows = [(one.seat or "", _share(one.accuracy), _share(one.coverage, bounds=False)) for one in ranked]
    return _table(("judge alone", "right", "has a verdict"), rows)


def _choices(found: SetResult) -> str:
    everyone = found.everyone
    single = everyone.best
    chosen = ", ".join(f"{one.seat} {one.parts}×" for one in single.chosen)
    rows = [
        (f"best single judge, chosen apart ({chosen})", "1", NONE, NONE, _share(single.apart.accuracy), NONE),
        (
            f"best single judge in hindsight ({single.hindsight_seat})",
            "1",
            NONE,
            NONE,
            _share(single.hindsight.accuracy),
            NONE,
        ),
    ]
    for pair, panel in zip(found.pairs, found.panels, strict=True):
        first = " + ".join(panel.seats[:2])
        rows.append(_choice(f"pair {first}", "2", pair))
        rows.append(_choice(f"{first}, third if needed: {panel.seats[2]}", _asked(panel), panel))
    name = "pair of both" if len(everyone.seats) == PAIR else f"all {len(everyone.seats)}, asked while needed"
    rows.append(_choice(name, _asked(everyone), everyone))
    return _table(("who judges", "asked", "decided", "right where decided", "right", "beside the best, apart"), rows)


def _choice(name: str, asked: str, panel: PanelResult) -> tuple[str, ...]:
    verdicts = panel.verdicts
    return (
        name,
        asked,
        _share(verdicts.coverage, bounds=False),
        _share(verdicts.accuracy_of_decided),
        _share(verdicts.accuracy),
        _change(panel.best.apart.gain) if len(panel.seats) > PAIR else NONE,
    )


def _agreeing(found: SetResult) -> Iterator[str]:
    alike, right = found.unanimous
    who = "Both judges" if len(found.everyone.seats) == PAIR else f"All {len(found.everyone.seats)} judges"
    yield (
        f"{who} vote alike in {alike:,} of {found.labelled:,} labelled cases, and are right in {right:,} of these"
        + (f" ({right / alike:.1%}).\n" if alike else ".\n")
    )
    yield (
        f"What can be promised of verdicts of all judges, at a confidence of {CONFIDENCE:.0%} "
        "([calibration](calibration.md)):\n"
    )
    columns = ("signal", "wrong at most", "accepted", "wrong", "upper bound")
    yield _table(columns, [_promise(one) for one in found.promises])


def _promise(promise: Promise) -> tuple[str, ...]:
    name = {"share": "share of the votes", "votes+step": "votes and decisive step"}.get(promise.signal, promise.signal)
    risk = f"{promise.risk:.0%}"
    if promise.certificate is None:
        return (name, risk, "too few labels", NONE, NONE)
    certificate = promise.certificate
    if certificate.threshold is None:
        return (name, risk, "nothing can be promised", NONE, NONE)
    accepted = next(one for one in certificate.candidates if one.threshold == certificate.threshold)
    share = f"{accepted.accepted:,} of {certificate.units:,} ({accepted.accepted / certificate.units:.1%})"
    bound = f"{accepted.upper_bound:.1%}"
    return (f"{name}, from {certificate.threshold:.3g}", risk, share, f"{accepted.wrong:,}", bound)


def _ladders(found: SetResult) -> Iterator[str]:
    if not found.ladders:
        return
    yield (
        "**Certified [ladders](stages.md).** A case is decided by the first stage that accepts its verdict, else by "
        "the last. Of the passes that a stage accepts early, and of the fails, at most the given share is wrong, all "
        f"together at a confidence of {CONFIDENCE:.0%}. *Early* is the share of the cases that never come to the last "
        "stage, *missed* the share of the failing cases that are accepted early as a pass, *asked* how many judges are "
        "asked a case: a judge of two stages is asked twice. Thresholds, shares and intervals are of the same labels.\n"
    )
    columns = ("stages", "wrong at most", "early", "missed", "right", "last stage alone", "asked", "last stage alone")
    yield _table(columns, [_ladder(one, len(found.everyone.seats)) for one in found.ladders])


def _ladder(ladder: CertifiedStages, judges: int) -> tuple[str, ...]:
    stages = (f"all {judges}" if len(seats) == judges else " + ".join(seats) for seats in ladder.stages)
    name = "; then ".join(stages)
    risk = f"{ladder.risk:.0%}"
    if ladder.report is None:
        return (name, risk, "too few labels", *[NONE] * 5)
    use = ladder.report.use
    alone = (_share(use.full_accuracy), f"{use.full_calls:.2f}")
    if not ladder.report.accepts:
        return (name, risk, "nothing can be promised", NONE, NONE, alone[0], NONE, alone[1])
    early = (_share(use.early), _share(use.missed), _share(use.accuracy))
    return (name, risk, *early, alone[0], f"{use.calls:.2f}", alone[1])


def _extremes(found: SetResult) -> Iterator[str]:
    """Juries that lose to their best member, and those that beat it."""
    if len(found.everyone.seats) == PAIR:
        return
    juries = tuple({one.seats: one for one in (*found.triples, found.everyone)}.values())
    losing = sorted((one for one in juries if one.loses), key=lambda one: one.best.apart.gain.value or 0.0)
    winning = sorted((one for one in juries if one.wins), key=lambda one: -(one.best.hindsight.gain.value or 0.0))
    asked = f"of {len(juries):,} juries (every three judges, and all {len(found.everyone.seats)})"
    yield f"**Where the jury loses:** {len(losing):,} {asked} are worse than their best member.{_first(losing)}\n"
    if losing:
        yield _juries("best member, apart", [(one, one.best.chosen[0].seat, one.best.apart) for one in losing[:MOST]])
    yield f"**Where the jury wins:** {len(winning):,} {asked} are better than their best member.{_first(winning)}\n"
    if winning:
        best = [(one, one.best.hindsight_seat, one.best.hindsight) for one in winning[:MOST]]
        yield _juries("best member, in hindsight", best)


def _first(juries: Sequence[PanelResult]) -> str:
    return f" The {MOST} that differ most:" if len(juries) > MOST else ""


def _juries(column: str, compared: Sequence[tuple[PanelResult, str, SingleSeat]]) -> str:
    rows = [
        (
            " + ".join(one.seats) if len(one.seats) == 3 else f"all {len(one.seats)}",
            _share(one.verdicts.accuracy),
            f"{seat}: {_share(single.accuracy)}",
            _change(single.gain),
        )
        for one, seat, single in compared
    ]
    return _table(("jury", "right", column, "beside it"), rows)


def _steps(found: SetResult) -> Iterator[str]:
    if found.faults is None or found.messages is None:
        return
    faults, messages = found.faults, found.messages
    yield (
        f"**Where it went wrong.** {faults.faults:,} runs have a fault, {faults.silent:,} of these with a correct "
        f"outcome all the same; {faults.sound:,} have none. A rater finds a fault if its verdict does not pass; *step "
        "right* is the share of found faults at whose step it points, where it names one.\n"
    )
    rows = [
        (
            one.seat or f"jury of all {len(faults.seats)}",
            _share(one.found),
            _share(one.silent_found),
            _share(one.false_alarms),
            _share(one.message_exact),
        )
        for one in (*faults.seats, faults.panel)
    ]
    yield _table(("judge", "faults found", "silent ones found", "false alarms", "step right"), rows)
    yield (
        f"Where two judges or more name a step, all name the same one in {_share(messages.one_message)} of the runs; "
        f"the step that more of them name than any other is right in {_share(messages.plurality_right)} of "
        f"{messages.plurality_right.n:,}, and in {messages.majority_right.n:,} of these more than half of them name it "
        "([its signal](calibration.md#what-to-choose)).\n"
    )


def _rounds(found: RoundsResult) -> Iterator[str]:
    recorded = found.read.recorded
    yield f"## {recorded.name}\n"
    yield f"{recorded.about} {found.debates:,} debates over {found.clusters:,} {recorded.clusters}.\n"
    yield _table(
        ("after round", "decided", "right"),
        [(f"{one.round}", f"{one.decided:,}", _share(one.accuracy)) for one in found.report.rounds],
    )
    steps = [
        (
            f"{one.from_round} to {one.to_round}",
            _share(one.changed),
            f"{one.net_gain.wrong_to_right:,}",
            f"{one.net_gain.right_to_wrong:,}",
            _figure(one.net_gain.rate, _points, bounds=True),
        )
        for one in found.report.steps
    ]
    yield _table(("round", "positions changed", "became right", "became wrong", "net gain, points"), steps)
    yield f"The first votes of the seats are worth {_votes(found.effective)} independent ones.\n"


def _votes(effective: Estimate) -> str:
    return NONE if effective.value is None else f"{effective.value:.1f}"


def _files(found: Sequence[SetResult | RoundsResult]) -> Iterator[str]:
    yield "## Files\n"
    rows = [(one.read.recorded.name, f"`{one.read.recorded.file}`", f"`{one.read.recorded.sha256}`") for one in found]
    yield _table(("set", "file", "SHA-256"), rows)


def _asked(panel: PanelResult) -> str:
    return f"{len(panel.seats)}" if panel.asked is None else f"{panel.asked.votes:.2f}"


def _share(estimate: Estimate, *, bounds: bool = True) -> str:
    return _figure(estimate, lambda value: f"{value:.1%}", bounds=bounds)


def _change(estimate: Estimate) -> str:
    return _figure(estimate, _points, bounds=True)


def _figure(estimate: Estimate, shown: Callable[[float], str], *, bounds: bool) -> str:
    if estimate.value is None:
        return NONE
    interval = interval_of(estimate) if bounds else None
    return shown(estimate.value) + (f" [{shown(interval[0])}, {shown(interval[1])}]" if interval else "")


def _points(difference: float) -> str:
    """In percentage points, with a sign."""
    rounded = f"{100 * difference:+.1f}"
    return "0.0" if float(rounded) == 0 else rounded.replace("-", "−")


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"
