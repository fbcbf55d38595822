"""Where debates run: in this process or on Ray."""

import os
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from jury_judge.runs.preflight import PreflightReport

RAY_FROM = 10_000
"""Debates from which a local Ray cluster is the default, with `RAY_CPUS`."""

RAY_CPUS = 4
"""With fewer, Ray runs hardly more debates a second than one process, and spends more CPU (`benchmarks/README.md`)."""


def asked_in_process(
    *, in_process: bool, ray: bool, ray_address: str | None, replicas: int | None, coordinators: int | None
) -> bool | None:
    """Whether the options name this process (True) or Ray (False); None if they name neither."""
    on_ray = ray or ray_address is not None
    if in_process and on_ray:
        raise click.UsageError("--in-process does without Ray: leave out either it, or --ray and --ray-address")
    if in_process:
        return True
    return False if on_ray or max(replicas or 1, coordinators or 1) > 1 else None


def in_process_for(checked: "PreflightReport", cpus: int | None = None) -> tuple[bool, str]:
    """Whether the debates that are left run in this process, and a line with the reason.

    Args:
        checked: counts the debates.
        cpus: that Ray could use; None: those of this machine.
    """
    left = checked.expected
    debates = "too many debates to count at once" if left is None else f"{left:,} debate" + ("" if left == 1 else "s")
    if (os.cpu_count() or 1 if cpus is None else cpus) < RAY_CPUS:
        what = debates if left is None else f"{debates} to run"
        return True, f"{what}: in this process (with --ray on a local Ray cluster)"
    if left is None:
        return False, f"{debates}: on a local Ray cluster (--in-process does without)"
    if left < RAY_FROM:
        return True, f"{debates} to run: in this process (from {RAY_FROM:,} on, or with --ray, on a local Ray cluster)"
    return False, f"{debates} to run: on a local Ray cluster, as from {RAY_FROM:,} on (--in-process does without)"
