"""What Ray's head knows of an actor: its node, and how often it was restarted. Ray must be started.

Ray's public state API asks a dashboard, which these clusters do not have; the head answers the same questions.
"""

from typing import Any, NamedTuple

from ray._private.state import state


class ActorState(NamedTuple):
    """An actor.

    Attributes:
        node: the id of its node; None while it is starting.
        alive: whether it is.
        restarts: how often Ray has restarted it.
    """

    node: str | None
    alive: bool
    restarts: int


def actor_state(handle: Any) -> ActorState | None:
    """Of the actor with this handle; None if the head does not know it. Blocks while the head does not answer."""
    found: dict[str, Any] = state.actor_table(handle._actor_id.hex())  # noqa: SLF001  (a handle has no public id)
    if not found:
        return None
    alive = found["State"] == "ALIVE"
    return ActorState(found["Address"]["NodeID"] if alive else None, alive, found["NumRestarts"])
