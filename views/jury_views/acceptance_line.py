"""Whether a calibrated panel's verdict may stand without a person, in one sentence."""

from jury_events.calibration import Acceptance
from jury_events.verdict import REVIEW
from jury_views.debate_labels import DebateLabels


def acceptance_line(acceptance: Acceptance, words: DebateLabels) -> str:
    """`accepted: share of the votes 1, threshold 0.778`.

    Args:
        acceptance: of the judgment.
        words: in which language.
    """
    if acceptance.probability is None:
        nothing = words.nothing_to_accept if acceptance.verdict is REVIEW else words.outcome_not_accepted
        return nothing.format(verdict=acceptance.verdict.value)
    signals = {
        "share": words.signal_share,
        "isotonic": words.signal_isotonic,
        "weights": words.signal_weights,
        "dawid_skene": words.signal_dawid_skene,
        "votes+step": words.signal_votes_step,
        "probability": words.signal_probability,
    }
    said = {
        "verdict": acceptance.verdict.value,
        "signal": signals[acceptance.signal],
        "probability": f"{acceptance.probability:.4g}",
        "threshold": f"{acceptance.threshold:.4g}",
    }
    if not acceptance.accepted:
        return words.not_accepted.format(**said)
    if acceptance.probability < acceptance.threshold:
        return words.accepted_unasked.format(**said)
    return words.accepted.format(**said)
