"""Where debates run: in this process or on Ray."""

import os

from jury_judge.runs.preflight import PreflightReport

RAY_FROM = 10_000
"""Debates from which a local Ray cluster is the default, with `RAY_CPUS`."""

RAY_CPUS = 4
"""With fewer, Ray runs hardly more debates a second than one process, and spends more CPU (`benchmarks/README.md`)."""


def in_process_for(checked: PreflightReport, cpus: int | None = None) -> tuple[bool, str]:
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
