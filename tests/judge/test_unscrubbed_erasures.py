"""An erasure after which deleted bytes may be left in the store's files says so, and the same call tries again."""

from jury_judge import Erasure
from jury_judge.stores.erasing import erased
from jury_store import MemoryEventStore, ScrubRefused
from support.writing import Writing

ORDER = Erasure(debate_id="d", by="dpo", reason="request 17")


class KeepsItsBytes(MemoryEventStore):
    """A database whose user may not rewrite a table, until that is allowed."""

    allowed = False

    def scrub(self, *arguments: float) -> None:
        if not self.allowed:
            raise ScrubRefused("deleted texts stay in the files")
        super().scrub(*arguments)


def test_what_is_left_in_the_files_is_said_and_the_same_call_finishes_it() -> None:
    store = KeepsItsBytes()
    said: list[str] = []
    writing = Writing(store)
    writing.write(*writing.script.whole())
    first = erased(store, ORDER, lambda _plan: True, said.append)
    store.allowed = True
    second = erased(store, ORDER, lambda _plan: True, said.append)

    assert first is not None
    assert second is not None
    assert first.texts > 0 == second.texts
    assert (False, True) == (first.scrubbed, second.scrubbed)
    assert ["jury: deleted texts stay in the files"] == said
