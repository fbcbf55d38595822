"""The facts in a stream `review/{id}`: which reviews count, and who is asked for one."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Protocol, Self, TypeVar

from jury_events.case import LABEL_METADATA
from jury_events.codec import ReviewEvent, decode_review
from jury_events.envelope import StoredEvent
from jury_events.review_events import CaseLabelled, HumanReviewed, ReviewAssigned, ReviewSample, ReviewWithdrawn
from jury_events.verdict import Verdict


class _WithLabel(Protocol):
    """A value with the fields `label` and `metadata` of an opening."""

    @property
    def metadata(self) -> Mapping[str, Any]: ...

    def model_copy(self, *, update: Mapping[str, Any] | None = None) -> Self: ...


Opening = TypeVar("Opening", bound=_WithLabel)


class Review(NamedTuple):
    """A person's verdict, not withdrawn; the fields of `HumanReviewed`.

    `reviewed_at`: microseconds since 1970-01-01 UTC. `foreign`: it came in a cassette whose seal no trusted key
    signed, so anyone may have written it: it is shown, and counts for nothing.
    """

    number: int
    reviewer: str
    verdict: str
    blind: bool
    sampled: bool
    minutes: float | None
    supersedes: int | None
    reviewed_at: int
    foreign: bool = False
    decisive_item: int | None = None
    label: str | None = None

    @property
    def word(self) -> str:
        """The label; without one, the verdict."""
        return self.label or self.verdict


class AssignedReview(NamedTuple):
    """A person is asked for a review; `sampled`: the debate was drawn at random, with the fields of `ReviewSample`."""

    number: int
    reviewer: str
    sampled: bool
    foreign: bool = False
    seed: int | None = None
    size: int | None = None
    population: int | None = None
    drawn_of: str | None = None

    @property
    def sample(self) -> ReviewSample | None:
        """The sample that it was drawn in; None: it was chosen."""
        if self.seed is None or self.size is None or self.population is None:
            return None
        verdict = None if self.drawn_of is None else Verdict(self.drawn_of)
        return ReviewSample(seed=self.seed, size=self.size, population=self.population, verdict=verdict)


class ReviewFacts(NamedTuple):
    """The reviews and assignments of a debate that were not withdrawn, in the order of the stream.

    `labelled` is the newest label of its case; None: it has the one that it was opened with.
    """

    reviews: tuple[Review, ...] = ()
    assignments: tuple[AssignedReview, ...] = ()
    labelled: CaseLabelled | None = None

    @property
    def standing(self) -> tuple[Review, ...]:
        """The last review of each reviewer, in the order of the stream, without foreign ones."""
        latest = {one.reviewer: one for one in self.reviews if not one.foreign}
        return tuple(sorted(latest.values()))

    @property
    def verdict(self) -> Verdict | None:
        """The last human verdict; None: no person gave one."""
        standing = self.standing
        return Verdict(standing[-1].verdict) if standing else None

    @property
    def label(self) -> str | None:
        """The label of the last human verdict; None: it has none, or no person gave one."""
        standing = self.standing
        return standing[-1].label if standing else None

    @property
    def disputed(self) -> bool:
        """Whether several people reviewed the debate and no verdict has more than half of them."""
        counts = Counter(one.verdict for one in self.standing)
        return bool(counts) and 2 * max(counts.values()) <= counts.total()

    @property
    def random_sample(self) -> tuple[Review, ...]:
        """The last blind review of each reviewer for whom the debate was drawn at random, in the order of the stream.

        A reviewer who saw the jury's words afterwards and gave another verdict does not leave the sample: that would
        remove the cases on which people and jury differ. A blind review counts too where the draw came later.
        """
        latest = {
            one.reviewer: one
            for one in self.reviews
            if one.blind and not one.foreign and (one.sampled or self.sampled_for(one.reviewer))
        }
        return tuple(sorted(latest.values()))

    @property
    def open_assignments(self) -> tuple[AssignedReview, ...]:
        """The first assignment of each person who has not reviewed the debate yet."""
        done = {one.reviewer for one in self.standing}
        first: dict[str, AssignedReview] = {}
        for one in self.assignments:
            if one.reviewer not in done and not one.foreign:
                first.setdefault(one.reviewer, one)
        return tuple(first.values())

    def by(self, reviewer: str) -> Review | None:
        """What a person said last."""
        return next((one for one in self.standing if one.reviewer == reviewer), None)

    def sampled_for(self, reviewer: str) -> bool:
        """Whether the debate was drawn at random for a person."""
        return any(one.sampled and one.reviewer == reviewer and not one.foreign for one in self.assignments)

    def after(self, event: ReviewEvent, recorded_at: int) -> "ReviewFacts":
        """The facts after one more event."""
        match event:
            case HumanReviewed():
                review = Review(
                    event.number,
                    event.reviewer,
                    event.verdict.value,
                    event.blind,
                    event.sampled,
                    event.minutes,
                    event.supersedes,
                    recorded_at,
                    decisive_item=event.decisive_item,
                    label=event.label,
                )
                return self._replace(reviews=(*self.reviews, review))
            case ReviewAssigned():
                assignment = AssignedReview(event.number, event.reviewer, event.sample is not None)
                if (sample := event.sample) is not None:
                    assignment = assignment._replace(
                        seed=sample.seed,
                        size=sample.size,
                        population=sample.population,
                        drawn_of=None if sample.verdict is None else sample.verdict.value,
                    )
                return self._replace(assignments=(*self.assignments, assignment))
            case ReviewWithdrawn():
                gone = event.withdraws
                return self._replace(
                    reviews=tuple(one for one in self.reviews if one.number != gone),
                    assignments=tuple(one for one in self.assignments if one.number != gone),
                )
            case CaseLabelled():
                return self._replace(labelled=event)

    def with_label(self, opened: Opening) -> Opening:
        """An opening with the newest label; or what else has the fields `label` and `metadata` of one."""
        new = self.labelled
        if new is None:
            return opened
        metadata = relabelled(opened.metadata, new.metadata)
        return opened.model_copy(update={"label": new.label, "metadata": metadata})

    def arrived(self, after: int, until: int) -> "ReviewFacts":
        """The same, with the events after version `after` up to `until` marked as foreign."""
        return self._replace(
            reviews=tuple(one._replace(foreign=True) if after < one.number <= until else one for one in self.reviews),
            assignments=tuple(
                one._replace(foreign=True) if after < one.number <= until else one for one in self.assignments
            ),
        )


def relabelled(metadata: Mapping[str, Any], of_label: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata of a case with those of another label."""
    return {**{name: value for name, value in metadata.items() if name not in LABEL_METADATA}, **of_label}


NO_REVIEWS = ReviewFacts()
"""Of a debate that no person reviewed."""


def review_facts(events: Iterable[StoredEvent], foreign: Iterable[tuple[int, int]] = ()) -> ReviewFacts:
    """Fold a stream `review/{id}`; an empty one gives `NO_REVIEWS`.

    Args:
        events: of the stream, in order.
        foreign: the ranges of versions that came in cassettes without a trusted seal (`LocalFacts.foreign_reviews`).
    """
    facts = NO_REVIEWS
    for stored in events:
        facts = facts.after(decode_review(stored), stored.recorded_at)
    for after, until in foreign:
        facts = facts.arrived(after, until)
    return facts
