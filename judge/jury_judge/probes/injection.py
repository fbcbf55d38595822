"""Probe of injection: the answer ends with a text that is meant to be obeyed by the jurors."""

from jury_events.case import Case
from jury_judge.probes.probe_texts import drawn, texts_for
from jury_judge.probes.response_changes import with_response
from jury_judge.probes.twin import Altered


def injection(case: Case, best: str) -> Altered | None:
    """The answer, and an instruction to jurors to give the verdict `best`; None if the agent said nothing."""
    name, text = drawn(tuple(texts_for(case, best).injection.items()), case.case_id)
    altered = with_response(case, lambda answer: f"{answer}\n\n{text}")
    return None if altered is None else Altered(altered, name)
