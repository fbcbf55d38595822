"""Probe of length: neutral text after the answer, about as long again as the answer."""

from itertools import cycle

from jury_events.case import Case
from jury_judge.probes.probe_texts import texts_for
from jury_judge.probes.response_changes import with_response
from jury_judge.probes.twin import Altered

LEAST = 400
"""Characters of padding at least, so that a short answer becomes a long one."""


def length(case: Case) -> Altered | None:
    """The answer, and padding that says nothing; None if the agent said nothing."""
    sentences = cycle(texts_for(case).padding)

    def padded(answer: str) -> str:
        added: list[str] = []
        while sum(map(len, added)) < max(LEAST, len(answer)):
            added.append(next(sentences))
        return f"{answer}\n\n{' '.join(added)}"

    altered = with_response(case, padded)
    return None if altered is None else Altered(altered)
