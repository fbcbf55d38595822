"""The case of a debate with its provenance, and the operator's policy that was shown before it."""

from collections.abc import Mapping
from typing import NamedTuple

from pydantic import ValidationError

from jury_debate.assignment import OPERATOR_POLICY
from jury_events.case import Case
from jury_events.debate_events import DebateOpened
from jury_events.errors import EventError
from jury_events.provenance import with_provenance
from jury_views.debate_fold import text_in


class RecordedCase(NamedTuple):
    """A case, and the piece of the prompt with the policy that was shown before it; None: there was none."""

    case: Case
    policy_piece: str | None


def readable_case(opened: DebateOpened, contents: Mapping[str, bytes]) -> Case | None:
    """The case of a debate as it was judged; None where it was erased, or this version cannot read it.

    Args:
        opened: the opening event.
        contents: parts by the 43 characters of their digest.
    """
    content = contents.get(opened.case.part)
    try:
        return None if content is None else Case.from_part(content)
    except (ValidationError, EventError):
        return None


def recorded_case(opened: DebateOpened, contents: Mapping[str, bytes], case: Case | None = None) -> RecordedCase | None:
    """The case of a debate; None where it or the policy was erased, or this version cannot read it.

    It has its provenance where that was recorded and can be read.

    Args:
        opened: the opening event.
        contents: parts by the 43 characters of their digest.
        case: that of the debate, where it has been read already; None: it is read here.
    """
    case = case or readable_case(opened, contents)
    if case is None:
        return None
    piece = next((one.text for one in opened.pieces if one.name == OPERATOR_POLICY), None)
    policy = None if piece is None else text_in(contents, piece)
    if piece is not None and policy is None:
        return None
    return RecordedCase(_with_provenance(case, opened, contents), policy)


def _with_provenance(case: Case, opened: DebateOpened, contents: Mapping[str, bytes]) -> Case:
    known = None if opened.provenance is None else contents.get(opened.provenance.part)
    if known is None:
        return case
    try:
        return with_provenance(case, known)
    except EventError:
        return case
