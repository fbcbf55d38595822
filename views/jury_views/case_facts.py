"""The facts of a case that are not judged, and the parts that no juror was shown, as text."""

import json
from collections.abc import Iterator

from jury_events.case import Omission
from jury_events.debate_events import DebateOpened
from jury_events.text import shown_size
from jury_views.debate_labels import DebateLabels

_BETWEEN = {"en": ", ", "ja": "、"}


def case_facts(opened: DebateOpened, words: DebateLabels) -> Iterator[tuple[str, str]]:
    """Stage, tags, cluster and other facts of the case, each with its heading, if present."""
    if (place := opened.stage) is not None:
        form = words.audit_stage if place.audit else words.first_stage if place.before is None else words.later_stage
        yield words.stage, form.format(number=place.number, of=place.of, before=place.before)
    if opened.tags:
        yield words.tags, ", ".join(opened.tags)
    if opened.cluster is not None:
        yield words.cluster, opened.cluster
    if opened.metadata:
        said = (
            f"{name}: {value if isinstance(value, str) else json.dumps(value)}"
            for name, value in opened.metadata.items()
        )
        yield words.metadata, ", ".join(said)
    if opened.agent_cost is not None:
        yield words.agent_cost, f"${opened.agent_cost:.4f}"


def omissions_line(opened: DebateOpened, words: DebateLabels) -> str | None:
    """The parts that no juror was shown, by kind, with sizes if known; None without any."""
    if not opened.omissions:
        return None
    said = _BETWEEN[words.language].join(_omission(omission, words) for omission in opened.omissions)
    return f"{words.not_shown}: {said}"


def _omission(omission: Omission, words: DebateLabels) -> str:
    if omission.size is None:
        return words.omission.format(count=omission.count, what=omission.what)
    return words.omission_sized.format(count=omission.count, what=omission.what, size=shown_size(omission.size))
