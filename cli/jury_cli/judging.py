"""Shared by `demo`, `run` and `fork`: their Jury, Ray while they need it, and the notes of an interruption."""

import asyncio
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jury_actors.effects import Effects
from jury_actors.errors import ClusterLost
from jury_actors.notices import Notice
from jury_cli.interrupts import event_loop
from jury_cli.terminal import note
from jury_judge.jury import Jury
from jury_judge.panels.files import LoadedPanel
from jury_judge.stores.stores import lock_run
from jury_providers.recipients import recipients, self_judging_warning
from jury_providers.registry import SIMULATED
from jury_store.event_store import EventStore

if TYPE_CHECKING:
    from jury_judge.seals.sealing import Sealing

LOCK_SECONDS = 20
"""How long to wait for another writer of a SQLite store, or another process that executes the run."""


def note_line(text: str) -> None:
    """A line of the Jury for the user."""
    event, fields = (text.event, text.fields) if isinstance(text, Notice) else ("notice", {})
    note(f"jury: {text}", event, **fields)


def make_jury(
    loaded: LoadedPanel, store_url: str, *, name: str, in_process: bool, ray_address: str | None, **options: Any
) -> Jury:
    """The Jury of a command; notes who receives the cases, and warnings about the panel's models.

    Args:
        loaded: the panel.
        store_url: of the store.
        name: see `Jury`.
        in_process: without Ray.
        ray_address: of the cluster to join. Calls are then made on its machines, whose environment has the base URLs.
        options: see `Jury`.
    """
    panel = loaded.panel
    if not all(model.startswith(f"{SIMULATED}/") for model in panel.models):
        for line in recipients(panel, loaded.endpoints, os.environ if ray_address is None else None):
            note_line(line)
    jury = Jury(
        loaded,
        store=store_url,
        name=name,
        in_process=in_process,
        ray_address=ray_address,
        lock_wait=LOCK_SECONDS,
        say=note_line,
        **options,
    )
    if (warning := self_judging_warning(panel)) is not None:
        note_line(f"warning: {warning}")
    return jury


@contextmanager
def run_locked(store_url: str, run_id: str | None, *, detached: bool = False) -> Iterator[None]:
    """Exclude other processes from a run on PostgreSQL; a generated id (None) needs no lock.

    `detached`: this process belongs to no terminal.

    Raises:
        StoreLocked: another process executes the run, and did not end in time.
    """
    lock = None if run_id is None else lock_run(store_url, run_id, wait=LOCK_SECONDS, say=note_line, detached=detached)
    try:
        yield
    finally:
        if lock is not None:
            lock.release()


def sealing_of(key_file: Path | None, last_file: Path | None, every: float, store: EventStore) -> "Sealing | None":
    """The sealing of the log in `store`, every so many seconds; None without a key.

    Raises:
        SealError: the key cannot be read, or the file beside it cannot be written.
    """
    if key_file is None:
        return None
    from jury_judge.seals.key_files import signer
    from jury_judge.seals.sealing import Sealing
    from jury_store.sealer import Sealer

    key, last = signer(key_file, last_file, sealed=lambda: store.latest_seal() is not None, say=note)
    return Sealing(Sealer(store, key, Effects().clock, last), every, note_line)


@contextmanager
def judging_loop(
    *, ray: bool, ray_address: str | None, ray_open_cluster: bool, resume_hint: str
) -> Iterator[asyncio.Runner]:
    """The event loop in which a Jury judges, and Ray while it lasts, if debates run there.

    Args:
        ray: whether Ray is needed.
        ray_address: the cluster to join instead of a local one.
        ray_open_cluster: join it even if it requires no token.
        resume_hint: how to resume, for the message of a lost cluster.

    Raises:
        ClusterLost: the cluster was lost; the message has `resume_hint`.
    """
    with ExitStack() as stack:
        if ray:
            from jury_cli.ray_thread import ray_started

            stack.enter_context(ray_started(ray_address, open_cluster=ray_open_cluster))
        try:
            with event_loop() as loop:
                yield loop
        except ClusterLost as error:
            raise type(error)(error.reason, resume_hint) from error


def finishing(resume_hint: str) -> str:
    """The note at the first Ctrl-C."""
    return f"jury: finishing the debates that run; press Ctrl-C again to stop at once ({resume_hint})"


def note_end(*, interrupted: bool, resume_hint: str, sealing: "Sealing | None" = None) -> None:
    """Note that the command was interrupted, and how many events are sealed."""
    if interrupted:
        note_line(f"stopped; {resume_hint}")
    if sealing is not None and sealing.sealed is not None:
        note(f"the log is sealed over {sealing.sealed} events; keep the note elsewhere: jury seal show")
