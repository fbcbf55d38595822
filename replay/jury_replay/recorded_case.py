"""The case of a recorded debate, with its pictures, label and metadata."""

from collections.abc import Callable
from hashlib import sha256

from jury_debate.assignment import OPERATOR_POLICY
from jury_debate.prompts_1.texts import policy_in
from jury_debate.prompts_registry import load_prompts
from jury_events.case import Case, Image, with_provenance
from jury_events.debate_events import DebateOpened
from jury_events.panel import Language
from jury_events.parts import PartRef


def recorded_case(opened: DebateOpened, text: Callable[[PartRef], bytes]) -> Case:
    """The case that a debate was opened with; pictures are there only where a seat or the final judge was sent them.

    Args:
        text: the content of a part; what it raises for a missing one is passed on.
    """
    pictures = [(image.media_type, text(image.content)) for image in opened.images]
    case = Case.from_part(text(opened.case))
    if opened.provenance is not None:
        case = with_provenance(case, text(opened.provenance))
    return case.changed(
        images=tuple(
            Image.model_validate({"media_type": media_type, "digest": sha256(content).hexdigest(), "content": content})
            for media_type, content in pictures
        ),
        label=opened.label,
        metadata=opened.metadata,
        tags=opened.tags,
        cluster=opened.cluster,
        agent_cost=opened.agent_cost,
    )


def operator_policy_of(opened: DebateOpened, case: Case, text: Callable[[PartRef], bytes]) -> str | None:
    """The policy that the operator gave for the whole run, where it was shown before the case; None where none was.

    Args:
        case: the recorded one, whose questions have the policy too.
    """
    piece = next((piece.text for piece in opened.pieces if piece.name == OPERATOR_POLICY), None)
    return None if piece is None else policy_of_piece(text(piece), opened.prompts, opened.panel.language, case)


def policy_of_piece(piece: bytes, prompts: int, language: Language, case: Case) -> str | None:
    """The operator's policy in its piece of the prompt; None where no question of the case has it."""
    policy = policy_in(piece.decode("utf-8"), load_prompts(prompts, language).texts.case)
    return policy if policy in {scenario.question.policy for scenario in case.scenarios} else None
