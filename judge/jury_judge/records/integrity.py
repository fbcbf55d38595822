"""Whether the record is as it was written."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from jury_events.debate_history import DebateHistory
from jury_judge.records.open_store import OpenStore

if TYPE_CHECKING:
    from jury_judge.settings.auditing import Verification
    from jury_judge.stores.integrity_state import IntegrityState
    from jury_replay.verify import VerifyReport

Progress = Callable[[int], None]
"""Takes the number of debates done so far."""


class IntegrityRecords(OpenStore):
    """Checks of the log."""

    async def verify(self, asked: "Verification", progress: Progress | None = None) -> "VerifyReport":
        """Check chains, stream heads, every text and the lists; of the whole store positions, seals and schema too.

        Args:
            asked: what is checked, against which keys and checkpoints.
            progress: called now and then with the number of debates checked so far.

        Raises:
            BadNote: a checkpoint is none.
            StoreFailed: the database cannot be read.
        """
        from jury_judge.replays.stored_debates import verified

        return await self._read(verified, asked, progress, self.store_url)

    async def integrity_states(self, debates: Sequence[DebateHistory]) -> "list[IntegrityState]":
        """Whether debates that were read are intact, and sealed; in their order."""
        from jury_judge.stores.integrity_state import integrity_states

        return await self._read(integrity_states, debates)
