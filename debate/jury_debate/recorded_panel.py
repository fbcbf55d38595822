"""A panel as an opening event records it: read back, written as a panel file would have it, compared with another."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from jury_debate.image_models import reads_images
from jury_debate.panel_spec import (
    ROLE_KEYS,
    DiscussionSpec,
    FinalSpec,
    JudgeSpec,
    PanelSpec,
    ResolvedPanel,
    SeatSpec,
    SpeakersSpec,
    resolve,
)
from jury_events.debate_events import DebateOpened
from jury_events.panel import FinalJudge, FinalRules, Seat
from jury_events.rubric import RUBRICS, Rubric

_CHARGE = "charge/"
_JUDGE_CHARGE = "charge/final"
_IMAGES = ".images"

IMAGES_SINCE = 2
"""The schema of opening events since which they say who is sent pictures; before, nobody was."""


class PanelDifference(NamedTuple):
    """One field, by its path as in `discussion.threshold`; None where a panel has none."""

    field: str
    before: Any
    now: Any

    def __str__(self) -> str:
        return f"{self.field} was {self.before!r}, is {self.now!r}"


def recorded_panel(opened: DebateOpened, texts: Mapping[str, bytes]) -> ResolvedPanel:
    """The panel of a debate with its own charges.

    Args:
        opened: its opening event.
        texts: contents by the 43 characters of their references; a charge that is not in it is left out.
    """
    charges = {
        piece.name: texts[piece.text.part].decode("utf-8")
        for piece in opened.pieces
        if piece.name.startswith(_CHARGE) and piece.text.part in texts
    }
    seats = {juror: charges[_CHARGE + juror] for juror in opened.panel.juror_ids if _CHARGE + juror in charges}
    return ResolvedPanel(opened.panel, seats, charges.get(_JUDGE_CHARGE))


def panel_differences(before: ResolvedPanel, now: ResolvedPanel, *, images: bool = True) -> tuple[PanelDifference, ...]:
    """What two panels differ in, field by field, charges too, in the order of the fields.

    Args:
        before: one of them.
        now: the other.
        images: whether who is sent pictures counts. It does not where `before` was recorded by a version that sent
            none: there the same panel file says nothing of it.
    """
    fields_before, fields_now = dict(_fields(before)), dict(_fields(now))
    names = [name for name in dict.fromkeys([*fields_before, *fields_now]) if images or not name.endswith(_IMAGES)]
    pairs = (PanelDifference(name, fields_before.get(name), fields_now.get(name)) for name in names)
    return tuple(pair for pair in pairs if pair.before != pair.now)


def described(differences: Sequence[PanelDifference], most: int = 5) -> str:
    """The first `most` of them in one line, and how many there are beyond."""
    more = f"; and {len(differences) - most} more" if len(differences) > most else ""
    return "; ".join(map(str, differences[:most])) + more


def spec_of(resolved: ResolvedPanel) -> PanelSpec:
    """The panel as somebody could have written it, so that it can be changed like a written one.

    It resolves to the same panel. What a default would give is left to the default: another model brings its own name,
    and whether it is sent pictures, unless they were chosen.
    """
    whole = _written(resolved)
    bare = resolve(_without_defaults(whole)).panel
    panel = resolved.panel
    seats = tuple(
        _left_to_default(
            written,
            role_name=seat.role_name == default.role_name,
            role_focus=seat.role_focus == default.role_focus and seat.role in ROLE_KEYS,
            images=_has_default_images(seat),
        )
        for written, seat, default in zip(whole.seats, panel.seats, bare.seats, strict=True)
    )
    final = whole.final
    judge = panel.final.judge
    if final.judge is not None and judge is not None:
        spec = _left_to_default(final.judge, images=_has_default_images(judge))
        final = final.model_copy(update={"judge": spec})
    return whole.model_copy(update={"seats": seats, "final": final})


def _has_default_images(place: Seat | FinalJudge) -> bool:
    """Whether its models are sent pictures exactly if all of them are known to read them."""
    return place.images == all(map(reads_images, (place.model, *place.fallbacks)))


def _fields(resolved: ResolvedPanel) -> Iterator[tuple[str, Any]]:
    yield from _flat("", resolved.panel.model_dump(mode="json"))
    for juror, text in resolved.charges.items():
        yield _CHARGE + juror, text
    if resolved.judge_charge is not None:
        yield _JUDGE_CHARGE, resolved.judge_charge


def _flat(prefix: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _flat(f"{prefix}.{key}" if prefix else key, inner)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _flat(f"{prefix}.{index}", inner)
    else:
        yield prefix, value


def _written(resolved: ResolvedPanel) -> PanelSpec:
    panel = resolved.panel
    rules = panel.discussion.model_dump(exclude={"speakers"})
    speakers = panel.discussion.speakers
    return PanelSpec(
        name=panel.name,
        language=panel.language,
        seats=tuple(
            SeatSpec(**seat.model_dump(exclude={"settings"}), settings=seat.settings, prompt=charge)
            for seat in panel.seats
            for charge in [resolved.charges.get(seat.juror_id)]
        ),
        rubric=_rubric(panel.rubric),
        discussion=DiscussionSpec(
            **rules, speakers=SpeakersSpec(kind=speakers.kind, base=speakers.base, seed=speakers.seed)
        ),
        final=_final(panel.final, resolved.judge_charge),
        answers=panel.answers,
        artifacts=panel.artifacts,
    )


def _final(rules: FinalRules, charge: str | None) -> FinalSpec:
    written = FinalSpec(method=rules.method, bands=rules.bands, quorum=rules.quorum)
    if rules.judge is None:
        return written
    judge = rules.judge
    spec = JudgeSpec(
        model=judge.model, prompt=charge, fallbacks=judge.fallbacks, images=judge.images, settings=judge.settings
    )
    return FinalSpec(method=rules.method, bands=rules.bands, quorum=rules.quorum, judge=spec)


def _rubric(rubric: Rubric) -> str | dict[str, float]:
    if RUBRICS.get(rubric.name) == rubric:
        return rubric.name
    return {dimension.name: dimension.maximum for dimension in rubric.dimensions}


def _without_defaults(whole: PanelSpec) -> PanelSpec:
    seats = tuple(_left_to_default(seat, role_name=True, role_focus=seat.role in ROLE_KEYS) for seat in whole.seats)
    return whole.model_copy(update={"seats": seats})


def _left_to_default(spec: Any, **fields: bool) -> Any:
    """The spec without those of its fields that are true here."""
    return spec.model_copy(update={name: None for name, defaulted in fields.items() if defaulted})
