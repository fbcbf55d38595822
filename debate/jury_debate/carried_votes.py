"""Votes that a debate carries from the debates of the stages before: taken there, recorded here, and read again.

What is carried is the latest vote of each seat, not what a final judge said. Where its words were erased, the vote is
carried without reasons.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from jury_events.carried import CarriedVote
from jury_events.codec import DebateEvent
from jury_events.debate_events import DebateOpened, JurorEvaluated, StatementMade
from jury_events.evaluation import Evaluation
from jury_events.evidence import quotes_of, quotes_part
from jury_events.parts import PartMaker, PartRef


class EarlierVote(NamedTuple):
    """A vote with its texts. The references of `evaluation` are of whatever debate it was read from.

    `rationale`: "" where there is none. `quotes`: in the order of the evidence; () where they are gone.
    """

    debate: str
    juror_id: str
    evaluation: Evaluation
    rationale: str
    quotes: tuple[str, ...]


def carried_before(opened: DebateOpened, text: Callable[[PartRef], bytes | None]) -> tuple[EarlierVote, ...] | None:
    """The votes that a debate was opened with; None where votes are not carried.

    Args:
        opened: its opening event.
        text: the content of a part, or None where it was erased; what it raises is passed on.
    """
    if opened.carried is None:
        return None
    return tuple(_vote(one.debate, one.juror_id, one.evaluation, text) for one in opened.carried)


def votes_to_carry(
    opened: DebateOpened, events: Iterable[DebateEvent], text: Callable[[PartRef], bytes | None]
) -> tuple[EarlierVote, ...]:
    """The votes that the debate of the next stage is shown: those that this one was shown, then its own.

    Args:
        opened: the opening event of this debate.
        events: that followed; the votes are in the order of the seats.
        text: as of `carried_before`.
    """
    latest: dict[str, Evaluation] = {}
    for event in events:
        if isinstance(event, JurorEvaluated):
            latest[event.juror_id] = event.evaluation
        elif isinstance(event, StatementMade):
            latest[event.juror_id] = event.statement.evaluation
    own = (_vote(opened.debate_id, one, latest[one], text) for one in opened.panel.juror_ids if one in latest)
    return (*(carried_before(opened, text) or ()), *own)


def recorded_votes(votes: Iterable[EarlierVote], parts: PartMaker) -> tuple[CarriedVote, ...]:
    """The votes as an opening event has them; their texts become parts of its debate."""
    return tuple(
        CarriedVote(
            debate=one.debate,
            juror_id=one.juror_id,
            evaluation=one.evaluation.changed(
                rationale=None if one.evaluation.rationale is None else parts.make(one.rationale),
                quotes=parts.make(quotes_part(one.quotes)) if one.quotes else None,
            ),
        )
        for one in votes
    )


def _vote(debate: str, juror_id: str, evaluation: Evaluation, text: Callable[[PartRef], bytes | None]) -> EarlierVote:
    words = None if evaluation.rationale is None else text(evaluation.rationale)
    quotes = None if evaluation.quotes is None else text(evaluation.quotes)
    return EarlierVote(
        debate,
        juror_id,
        evaluation,
        "" if words is None else words.decode("utf-8"),
        () if quotes is None else quotes_of(quotes),
    )
