"""Shared by `demo`, `run` and `fork`: Ray while they need it, and the notes of an interruption."""

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from jury_cli.interrupts import event_loop
from jury_cli.terminal import note
from jury_judge import ClusterLost, Notice

if TYPE_CHECKING:
    from jury_judge.settings.judging import RuntimeSettings


def note_line(text: str) -> None:
    """A line of the application for the user."""
    event, fields = (text.event, text.fields) if isinstance(text, Notice) else ("notice", {})
    note(f"jury: {text}", event, **fields)


@contextmanager
def judging_loop(settings: "RuntimeSettings", *, on_ray: bool, resume_hint: str) -> Iterator[asyncio.Runner]:
    """The event loop in which a Jury judges, and Ray while it lasts, if debates run there.

    Args:
        settings: name the cluster to join instead of a local one.
        on_ray: whether Ray is needed.
        resume_hint: how to resume, for the message of a lost cluster.
    """
    with ExitStack() as stack:
        if on_ray:
            from jury_cli.ray_thread import ray_started

            stack.enter_context(ray_started(settings.ray_address, open_cluster=settings.ray_open_cluster))
        try:
            with event_loop() as loop:
                yield loop
        except ClusterLost as error:
            raise type(error)(error.reason, resume_hint) from error


def finishing(resume_hint: str) -> str:
    """The note at the first Ctrl-C."""
    return f"jury: finishing the debates that run; press Ctrl-C again to stop at once ({resume_hint})"


def note_end(*, interrupted: bool, resume_hint: str, sealed: int | None = None) -> None:
    """Note that the command was interrupted, and how many events are sealed."""
    if interrupted:
        note_line(f"stopped; {resume_hint}")
    if sealed is not None:
        note(f"the log is sealed over {sealed} events; keep the note elsewhere: jury seal show")
