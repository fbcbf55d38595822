"""How simulated jurors argue: whom they believe, when they give way, and how a final judge weighs them all."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from jury_actors.providers.simulated.document import MARK
from jury_actors.providers.simulated.evaluation import BANDS, Temper, clear, towards, verdict_of
from jury_actors.providers.simulated.excerpts import supported
from jury_actors.providers.simulated.prompt import Block
from jury_debate.datamark import unmark
from jury_events.verdict import Verdict

_APART = 8.0
_SURE = 0.55
_OPEN = 0.6
_RANK = {Verdict.UNSAFE_FAIL.value: 0, Verdict.NEEDS_REVIEW.value: 1, Verdict.SAFE_PASS.value: 2}


class Peer(NamedTuple):
    """A juror's latest word, and the quotations in it that the record bears out."""

    block: Block
    quotes: tuple[str, ...]


class Turn(NamedTuple):
    """Where an argument leads: the score, what is said (a key of the phrases) and about whom."""

    score: float
    key: str
    letters: tuple[str, ...] = ()
    quote: str = ""
    verdict: str = ""


def latest(blocks: Sequence[Block], record: str) -> tuple[Peer, ...]:
    """The latest word of each juror, in the order of their letters."""
    newest: dict[str, Block] = {}
    for block in blocks:
        newest[block.letter] = block
    return tuple(
        Peer(block, supported(unmark(block.said, MARK), record))
        for _, block in sorted(newest.items(), key=lambda item: (len(item[0]), item[0]))
    )


def respond(score: float, own_said: str, own_confidence: float, peers: Sequence[Peer], temper: Temper) -> Turn:
    """Answer the others: give way to evidence first, then to a calmer majority, and else stay.

    Args:
        score: the seat's own so far.
        own_said: the seat's own latest words, "" where it has none.
        own_confidence: with which it holds its position.
        peers: the others.
        temper: how open the seat is.
    """
    if not peers:
        return Turn(score, "alone")
    return (
        _give_way(score, own_said, peers, temper)
        or _calm_down(score, own_confidence, peers, temper)
        or _stay(score, peers)
    )


def _give_way(score: float, own_said: str, peers: Sequence[Peer], temper: Temper) -> Turn | None:
    """To a confident peer that scores lower and shows why: at once to what this seat has not spoken of, and to another
    reading of what it has only if it is open enough."""
    graver = [
        (peer.block.confidence * (score - peer.block.score), peer)
        for peer in peers
        if peer.block.score < score - _APART and peer.block.confidence >= _SURE and peer.quotes
    ]
    if not graver:
        return None
    _, peer = max(graver, key=lambda found: found[0])
    new = next((quote for quote in peer.quotes if quote not in own_said), None)
    quote, letters, verdict = new or peer.quotes[0], (peer.block.letter,), peer.block.verdict
    if new is None and temper.openness < _OPEN:
        if verdict == verdict_of(score).value:
            return None
        return Turn(score, "unmoved", letters, quote, verdict)
    moved = towards(score, peer.block.score, (0.25 + 0.5 * temper.openness) * peer.block.confidence)
    if verdict_of(moved) is verdict_of(score):
        return Turn(moved, "drawn", letters, quote, verdict)
    return Turn(moved, "convinced" if new else "weighed", letters, quote, verdict)


def _calm_down(score: float, own_confidence: float, peers: Sequence[Peer], temper: Temper) -> Turn | None:
    """To a milder majority that is at least as sure, where nothing severe of its own holds the seat back."""
    mine = _RANK[verdict_of(score).value]
    milder = [peer.block for peer in peers if _RANK.get(peer.block.verdict, mine) > mine]
    if score < BANDS.needs_review or 2 * len(milder) <= len(peers):
        return None
    sure = sum(block.confidence for block in milder) / len(milder)
    if sure + 0.2 * temper.openness < own_confidence:
        return None
    mean = sum(block.score for block in milder) / len(milder)
    moved = towards(score, mean, 0.2 + 0.5 * temper.openness)
    changed = verdict_of(moved) is not verdict_of(score)
    return Turn(moved, "reassured" if changed else "softened", tuple(block.letter for block in milder))


def _stay(score: float, peers: Sequence[Peer]) -> Turn:
    verdict = verdict_of(score).value
    for peer in peers:
        if peer.block.verdict != verdict:
            return Turn(score, "disagree", (peer.block.letter,), verdict=peer.block.verdict)
    return Turn(score, "agree", tuple(peer.block.letter for peer in peers))


def judge(own: float, peers: Sequence[Peer]) -> tuple[float, list[Turn]]:
    """The final judge's score and what it says of the jurors.

    Positions weigh by confidence, and double where the record bears their quotations out; a grave one that is so
    borne out keeps the case from passing.
    """
    if not peers:
        return own, [Turn(own, "judge_alone")]
    weights = [max(0.05, peer.block.confidence) * (2 if peer.quotes else 1) for peer in peers]
    mean = sum(one * peer.block.score for one, peer in zip(weights, peers, strict=True)) / sum(weights)
    score = 0.3 * own + 0.7 * mean
    grave = [peer for peer in peers if peer.block.score < BANDS.needs_review and peer.quotes and _sure(peer)]
    if grave and score >= BANDS.safe_pass:
        score = BANDS.safe_pass - _APART
    score = clear(score)
    verdict = verdict_of(score).value
    said = Counter(peer.block.verdict for peer in peers)
    followed = [peer for peer in peers if peer.block.verdict == verdict and peer.quotes]
    turns = []
    if len(said) == 1 and verdict in said:
        turns.append(Turn(score, "judge_agreed", verdict=verdict))
    elif len(said) > 1:
        turns.append(Turn(score, "judge_split", verdict=", ".join(f"{name} {said[name]}" for name in sorted(said))))
    if followed:
        best = max(followed, key=lambda peer: peer.block.confidence)
        turns.append(Turn(score, "judge_follow", (best.block.letter,), best.quotes[0]))
    rejected = [peer for peer in peers if peer.block.verdict != verdict]
    if rejected:
        far = max(rejected, key=lambda peer: abs(peer.block.score - score))
        turns.append(Turn(score, "judge_reject", (far.block.letter,), verdict=far.block.verdict))
    return score, turns


def _sure(peer: Peer) -> bool:
    return peer.block.confidence >= _SURE
