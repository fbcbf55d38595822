"""Probe of identity: the answer names a model as its author."""

from jury_events.case import Case
from jury_judge.probes.probe_texts import drawn, texts_for
from jury_judge.probes.response_changes import with_response
from jury_judge.probes.twin import Altered

NAMES = {"claude": "Claude", "gemini": "Gemini", "gpt": "GPT", "llama": "Llama", "mistral": "Mistral", "qwen": "Qwen"}
"""Families of models, as they are called."""


def identity(case: Case) -> Altered | None:
    """The answer, and the name of a model family, drawn by the case; None if the agent said nothing."""
    family, name = drawn(tuple(NAMES.items()), case.case_id)
    sentence = texts_for(case).identity.format(name=name)
    altered = with_response(case, lambda answer: f"{answer}\n\n{sentence}")
    return None if altered is None else Altered(altered, family)
