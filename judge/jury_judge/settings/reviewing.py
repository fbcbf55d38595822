"""What is asked of reviews: one debate's, the queue, or how far people agree."""

from jury_events.conditions import Condition
from jury_events.verdict import PASS, Verdict
from jury_judge.errors import SettingsRefused
from jury_judge.settings.model import SettingsModel

DEFAULT_SEED = 1

_OF_ONE = ("verdict", "label", "assign", "withdraw")
_OF_QUEUE = ("sample", "of_queue", "of_agreement", "run_id", "where", "limit")
_NOT_WITH = {
    "assign": ("reason", "minutes", "blind", "decisive_item"),
    "withdraw": ("minutes", "blind", "decisive_item"),
    "of_agreement": ("sample", "limit", "blind"),
}
"""Settings that would be dropped silently."""


class ReviewSettings(SettingsModel):
    """Verdicts that are asked for at a terminal, unless one is given, or the queue or the agreement is asked for.

    Attributes:
        debate_id: this debate; None: those of the queue.
        reviewer: who reviews, or asks for a review, or withdraws one.
        blind: only the case is shown; with `verdict`: the reviewer saw no more.
        run_id: only the debates of this run.
        where: only debates whose cases meet all of these conditions.
        reviews: how many people are to review a debate.
        sample: draw so many cases at random for the reviewer.
        seed: of the sample.
        limit: at most so many debates of the queue.
        verdict: of the debate.
        label: of the scale of the debate's panel, in place of a verdict.
        decisive_item: of the verdict: the first item where it went wrong.
        reason: of the verdict, or of what is withdrawn.
        minutes: how long the review took.
        assign: this person is asked for a review of the debate.
        withdraw: the number of the review or assignment of the debate that counts no more.
        of_queue: the queue is listed.
        of_agreement: the agreement of the reviewers is computed.
        as_json: what that comes to is printed as JSON.
    """

    debate_id: str | None = None
    reviewer: str | None = None
    blind: bool = False
    run_id: str | None = None
    where: tuple[Condition, ...] = ()
    reviews: int = 1
    sample: int | None = None
    seed: int = DEFAULT_SEED
    limit: int | None = None
    verdict: Verdict | None = None
    label: str | None = None
    decisive_item: int | None = None
    reason: str = ""
    minutes: float | None = None
    assign: str | None = None
    withdraw: int | None = None
    of_queue: bool = False
    of_agreement: bool = False
    as_json: bool = False

    @property
    def of_one(self) -> bool:
        """Whether something is recorded of one debate."""
        return self.debate_id is not None and any(getattr(self, name) is not None for name in _OF_ONE)

    def model_post_init(self, _context: object) -> None:
        """Refuse settings that do not go together."""
        single = ["{" + name + "}" for name in _OF_ONE if getattr(self, name) is not None]
        many = ["{" + name + "}" for name in _OF_QUEUE if getattr(self, name)]
        many += ["{reviews}"] if self.reviews != 1 else []
        if len(single) > 1:
            raise SettingsRefused(f"give one of {' and '.join(single)}")
        if single and self.debate_id is None:
            raise SettingsRefused(f"{single[0]} is about one debate: name it")
        if many and self.debate_id is not None:
            raise SettingsRefused(f"{many[0]} is about the queue, and a debate is named: leave one of them out")
        if self.of_queue and self.of_agreement:
            raise SettingsRefused("give {of_queue} or {of_agreement}, not both")
        if (self.reason or self.minutes is not None) and not single:
            raise SettingsRefused(
                "{reason} and {minutes} go with {verdict}; at a terminal they are asked for and measured"
            )
        self._check_decisive_item()
        self._check_dropped()
        needs_name = not (self.of_queue or self.of_agreement) or self.sample
        if needs_name and not self.reviewer:
            raise SettingsRefused("say {reviewer} NAME, or set JURY_REVIEWER: who reviews is recorded")
        if self.as_json and not (single or self.of_queue or self.of_agreement):
            raise SettingsRefused(
                "{as_json} prints what {of_queue}, {of_agreement}, {verdict}, {assign} and {withdraw} come to"
            )

    def _check_decisive_item(self) -> None:
        if self.decisive_item is None or self.assign is not None or self.withdraw is not None:
            return
        if self.verdict is None and self.label is None:
            raise SettingsRefused("{decisive_item} goes with {verdict}; at a terminal it is asked for")
        if self.verdict is PASS:
            raise SettingsRefused("{decisive_item} goes with a verdict that is no pass")

    def _check_dropped(self) -> None:
        for name, others in _NOT_WITH.items():
            given = (one for one in others if getattr(self, one) not in (None, "") and getattr(self, one) is not False)
            dropped = next(given, None)
            if getattr(self, name) and dropped is not None:
                raise SettingsRefused("{" + dropped + "} has no meaning with {" + name + "}: leave it out")
        if self.seed != DEFAULT_SEED and self.sample is None:
            raise SettingsRefused("{seed} is that of a random sample: it goes with {sample} N")
