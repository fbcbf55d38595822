"""How a Jury writes to its store."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from jury_actors.store_retry import STORE_PATIENCE

if TYPE_CHECKING:
    from jury_judge.seals.stored_seals import Sealing


@dataclass(frozen=True, kw_only=True)
class Writing:
    """Whom it waits for, how long it tries, and who seals.

    Attributes:
        name: names the writer in the store's lock; None generates a name.
        lock_wait: seconds to wait for another process that writes to the same SQLite store, or executes the same run.
        patience: seconds for which a store that cannot be written is tried again, while answers are kept.
        sealing: seals the log while debates run.
    """

    name: str | None = None
    lock_wait: float = 0.0
    patience: float = STORE_PATIENCE
    sealing: "Sealing | None" = None


PLAIN_WRITING = Writing()
