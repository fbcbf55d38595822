"""The block of a prompt with the votes of earlier jurors: behind the material, the same for all who judge in a debate.

A vote is shown as a peer's evaluation is, and its words are marked as all judged text: nothing that they imitate ends
the block. Jurors are numbered, as nobody on the panel has their letters, and no answer can quote them as a seat. What
they quoted of each other is left out.
"""

from collections.abc import Sequence

from jury_debate.assignment import scenario_numbers
from jury_debate.carried_votes import EarlierVote
from jury_debate.marking import mark
from jury_debate.prompt_texts import fill
from jury_debate.prompts_v2.prompts import PromptsV2
from jury_debate.step_outcome import CheckedQuotations
from jury_events.evaluation import LabelProbability, SeatPosition
from jury_events.verdict_scale import OUTCOME_WORDS, VerdictScale


def carried_block(
    votes: Sequence[EarlierVote],
    prompts: PromptsV2,
    *,
    sign: str,
    scenarios: tuple[str, ...],
    scale: VerdictScale | None,
) -> str:
    """The text of the block, which ends with an empty line.

    Args:
        votes: in the order in which they are numbered.
        prompts: of the debate's language.
        sign: of its judged lines.
        scenarios: the ids of the case's scenarios.
        scale: of the panels; None: the three verdicts.
    """
    texts = prompts.texts.carried
    numbers = dict(zip(scenarios, scenario_numbers(scenarios), strict=False))
    shown = (_vote(number, vote, prompts, sign, numbers, scale) for number, vote in enumerate(votes, 1))
    return "\n\n".join([f"{texts.heading}\n{texts.explanation}", *shown, ""])


def _vote(  # noqa: PLR0917  (what one vote is shown with)
    number: int,
    vote: EarlierVote,
    prompts: PromptsV2,
    sign: str,
    numbers: dict[str, str],
    scale: VerdictScale | None,
) -> str:
    texts, said = prompts.texts.carried, vote.evaluation
    lines = [
        fill(
            texts.vote,
            number=number,
            verdict=_word(said.position, scale),
            score=f"{said.overall:g}",
            confidence=f"{said.confidence:g}",
        )
    ]
    lines += [
        prompts.scenario_line(number=numbers[row.scenario_id], verdict=_word(row.position, scale), score=row.score)
        for row in said.scenarios
        if row.scenario_id in numbers
    ]
    if said.probabilities is not None:
        lines.append(fill(texts.probabilities, probabilities=_listed(said.probabilities)))
    lines += [prompts.texts.turns.rationale_label, mark(vote.rationale, sign)] if vote.rationale else [texts.no_reasons]
    lines += prompts.quotation_lines(_quotations(vote), (), lambda text: mark(text, sign))
    lines += prompts.notes_on(said.decisive_item, said.reading)
    return "\n".join(lines)


def _quotations(vote: EarlierVote) -> CheckedQuotations:
    """Those of the material: what an earlier juror said in a discussion is not shown."""
    entries = vote.evaluation.evidence or ()
    kept = [pair for pair in zip(vote.quotes, entries, strict=False) if pair[1].seat is None]
    return CheckedQuotations(tuple(quote for quote, _ in kept), tuple(entry for _, entry in kept))


def _word(position: SeatPosition, scale: VerdictScale | None) -> str:
    """Under a scale of the panel's own, an outcome without a label is its word."""
    if position.label is None and scale is not None:
        return OUTCOME_WORDS[position.verdict]
    return position.word


def _listed(probabilities: Sequence[LabelProbability]) -> str:
    return ", ".join(f"{one.label} {one.probability:g}" for one in probabilities)
