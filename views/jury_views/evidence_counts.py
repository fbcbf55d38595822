"""The quotations of a debate in numbers, as plain data."""

from typing import Any

from jury_events.evidence_facts import RESULTS, EvidenceFacts


def evidence_object(facts: EvidenceFacts | None) -> dict[str, Any] | None:
    """Quotations by result, `unsupported` seats, and `decisive`; None where no evaluation was asked for evidence.

    `unsupported` and `decisive` are of the seats' latest evaluations, as in `EvidenceFacts`.
    """
    if facts is None:
        return None
    counts: dict[str, Any] = {name: getattr(facts, name) for name in RESULTS}
    return {**counts, "unsupported": facts.unsupported, "decisive": facts.decisive}
