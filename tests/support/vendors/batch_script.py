"""How the batches of a vendor behave: how long they take, and their faults."""

from collections.abc import Mapping
from dataclasses import dataclass, field

CALLS = ("upload", "submit", "list", "state", "results", "cancel")


@dataclass(kw_only=True)
class BatchScript:
    """A test may change it while the server runs.

    Faults of a batch: `bad_line` (it fails because of the line in its middle; Anthropic refuses the submission),
    `failed` and `cancelled` (half-way) without the client; `expired`: half of its items are answered; `stuck`: it never
    ends, `overdue`: after 50 hours; `unlisted` for ten minutes; `missing`: one item in seven has no line;
    `unknown_ids`, `doubled_ids`, `truncated_lines`; `endless`: the results repeat themselves.

    Faults of a call: an error of the provider's by its outcome; `not_found`; `html`; the connection is dropped before
    it is done (`connection`) or after (`lost`); there is no answer before (`timeout`) or after (`lost_timeout`); half
    of the body, broken off (`cut`) or as if it were all (`short`).

    Args:
        seconds: from the submission of a batch to its last answer; answers are spread evenly over them.
        cancel_seconds: from a cancellation to the end.
        jobs: faults of the batches in the order of their submission, each one or several names joined by `+`; `none`.
        calls: faults of the calls, in order, by the name of the call.
    """

    seconds: float = 0.0
    cancel_seconds: float = 0.0
    jobs: tuple[str, ...] = ()
    calls: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def job_faults(self, number: int) -> frozenset[str]:
        """Of the `number`-th batch, from 0."""
        return frozenset(self.jobs[number].split("+")) - {"none"} if number < len(self.jobs) else frozenset()

    def call_fault(self, call: str, number: int) -> str | None:
        """Of the `number`-th call of that name, from 0."""
        faults = self.calls.get(call, ())
        return faults[number] if number < len(faults) and faults[number] != "none" else None
