"""What is said of a debate that is replaced, came from another store, or is set aside."""

from collections.abc import Iterator

from jury_events.local_facts import LocalFacts
from jury_views.debate_fold import DebateFold
from jury_views.debate_labels import DebateLabels
from jury_views.later_events import later_events_text
from jury_views.page import TextSpan


def aside_lines(record: DebateFold, local: LocalFacts, words: DebateLabels) -> Iterator[TextSpan]:
    """One line each; none of a debate of this store that counts."""
    if record.successor is not None:
        yield TextSpan(words.replaced.format(successor=record.successor), "bold yellow")
    if local.imported is not None:
        yield TextSpan(getattr(words, f"imported_{local.imported}").format(log=local.imported_from), "bold yellow")
    if local.later_events is not None:
        yield TextSpan(later_events_text(local.later_events, words), "yellow")
    if local.quarantine is not None:
        yield TextSpan(words.quarantined.format(reason=local.quarantine.reason), "bold yellow")
