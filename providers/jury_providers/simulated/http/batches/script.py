"""How simulated batches behave: how long they take, and their faults."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from jury_providers.simulated.script import BadScript

JOB_FAULTS = (
    "bad_line",
    "failed",
    "expired",
    "cancelled",
    "stuck",
    "overdue",
    "unlisted",
    "missing",
    "unknown_ids",
    "doubled_ids",
    "truncated_lines",
    "endless",
)
"""Of a whole batch, by the order in which batches are submitted; see docs/simulate.md."""

CALLS = ("upload", "submit", "list", "state", "results", "cancel")

CALL_FAULTS = (
    "rate_limited",
    "quota",
    "authentication",
    "overloaded",
    "bad_request",
    "not_found",
    "html",
    "connection",
    "lost",
    "timeout",
    "lost_timeout",
    "cut",
    "short",
)
"""Of one call about a batch: an error of the provider's; `html`; a dropped connection before (`connection`) or after it
was done (`lost`); no answer before (`timeout`) or after it was done (`lost_timeout`); half of the body, broken off
(`cut`) or as if it were all (`short`)."""

NONE = "none"
_LONGEST = 1_000_000.0


@dataclass(kw_only=True)
class BatchScript:
    """The behaviour of a server's batches; a test may change it while the server runs.

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

    def __post_init__(self) -> None:
        for name, value in (("seconds", self.seconds), ("cancel_seconds", self.cancel_seconds)):
            if not 0 <= value <= _LONGEST:
                raise BadScript(f"{name}: must be a number from 0 to {_LONGEST:,.0f}, not {value:g}")
        for fault in (one for faults in self.jobs for one in faults.split("+")):
            if fault not in {*JOB_FAULTS, NONE}:
                raise BadScript(f"{fault!r} is none of {', '.join(JOB_FAULTS)}, {NONE}")
        for call, faults in self.calls.items():
            if call not in CALLS:
                raise BadScript(f"{call!r} is none of {', '.join(CALLS)}")
            for fault in faults:
                if fault not in {*CALL_FAULTS, NONE}:
                    raise BadScript(f"{fault!r} is none of {', '.join(CALL_FAULTS)}, {NONE}")

    def job_faults(self, number: int) -> frozenset[str]:
        """Of the `number`-th batch, from 0."""
        return frozenset(self.jobs[number].split("+")) - {NONE} if number < len(self.jobs) else frozenset()

    def call_fault(self, call: str, number: int) -> str | None:
        """Of the `number`-th call of that name, from 0."""
        faults = self.calls.get(call, ())
        return faults[number] if number < len(faults) and faults[number] != NONE else None
