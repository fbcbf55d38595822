"""Whether the record is as it was written; seals over it, and the erasure of texts."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from jury_events.debate_history import DebateHistory
from jury_judge.records.open_store import OpenStore, check_debate_id, log_line
from jury_judge.store_access.stores import Say

if TYPE_CHECKING:
    from cryptography.x509 import Certificate

    from jury_judge.seals.attesting import StampedSeal, WitnessedSeal
    from jury_judge.seals.key_files import SealedLog
    from jury_judge.seals.stored_seals import ConsistencyProof, InclusionProof, ListedSeal
    from jury_judge.settings.auditing import Erasure, ErasureScope, Verification
    from jury_judge.store_access.erasing import ErasedTexts, PlannedErasure
    from jury_judge.store_access.integrity_state import IntegrityState
    from jury_replay.verify import VerifyReport
    from jury_store.seals.note import WitnessKey


_RUN = "seal"

Progress = Callable[[int], None]
"""Takes the number of debates done so far."""


class IntegrityRecords(OpenStore):
    """Checks, seals, and erasure of texts."""

    async def verify(self, asked: "Verification", progress: Progress | None = None) -> "VerifyReport":
        """Check chains, stream heads, every text and the lists; of the whole store positions, seals and schema too.

        Args:
            asked: what is checked, against which keys and checkpoints.
            progress: called now and then with the number of debates checked so far.
        """
        from jury_judge.recorded_debates.stored_debates import verified

        return await self._read(verified, asked, progress, self.store_url)

    async def integrity_states(self, debates: Sequence[DebateHistory]) -> "list[IntegrityState]":
        """Whether debates that were read are intact, and sealed; in their order."""
        from jury_judge.store_access.integrity_state import integrity_states

        return await self._read(integrity_states, debates)

    async def seal(self, key_file: Path, last_file: Path | None = None, *, say: Say = log_line) -> "SealedLog | None":
        """Seal everything that is stored now; None where that is nothing. Keep the note elsewhere.

        Where nothing is new it is the latest seal again.

        Args:
            key_file: of the private key, as `jury_judge.seals.key_files.make_key` writes it.
            last_file: of the key's last signature; None: beside the key.
        """
        from jury_judge.seals.key_files import seal_now

        return await self._write(_RUN, seal_now, key_file, last_file, say)

    async def seals(self) -> "list[ListedSeal]":
        """The seals of the log, the smallest first."""
        from jury_judge.seals.stored_seals import listed_seals

        return await self._read(listed_seals)

    async def seal_note(self, size: int | None = None) -> str:
        """The note of the seal over `size` events, None: of the latest, with the cosignatures of it."""
        from jury_judge.seals.stored_seals import kept_note

        return await self._read(kept_note, size)

    async def prove(self, old: int, new: int | None = None) -> "ConsistencyProof":
        """The proof that the log of the seal over `new` events, None: the latest, begins with that over `old`."""
        from jury_judge.seals.stored_seals import prove_consistency

        return await self._read(prove_consistency, old, new)

    async def prove_included(self, debate_id: str) -> "InclusionProof":
        """The proofs that a debate is under the latest seal."""
        from jury_judge.seals.stored_seals import prove_inclusion

        check_debate_id(debate_id)
        return await self._read(prove_inclusion, debate_id)

    async def witness(self, url: str, keys: "Sequence[WitnessKey]") -> "WitnessedSeal":
        """Have a witness cosign the latest seal (C2SP tlog-witness), and keep its cosignature beside the seal.

        Args:
            keys: of the witness, as `jury_judge.seals.key_files.read_witnesses` reads them.

        Raises:
            NoSeal: there is none.
            SealRefused: it is not as it was made, or the witness has seen a log that this one does not begin with.
            AttestationFailed: the witness cannot be reached, refuses, or answers with no cosignature by these keys.
        """
        from jury_judge.seals.attesting import have_witnessed

        return await self._write(_RUN, have_witnessed, url, keys)

    async def timestamp(self, url: str, authorities: "Sequence[Certificate]" = ()) -> "StampedSeal":
        """Have a time-stamping authority stamp the latest seal (RFC 3161), and keep its answer beside the seal.

        Args:
            authorities: the answer must be under one of these certificates; (): its signature is not checked.
        """
        from jury_judge.seals.attesting import have_stamped

        return await self._write(_RUN, have_stamped, url, authorities)

    async def plan_erasure(self, scope: "ErasureScope") -> "PlannedErasure":
        """What an erasure would delete; nothing is written."""
        from jury_judge.store_access.erasing import planned

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
        from jury_judge.store_access.erasing import erased

        return await self._write("erase", erased, asked, agrees, say)
