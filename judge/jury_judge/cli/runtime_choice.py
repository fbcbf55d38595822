"""Where debates run: in this process or on Ray."""

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from jury_judge.app.preflight import PreflightReport

RAY_FROM = 2_000
"""From so many debates a local Ray cluster is faster: it starts in 5 to 8 s, and runs 98 debates a second, not 73."""


def asked_in_process(*, in_process: bool, ray: bool, ray_address: str | None, replicas: int) -> bool | None:
    """Whether the options name this process (True) or Ray (False); None if they name neither."""
    on_ray = ray or ray_address is not None
    if in_process and on_ray:
        raise click.UsageError("--in-process does without Ray: leave out either it, or --ray and --ray-address")
    if in_process:
        return True
    return False if on_ray or replicas > 1 else None


def in_process_for(checked: "PreflightReport") -> tuple[bool, str]:
    """Whether the debates that are left run in this process, and a line with the reason."""
    if checked.total is None:
        return False, "too many debates to count at once: on a local Ray cluster (--in-process does without)"
    left = checked.total - checked.ended
    debates = f"{left:,} debate" + ("" if left == 1 else "s")
    if left < RAY_FROM:
        return True, f"{debates} to run: in this process (from {RAY_FROM:,} on, or with --ray, on a local Ray cluster)"
    return False, f"{debates} to run: on a local Ray cluster, as from {RAY_FROM:,} on (--in-process does without)"
