"""The values of the fields of evidence as bits of one column, by which the database chooses debates."""

from jury_events.conditions import Condition
from jury_events.evidence_facts import EVIDENCE_VALUES, EvidenceFacts

_PAIRS = tuple((field, value) for field, values in EVIDENCE_VALUES.items() for value in values)
_BITS = {pair: 1 << place for place, pair in enumerate(_PAIRS)}
"""A stored bit keeps its meaning: values of later versions come last, or the lists are rebuilt."""


def evidence_bits(facts: EvidenceFacts) -> int:
    """The bits of all values of a debate."""
    return sum(_BITS[field, value] for field, values in facts.values.items() for value in values)


def matching_bits(condition: Condition) -> int:
    """The bits of the values that a condition compares with success: with any of them, it holds; negated, it fails."""
    positive = condition._replace(operator="=" if condition.operator in {"=", "!="} else "~")
    return sum(
        bit for (field, value), bit in _BITS.items() if field == condition.field and positive.admits({field: (value,)})
    )
