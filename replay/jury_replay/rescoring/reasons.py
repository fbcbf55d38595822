"""Why a result changes under a setting, in words."""

from collections import Counter

from jury_events.judgment import Decider, Judgment
from jury_events.panel import Bands, Panel
from jury_events.text import points_text
from jury_replay.rescoring.results import Result
from jury_replay.rescoring.settings import written


def reason(old: Result, new: Result) -> str:
    """The changes with the old values; "" where nothing changed.

    "ends after round 1 (consensus), was round 3 (max_rounds); median 64.5, was majority of 2 of 3, 70".
    """
    changes = []
    if (old.total_rounds, old.end_reason) != (new.total_rounds, new.end_reason):
        ending = "goes on after" if new.end_reason is None else "ends after"
        changes.append(f"{ending} {_ending(new)}, was {_ending(old)}")
    now, before = _decision(new), _decision(old)
    if now != before:
        changes.append(f"{now}, was {before}")
    return "; ".join(changes)


def _ending(result: Result) -> str:
    place = f"round {result.total_rounds}" if result.total_rounds else "phase 1"
    return f"{place} ({result.end_reason or 'beyond the record'})"


def _decision(result: Result) -> str:
    """What decided, with the mean that the score is rounded from."""
    judgment = result.judgment
    bands = result.panel.final.bands
    mean = "" if judgment.mean is None else points_text(judgment.mean, bands.pass_from, bands.review_from)
    match judgment.decided_by:
        case Decider.MAJORITY_VOTE:
            text = f"{_majority(judgment)}, {mean}"
            if judgment.judge_failure is not None:
                text += f" (no final judge: {judgment.judge_failure.value})"
        case Decider.WEIGHTED_AVERAGE:
            text = f"weighted average {mean}{_bands(result.panel)}"
        case Decider.MEDIAN:
            text = f"median {mean}{_bands(result.panel)}"
        case Decider.FINAL_JUDGE:
            text = f"final judge {mean}"
        case Decider.NO_EVALUATION:
            text = "no evaluation"
    text += _decided(judgment)
    match judgment.capped_by:
        case "quorum":
            text += f", capped: {judgment.quorum_votes} of a quorum of {judgment.quorum}"
        case "silence":
            text += f", capped: {len(judgment.silent)} of {len(judgment.votes)} seats silent"
    acceptance = judgment.acceptance
    if acceptance is not None and acceptance.probability is not None and not acceptance.accepted:
        text += (
            f", {acceptance.verdict.value} not accepted: {acceptance.probability:.6g} is below the threshold "
            f"{acceptance.threshold:.6g}"
        )
    return text


def _decided(judgment: Judgment) -> str:
    """What a panel with a scale of its own agreed on, and the critical criteria that fall short; else empty."""
    agreed = {None: "", "label": "", "outcome": ", by outcome", "nothing": ", undecided"}[judgment.agreed_on]
    text = agreed if judgment.label is None else f", {judgment.label}{agreed}"
    return text + "".join(
        f", {one.criterion} {points_text(one.points, one.least)} of at least {one.least:g}: {one.cap} at best"
        for one in judgment.shortfalls or ()
    )


def _majority(judgment: Judgment) -> str:
    if judgment.agreed_on == "label":
        words = Counter(vote.label for vote in judgment.votes if vote.position is not None)
        return f"majority of {max(words.values())} of {words.total()}"
    positions = [vote.position for vote in judgment.votes if vote.position is not None]
    largest = max(Counter(positions).values())
    return (
        f"majority of {largest} of {len(positions)}"
        if 2 * largest > len(positions)
        else f"no majority of {len(positions)}"
    )


def _bands(panel: Panel) -> str:
    bands = panel.final.bands
    return "" if bands == _USUAL else f" under the bands {written(bands)}"


_USUAL = Bands()
