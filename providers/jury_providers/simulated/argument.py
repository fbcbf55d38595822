"""How simulated jurors respond to peers, and how a simulated final judge weighs all positions."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from jury_debate.marking import unmark
from jury_providers.simulated.evaluation import Disposition, clear, towards
from jury_providers.simulated.excerpts import excerpt, supported
from jury_providers.simulated.peer_evidence import PeerQuotation
from jury_providers.simulated.prompt import PeerBlock
from jury_providers.simulated.shown_scale import ShownScale

_APART = 8.0
_SURE = 0.55
_OPEN = 0.6
_UNFOUNDED = 0.75
"""How much of a position's weight remains for each quotation of it that stands nowhere."""


class Peer(NamedTuple):
    """A juror's latest position, and its quotations that occur in the record."""

    block: PeerBlock
    quotes: tuple[str, ...]

    @property
    def unfounded(self) -> tuple[PeerQuotation, ...]:
        """Its quotations that the check found nowhere."""
        return tuple(one for one in self.block.evidence.quotations if one.result == "not_found")

    @property
    def weight(self) -> float:
        """Its confidence, less where a quotation stands nowhere."""
        return self.block.confidence * _UNFOUNDED ** len(self.unfounded)


class ArgumentStep(NamedTuple):
    """The result of one argument: the new score, a phrase's key, and the jurors that it mentions."""

    score: float
    key: str
    letters: tuple[str, ...] = ()
    quote: str = ""
    verdict: str = ""


def latest(blocks: Sequence[PeerBlock], record: str, mark: str, scale: ShownScale) -> tuple[Peer, ...]:
    """The latest position of each juror, in the order of their letters; `mark` begins the lines of judged text."""
    newest: dict[str, PeerBlock] = {}
    for block in blocks:
        newest[block.letter] = block
    return tuple(
        Peer(
            block, tuple(dict.fromkeys((*supported(unmark(block.said, mark), record), *_evident(block, record, scale))))
        )
        for _, block in sorted(newest.items(), key=lambda item: (len(item[0]), item[0]))
    )


def _evident(block: PeerBlock, record: str, scale: ShownScale) -> tuple[str, ...]:
    """Its quotations that speak for its verdict and stand where it says, as far as they can be said in a sentence."""
    says = "for" if scale.is_favourable(block.verdict) else "against"
    quotes = (excerpt(one.quote, "") for one in block.evidence.quotations if one.supports and one.says == says)
    return tuple(quote for quote in quotes if quote and quote in record)


def respond(
    score: float,
    own_said: str,
    own_confidence: float,
    peers: Sequence[Peer],
    disposition: Disposition,
    *,
    scale: ShownScale,
) -> ArgumentStep:
    """Respond to the peers: yield to evidence, else to a milder majority, else keep the position.

    Args:
        score: the seat's current score.
        own_said: the seat's latest words, "" if none.
        own_confidence: its confidence.
        peers: the other jurors' positions.
        disposition: the seat's openness.
        scale: the verdict words.
    """
    if not peers:
        return ArgumentStep(score, "alone")
    return (
        _give_way(score, own_said, peers, disposition, scale)
        or _calm_down(score, own_confidence, peers, disposition, scale)
        or _stay(score, peers, scale)
    )


def _give_way(
    score: float, own_said: str, peers: Sequence[Peer], disposition: Disposition, scale: ShownScale
) -> ArgumentStep | None:
    """Move towards a confident peer with a lower score and quotations: always for a quotation that is new to this seat,
    for a known one only if the seat is open enough."""
    graver = [
        (peer.weight * (score - peer.block.score), peer)
        for peer in peers
        if peer.block.score < score - _APART and _sure(peer) and peer.quotes
    ]
    if not graver:
        return None
    _, peer = max(graver, key=lambda found: found[0])
    new = next((quote for quote in peer.quotes if quote not in own_said), None)
    quote, letters, verdict = new or peer.quotes[0], (peer.block.letter,), peer.block.verdict
    if new is None and disposition.openness < _OPEN:
        if verdict == scale.word(score):
            return None
        return ArgumentStep(score, "unmoved", letters, quote, verdict)
    moved = towards(score, peer.block.score, (0.25 + 0.5 * disposition.openness) * peer.weight, scale.edges)
    if scale.word(moved) == scale.word(score):
        return ArgumentStep(moved, "drawn", letters, quote, verdict)
    return ArgumentStep(moved, "convinced" if new else "weighed", letters, quote, verdict)


