"""A twin of a case: what it is called, and which case it belongs to."""

from typing import NamedTuple

from jury_cases.errors import CaseFileError
from jury_events.case import Case
from jury_events.text import visible_line

_MARK = "~probe~"
_MOST = 500
"""Characters of a case's id."""


class Altered(NamedTuple):
    """A case with other content, and the name of the text that was put into it, if a probe has several."""

    case: Case
    text: str = ""


class TwinId(NamedTuple):
    """The parts of a twin's id."""

    case_id: str
    probe: str


def twin_of(case: Case, probe: str, altered: Altered) -> Case:
    """The altered case as a variant: of the same cluster, with an id and `metadata.variant` of its own."""
    twin_id = f"{case.case_id}{_MARK}{probe}"
    if len(twin_id) > _MOST:
        shown = visible_line(case.case_id, 60)
        raise CaseFileError(f"the id {shown!r} is too long for a twin: at most {_MOST - len(_MARK) - len(probe)}")
    variant = f"{probe}:{altered.text}" if altered.text else probe
    return altered.case.changed(
        case_id=twin_id,
        metadata={**altered.case.metadata, "variant": variant},
        cluster=case.cluster or case.case_id,
    )


def parse_twin_id(case_id: str) -> TwinId | None:
    """The case and the probe of a twin's id; None for any other id."""
    base, mark, probe = case_id.rpartition(_MARK)
    return TwinId(base, probe) if mark and base and probe else None
