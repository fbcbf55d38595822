"""Texts deleted for good, on record."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from jury_judge.records.open_store import OpenStore, log_line
from jury_judge.stores.stores import Say

if TYPE_CHECKING:
    from jury_judge.settings.auditing import Erasure, ErasureScope
    from jury_judge.stores.erasing import ErasedTexts, PlannedErasure


class ErasureRecords(OpenStore):
    """Erasure of texts; ids, labels, verdicts and scores stay, and the log still verifies (docs/erasure.md)."""

    async def plan_erasure(self, scope: "ErasureScope") -> "PlannedErasure":
        """What an erasure would delete; nothing is written.

        Raises:
            ErasureRefused: the debate has no such exchange or review.
        """
        from jury_judge.stores.erasing import planned

        return await self._read(planned, scope)

    async def erase(
        self,
        asked: "Erasure",
        *,
        agrees: "Callable[[PlannedErasure], bool]" = lambda _plan: True,
        say: Say = log_line,
    ) -> "ErasedTexts | None":
        """Erase texts for good; calling it again finishes what was interrupted. The store need not be open.

        Args:
            asked: whose texts, by whose order and why.
            agrees: called once with what will be deleted; where it returns False, nothing is, and the result is None.
            say: takes a line where deleted bytes may still be in the store's files.

        Raises:
            ErasureRefused: the debate has no such exchange or review, or the order cannot be recorded.
            MayNotErase: the user may not delete texts; nothing is recorded.
        """
        from jury_judge.stores.erasing import erased

        return await self._write("erase", erased, asked, agrees, say)
