"""What a failure that is not understood is taken for, by what the same model answered before in this process.

Laws. An assumption is made only where nothing that the provider reported is known to mean something else. A request
that is at least twice as long as the longest that was answered counts as too long, once a case: if a shorter one gets
the same, it was a bad request. A limit of which nothing was answered for 15 minutes is a quota. One request that is
forbidden after others were answered is blocked; before, the key is refused.
"""

from dataclasses import dataclass, field

from jury_events.outcome import ANSWERS, CallOutcome
from jury_providers.provider import ModelReply

FORBIDDEN = 403
_BAD_REQUEST = 400
_LONGER = 2
_LIMITED_SECONDS = 15 * 60
_SECOND = 1_000_000


@dataclass
class _AnsweredRequests:
    """`longest`: bytes of the longest request that was answered; `limited_since`: µs since 1970."""

    longest: int = 0
    limited_since: int | None = None
    too_long: set[str] = field(default_factory=set)


class AssumedFailures:
    """What one juror process assumes."""

    def __init__(self) -> None:
        self._models: dict[str, _AnsweredRequests] = {}

    def read(
        self, reply: ModelReply, model: str, *, length: int, debate_id: str, now: int, answered: bool
    ) -> ModelReply:
        """The reply with the outcome that it is taken for.

        Args:
            reply: to a call.
            model: that was asked.
            length: bytes of the texts of the request.
            debate_id: of the debate.
            now: µs since 1970.
            answered: whether the model has answered another call.
        """
        known = self._models.setdefault(model, _AnsweredRequests())
        outcome = reply.outcome
        if outcome in ANSWERS:
            known.longest, known.limited_since = max(known.longest, length), None
        elif outcome is CallOutcome.RATE_LIMITED:
            known.limited_since = now if known.limited_since is None else known.limited_since
            if now - known.limited_since >= _LIMITED_SECONDS * _SECOND:
                return _taken(reply, CallOutcome.QUOTA, "no answer for 15 minutes")
        elif reply.understood:
            pass
        elif outcome is CallOutcome.AUTHENTICATION and reply.status == FORBIDDEN and answered:
            return _taken(reply, CallOutcome.BLOCKED, "other requests were answered")
        elif outcome is CallOutcome.BAD_REQUEST and reply.status == _BAD_REQUEST:
            much_longer = known.longest and length >= _LONGER * known.longest
            if much_longer and debate_id not in known.too_long:
                known.too_long.add(debate_id)
                return _taken(reply, CallOutcome.CONTEXT_TOO_LONG, "no request half as long was refused")
        return reply

    def recall(self, model: str, debate_id: str) -> None:
        """An earlier process took a request of this case for too long."""
        self._models.setdefault(model, _AnsweredRequests()).too_long.add(debate_id)

    def forget(self, debate_id: str) -> None:
        """A debate is over."""
        for known in self._models.values():
            known.too_long.discard(debate_id)


def _taken(reply: ModelReply, outcome: CallOutcome, why: str) -> ModelReply:
    said = f"{reply.error or 'no reason given'} (taken for {outcome.value.replace('_', ' ')}: {why})"
    return reply._replace(outcome=outcome, error=said, understood=False)
