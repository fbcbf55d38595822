"""The totals of a list of debates as lines."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jury_events.text import pluralize
from jury_events.verdict import Verdict

if TYPE_CHECKING:
    from jury_judge import Totals


def totals_lines(found: "Totals") -> Iterator[str]:
    """For a terminal."""
    from jury_judge.runs.spending import caches_said

    ended = f"{found.completed:,} completed, {found.failed:,} failed, {found.cancelled:,} cancelled"
    yield f"{pluralize(found.debates, 'debate')}: {ended}"
    yield ", ".join(f"{getattr(found, verdict.value):,} {verdict.value}" for verdict in Verdict)
    if found.labels:
        yield f"by label: {', '.join(f'{count:,} × {label}' for label, count in found.labels.items())}"
    if found.mean_score is not None:
        yield f"mean score {found.mean_score:.1f}"
    if found.without_evaluation:
        yield f"{found.without_evaluation:,} without an evaluation"
    unknown = f" + unknown in {pluralize(found.unknown_cost, 'debate')}" if found.unknown_cost else ""
    caches = caches_said(found.cached_input_tokens, found.cache_write_tokens, found.input_tokens)
    tokens = f"{found.input_tokens:,} tokens in{caches}, {found.output_tokens:,} out"
    yield f"{pluralize(found.calls, 'call')}, {tokens}, ${found.cost:.4f}{unknown}"
