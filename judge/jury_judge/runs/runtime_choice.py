"""Where debates run: in this process or on Ray."""

import os

from jury_events.text import pluralize

RAY_FROM = 10_000
"""Debates from which a local Ray cluster is the default, with `RAY_CPUS`."""

RAY_FROM_READ = 100
"""The same of the cases that the preflight reads where it does not come to their end: fewer of them are long."""

RAY_CPUS = 4
"""With fewer, Ray runs hardly more debates a second than one process, and spends more CPU (`benchmarks/README.md`)."""


def in_process_for(left: int | None, read: int, cpus: int | None = None) -> tuple[bool, str]:
    """Whether the debates that are left run in this process, and a line with the reason.

    Args:
        left: how many these are; None: it is not known.
        read: how many debates the cases have that the preflight read.
        cpus: that Ray could use; None: those of this machine.
    """
    few_cpus = (os.cpu_count() or 1 if cpus is None else cpus) < RAY_CPUS
    if left is None:
        debates = f"at least {pluralize(read, 'debate')}"
        if few_cpus or read < RAY_FROM_READ:
            return True, f"{debates}: in this process (with --ray on a local Ray cluster)"
        return False, f"{debates}: on a local Ray cluster (--in-process does without)"
    debates = pluralize(left, "debate")
    if few_cpus:
        return True, f"{debates} to run: in this process (with --ray on a local Ray cluster)"
    if left < RAY_FROM:
        return True, f"{debates} to run: in this process (from {RAY_FROM:,} on, or with --ray, on a local Ray cluster)"
    return False, f"{debates} to run: on a local Ray cluster, as from {RAY_FROM:,} on (--in-process does without)"
