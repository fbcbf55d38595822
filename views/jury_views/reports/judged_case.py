"""One case of a report."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from jury_events.judgment import Decider
from jury_views.result_models import OUTCOME

_OWN = frozenset({"own", "stale"})


class JudgedCase(NamedTuple):
    """The end of the debate over a case.

    `status` is completed, failed or cancelled, or `unfinished`: then `problem` says why it could not go on. Without a
    verdict `verdict` and `score` (0-100) are None. `capped_by` says why votes that passed need review: `quorum` or
    `silence`. `votes` has the verdict of each juror, None where it abstained.
    A debate that no juror evaluated (`decided_by`) needs review, without a score: that is no verdict of the jury.
    Under a scale of the panel's own `final_label` is the label of the verdict, and votes are labels where they have
    one. `partly_read`: by juror, the parts of the record that were refused, or never answered usably. `reason` says why
    the verdict came, and `item` at which item it went wrong, as in result lines. `own` are the seats with a vote of
    their own, `missing` those that were asked and have none; None where nobody voted.
    """

    case_id: str
    debate_id: str
    status: str
    verdict: str | None = None
    score: int | None = None
    quorum_met: bool | None = None
    capped_by: str | None = None
    label: str | None = None
    votes: Mapping[str, str | None] = {}
    simulated: bool = False
    problem: str | None = None
    final_label: str | None = None
    partly_read: Mapping[str, Sequence[str]] = {}
    decided_by: str | None = None
    reason: str | None = None
    item: int | None = None
    own: Sequence[str] | None = None
    missing: Sequence[str] | None = None

    @property
    def has_verdict(self) -> bool:
        """Whether the debate has ended with a verdict that rests on an evaluation."""
        return self.verdict is not None and self.decided_by != Decider.NO_EVALUATION

    @property
    def word(self) -> str | None:
        """The label of the verdict; without one, the verdict."""
        return self.final_label or self.verdict

    @property
    def is_over(self) -> bool:
        """Whether its debate has ended, with a verdict or without."""
        return self.status != "unfinished"


def judged_case(line: Mapping[str, Any]) -> JudgedCase:
    """The case of a result line (`views.result.result_line`)."""
    verdict, label, score = (line[name] for name in OUTCOME)
    return JudgedCase(
        case_id=line["case_id"],
        debate_id=line["debate_id"],
        status=line["status"],
        verdict=verdict,
        score=score,
        quorum_met=line["quorum_met"],
        capped_by=line["capped_by"],
        label=line["label"],
        votes=_votes(line),
        simulated=line["simulated"],
        final_label=label,
        partly_read=line.get("partly_read") or {},
        decided_by=line["decided_by"],
        reason=line.get("reason"),
        item=None if line.get("decisive") is None else line["decisive"]["item"],
        own=[juror for juror, kind in _kinds(line) if kind in _OWN],
        missing=[juror for juror, kind in _kinds(line) if kind not in {*_OWN, "not_asked"}],
    )


def _kinds(line: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    return (line.get("vote_kinds") or {}).items()


def _votes(line: Mapping[str, Any]) -> dict[str, str | None]:
    """The words of the seats that were asked, by juror id; None: no usable answer."""
    labels, kinds = line["vote_labels"] or {}, line["vote_kinds"] or {}
    return {
        juror: labels.get(juror) or verdict
        for juror, verdict in (line["votes"] or {}).items()
        if kinds.get(juror) != "not_asked"
    }
