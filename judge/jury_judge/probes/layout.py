"""Probe of format: the same words as a Markdown list under a heading."""

from jury_events.case import Case
from jury_judge.probes.probe_texts import texts_for
from jury_judge.probes.response_changes import with_response
from jury_judge.probes.twin import Altered


def layout(case: Case) -> Altered | None:
    """Every line of the answer as an item of a list; None if the agent said nothing, or has no line for a list."""
    heading = texts_for(case).format_heading

    def listed(answer: str) -> str:
        return "\n".join([f"## {heading}", "", *(f"- {line.strip()}" for line in answer.splitlines() if line.strip())])

    altered = with_response(case, listed)
    return None if altered is None else Altered(altered)
