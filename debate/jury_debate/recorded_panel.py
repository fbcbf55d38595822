"""Recorded panels: read from an opening event, converted to a panel spec, compared with another panel."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from jury_debate.assignment import JUDGE_ROLE_PROMPT, ROLE_PROMPT
from jury_debate.decision_seats import decides
from jury_debate.panel_spec import DiscussionSpec, FinalSpec, JudgeSpec, PanelSpec, SeatSpec, SpeakersSpec, StopSpec
from jury_debate.resolved_panel import ROLE_KEYS, SCALE_ROLE, ResolvedPanel, reads_images, resolve
from jury_debate.scale_spec import bundled_name, written_scale
from jury_events.debate_events import DebateOpened
from jury_events.panel import FinalJudge, FinalRules, Panel, Seat

_KNOWN_ROLES = (*ROLE_KEYS, SCALE_ROLE)


class PanelDifference(NamedTuple):
    """One field that differs, by its path as in `discussion.threshold`; None where a panel lacks it."""

    field: str
    before: Any
    now: Any

    def __str__(self) -> str:
        return f"{self.field} was {self.before!r}, is {self.now!r}"


def recorded_panel(opened: DebateOpened, texts: Mapping[str, bytes]) -> ResolvedPanel:
    """The panel of a debate with its custom prompts.

    Args:
        texts: contents by the 43 characters of their references; a custom prompt that is missing is left out.
    """
    role_prompts = {
        piece.name: texts[piece.text.part].decode("utf-8")
        for piece in opened.pieces
        if piece.name.startswith(ROLE_PROMPT) and piece.text.part in texts
    }
    seats = {
        juror: role_prompts[ROLE_PROMPT + juror]
        for juror in opened.panel.juror_ids
        if ROLE_PROMPT + juror in role_prompts
    }
    return ResolvedPanel(opened.panel, seats, role_prompts.get(JUDGE_ROLE_PROMPT), opened.prompts)


def panel_differences(before: ResolvedPanel, now: ResolvedPanel) -> tuple[PanelDifference, ...]:
    """The differences of two panels' identities, custom prompts included, in the order of the fields.

    Args:
        now: the other.
    """
    fields_before, fields_now = dict(_fields(before)), dict(_fields(now))
    names = dict.fromkeys([*fields_before, *fields_now])
    pairs = (PanelDifference(name, fields_before.get(name), fields_now.get(name)) for name in names)
    return tuple(pair for pair in pairs if pair.before != pair.now)


def described(differences: Sequence[PanelDifference], most: int = 5) -> str:
    """The first `most` of them on one line, and the number of the others."""
    more = f"; and {len(differences) - most} more" if len(differences) > most else ""
    return "; ".join(map(str, differences[:most])) + more


def spec_of(resolved: ResolvedPanel) -> PanelSpec:
    """A spec that resolves to this panel, to be changed like a written one.

    Values that equal their default are left out: with another model, the default name and `images` change too.
    """
    whole = _written(resolved)
    bare = resolve(_without_defaults(whole), prompts=resolved.prompts).panel
    panel = resolved.panel
    seats = tuple(
        _left_to_default(
            written,
            role_name=seat.role_name == default.role_name,
            role_focus=seat.role_focus == default.role_focus and seat.role in _KNOWN_ROLES,
            images=_has_default_images(seat),
            questions=decides(seat.model),
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
    """Whether `images` equals its default: true if all of its models are known to read pictures."""
    if isinstance(place, Seat) and place.questions is not None:
        return not place.images
    return place.images == all(map(reads_images, (place.model, *place.fallbacks)))


def _fields(resolved: ResolvedPanel) -> Iterator[tuple[str, Any]]:
    yield from _flat("", resolved.panel.without_carriage().model_dump(mode="json"))
    for juror, text in resolved.role_prompts.items():
        yield ROLE_PROMPT + juror, text
    if resolved.judge_prompt is not None:
        yield JUDGE_ROLE_PROMPT, resolved.judge_prompt


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
            SeatSpec(**seat.model_dump(exclude={"settings"}), settings=seat.settings, prompt=prompt)
            for seat in panel.seats
            for prompt in [resolved.role_prompts.get(seat.juror_id)]
        ),
        **_judged_by(panel),
        discussion=DiscussionSpec(
            **rules, speakers=SpeakersSpec(kind=speakers.kind, base=speakers.base, seed=speakers.seed)
        ),
        final=_final(panel.final, resolved.judge_prompt),
        answers=panel.answers,
        artifacts=panel.artifacts,
        marking=panel.marking,
        reasoning=panel.reasoning or "show",
        own_family=panel.own_family or "warn",
        reading=panel.reading,
        least_read=panel.least_read,
        stop=None if panel.stop is None else StopSpec(**panel.stop.model_dump()),
    )


def _final(rules: FinalRules, prompt: str | None) -> FinalSpec:
    written = FinalSpec(method=rules.method, bands=rules.bands, quorum=rules.quorum, calibration=rules.calibration)
    if rules.judge is None:
        return written
    judge = rules.judge
    spec = JudgeSpec(
        model=judge.model,
        prompt=prompt,
        fallbacks=judge.fallbacks,
        images=judge.images,
        settings=judge.settings,
        window=judge.window,
    )
    return written.model_copy(update={"judge": spec})


def _judged_by(panel: Panel) -> dict[str, Any]:
    name = bundled_name(panel)
    spec = PanelSpec.model_validate(written_scale(panel) if name is None else {"scale": name})
    return {"scale": spec.scale, "task": spec.task, "rubric": spec.rubric, "criteria": spec.criteria}


def _without_defaults(whole: PanelSpec) -> PanelSpec:
    seats = tuple(_left_to_default(seat, role_name=True, role_focus=seat.role in _KNOWN_ROLES) for seat in whole.seats)
    return whole.model_copy(update={"seats": seats})


def _left_to_default(spec: Any, **fields: bool) -> Any:
    """The spec without the fields that are true in `fields`."""
    return spec.model_copy(update={name: None for name, defaulted in fields.items() if defaulted})