def _calm_down(
    score: float, own_confidence: float, peers: Sequence[Peer], disposition: Disposition, scale: ShownScale
) -> ArgumentStep | None:
    """Move towards a milder majority that is at least as confident, unless the seat's own position is severe."""
    mine = scale.words.index(scale.word(score))
    milder = [peer for peer in peers if (scale.rank(peer.block.verdict) or 0) > mine]
    if score < scale.grave_below or 2 * len(milder) <= len(peers):
        return None
    sure = sum(peer.weight for peer in milder) / len(milder)
    if sure + 0.2 * disposition.openness < own_confidence:
        return None
    mean = sum(peer.block.score for peer in milder) / len(milder)
    moved = towards(score, mean, 0.2 + 0.5 * disposition.openness, scale.edges)
    changed = scale.word(moved) != scale.word(score)
    return ArgumentStep(moved, "reassured" if changed else "softened", tuple(peer.block.letter for peer in milder))


def _stay(score: float, peers: Sequence[Peer], scale: ShownScale) -> ArgumentStep:
    verdict = scale.word(score)
    apart = [peer for peer in peers if peer.block.verdict != verdict]
    for peer in apart:
        quote = next((quote for one in peer.unfounded if (quote := excerpt(one.quote, ""))), "")
        if quote:
            return ArgumentStep(score, "unfounded", (peer.block.letter,), quote, peer.block.verdict)
    if apart:
        return ArgumentStep(score, "disagree", (apart[0].block.letter,), verdict=apart[0].block.verdict)
    return ArgumentStep(score, "agree", tuple(peer.block.letter for peer in peers))


def judge(own: float, peers: Sequence[Peer], scale: ShownScale) -> tuple[float, list[ArgumentStep]]:
    """The final judge's score and its remarks about the jurors.

    Positions are weighted by confidence, doubled if their quotations occur in the record, less for each one that stands
    nowhere; a confident severe position with quotations of the record prevents a pass.
    """
    if not peers:
        return own, [ArgumentStep(own, "judge_alone")]
    weights = [max(0.05, peer.weight) * (2 if peer.quotes else 1) for peer in peers]
    mean = sum(one * peer.block.score for one, peer in zip(weights, peers, strict=True)) / sum(weights)
    score = 0.3 * own + 0.7 * mean
    grave = [peer for peer in peers if peer.block.score < scale.grave_below and peer.quotes and _sure(peer)]
    if grave and score >= scale.favourable_from:
        score = scale.favourable_from - _APART
    score = clear(score, scale.edges)
    verdict = scale.word(score)
    said = Counter(peer.block.verdict for peer in peers)
    followed = [peer for peer in peers if peer.block.verdict == verdict and peer.quotes]
    turns = []
    if len(said) == 1 and verdict in said:
        turns.append(ArgumentStep(score, "judge_agreed", verdict=verdict))
    elif len(said) > 1:
        turns.append(
            ArgumentStep(score, "judge_split", verdict=", ".join(f"{name} {said[name]}" for name in sorted(said)))
        )
    if followed:
        best = max(followed, key=lambda peer: peer.block.confidence)
        turns.append(ArgumentStep(score, "judge_follow", (best.block.letter,), best.quotes[0]))
    rejected = [peer for peer in peers if peer.block.verdict != verdict]
    if rejected:
        far = max(rejected, key=lambda peer: abs(peer.block.score - score))
        turns.append(ArgumentStep(score, "judge_reject", (far.block.letter,), verdict=far.block.verdict))
    return score, turns


def _sure(peer: Peer) -> bool:
    return peer.weight >= _SURE
