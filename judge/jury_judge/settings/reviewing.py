"""What is asked of reviews: one debate's, the queue, or how far people agree; what a reviewer may be called."""

from dataclasses import replace
from functools import partial
from typing import Annotated

from pydantic import AfterValidator, Field

from jury_events.evidence import MOST_ITEM
from jury_events.text import CONTROL, displayed_escaped
from jury_events.verdict import PASS, Verdict
from jury_judge.errors import SettingsRefused
from jury_judge.settings.debates import WHERE_OF_CASES, RunId
from jury_judge.settings.fields import Conditions
from jury_judge.settings_model import Option, SettingsModel

LONGEST = 300
"""Characters."""

RULE = f"a name has 1 to {LONGEST} printable characters, and no blank at either end"

_who = partial(Option, group="Who reviews")
_QUEUE = "The queue"
_queue = partial(Option, group=_QUEUE)
_one = partial(Option, group="One debate")
_results = partial(Option, group="Results")
_Counted = Annotated[int, Field(ge=1)]


def is_reviewer_name(name: str) -> bool:
    """Whether a new name follows `RULE`: two that differ in what readers cannot see would pass for one person.

    Names on record may be others.
    """
    unseen = CONTROL.search(name) or displayed_escaped().search(name)
    return 1 <= len(name) <= LONGEST and name == name.strip() and not unseen


def _reviewer(name: str) -> str:
    if name and not is_reviewer_name(name):
        raise ValueError(RULE)
    return name


ReviewerName = Annotated[str, AfterValidator(_reviewer)]

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

    Without a `debate_id` it is about those of the queue. `label` is of the scale of the debate's panel, in place of a
    verdict; `withdraw` the number of the review or assignment of the debate that counts no more.
    """

    debate_id: str | None = None
    reviewer: Annotated[
        ReviewerName | None,
        _who(
            help="Who reviews; recorded for ever, so a pseudonym will do. [env JURY_REVIEWER]",
            metavar="NAME",
            environ="JURY_REVIEWER",
        ),
    ] = None
    blind: Annotated[
        bool,
        _who(
            help="Show the case and nothing that the jury or others said. With --verdict: the reviewer saw nothing of "
            "it."
        ),
    ] = False
    run_id: Annotated[RunId | None, _queue(help="Only the debates of this run.", name="--run", metavar="ID")] = None
    where: Annotated[
        Conditions,
        replace(WHERE_OF_CASES, group=_QUEUE),
    ] = ()
    reviews: Annotated[
        int,
        Field(ge=1, le=9),
        _queue(help="How many people are to review a debate: 2 for double review."),
    ] = 1
    sample: Annotated[
        _Counted | None,
        _queue(
            help="Draw N cases at random for the reviewer, whatever the jury said of them: their labels are a random "
            "sample.",
            metavar="N",
        ),
    ] = None
    by_verdict: Annotated[
        bool, _queue(help="Draw as many cases of each verdict of the jury: fewer labels show that a rate is high.")
    ] = False
    seed: Annotated[int, Field(ge=0, lt=2**63), _queue(help="Of --sample: its numbers.")] = DEFAULT_SEED
    limit: Annotated[_Counted | None, _queue(help="At most N debates of the queue.", metavar="N")] = None
    verdict: Annotated[Verdict | None, _one(help="Record this verdict.")] = None
    label: Annotated[
        str | None,
        _one(help="Record this label of the panel's own scale; its outcome is the verdict.", metavar="LABEL"),
    ] = None
    decisive_item: Annotated[
        Annotated[int, Field(ge=1, le=MOST_ITEM)] | None,
        _one(help="The first item where it went wrong, by its number.", metavar="N"),
    ] = None
    reason: Annotated[str, _one(help="Why; kept as a text that can be erased.", metavar="TEXT")] = ""
    minutes: Annotated[
        Annotated[float, Field(ge=0, le=100_000)] | None,
        _one(help="How long it took; measured at a terminal.", metavar="M"),
    ] = None
    assign: Annotated[
        ReviewerName | None,
        _one(help="Ask this person for a review; --reviewer is who asks.", metavar="NAME"),
    ] = None
    withdraw: Annotated[
        _Counted | None, _one(help="Withdraw the review or assignment of this number.", metavar="N")
    ] = None
    of_queue: Annotated[bool, _results(help="Print the queue.", name="--list")] = False
    of_agreement: Annotated[
        bool,
        _results(help="Print how far the reviewers agree, and where they differ.", name="--agreement"),
    ] = False
    as_json: Annotated[bool, _results(help="Print JSON.", name="--json")] = False

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
        if self.by_verdict and self.sample is None:
            raise SettingsRefused("{by_verdict} is how a sample is drawn: it goes with {sample} N")
