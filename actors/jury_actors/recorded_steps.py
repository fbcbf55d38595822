"""The due steps of a debate, with what is recorded of them already."""

import json
from collections.abc import Sequence

from jury_debate.assignment import Assignment
from jury_debate.debate import Debate
from jury_events.debate_history import DebateHistory
from jury_events.envelope import StoredEvent
from jury_events.parts import SALT_BYTES, BorrowedTexts, PartBuffer, PartRef, refs_in


def learned(debate: Debate, known: DebateHistory, pen: PartBuffer) -> dict[str, tuple[StoredEvent, ...]]:
    """Apply recorded exchanges of due steps: each has an outcome then, which the debate gets, or its first exchanges.

    Args:
        debate: folded.
        known: what is recorded of it.
        pen: knows the recorded texts.

    Returns:
        the exchanges of the steps that have no outcome, by step.
    """
    by_step: dict[str, list[int]] = {}
    for index, exchange in enumerate(known.exchanges):
        by_step.setdefault(exchange.step, []).append(index)
    prior: dict[str, tuple[StoredEvent, ...]] = {}
    for step in debate.pending_steps():
        recorded = by_step.get(step.id, [])
        # The next request is written by the juror; the one made here is discarded.
        scratch = BorrowedTexts(PartBuffer(lambda: bytes(SALT_BYTES)), pen.text)
        conversation = debate.rules.conversation(debate.assign(step), scratch)
        for index in recorded:
            exchange = known.exchanges[index]
            conversation.apply_reply(debate.rules.reply_from_record(exchange, pen.text), exchange.window)
        if conversation.outcome is not None:
            debate.add_outcome(step.id, conversation.outcome)
        elif recorded:
            prior[step.id] = tuple(known.stored_exchanges[index] for index in recorded)
    return prior


def texts_of(assignment: Assignment, prior: Sequence[StoredEvent], case: PartRef | None) -> list[str]:
    """References to all texts that the step needs: what it is shown, what its tools return, what it said before."""
    refs = [ref.part for ref in assignment.texts]
    refs += [opinion.peer_text.part for opinion in assignment.opinions or ()]
    refs += [ref for stored in prior for ref in refs_in(json.loads(stored.body))]
    return refs if case is None else [*refs, case.part]
