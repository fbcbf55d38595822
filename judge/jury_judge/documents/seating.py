"""The panel of a jury of the documents, from the arguments of its constructor."""

from collections.abc import Sequence
from typing import Any

from jury_debate.errors import PanelError
from jury_debate.panel_spec import (
    SIMULATED_MODEL,
    JudgeSpec,
    PanelSpec,
    ResolvedPanel,
    SeatSpec,
    SpeakersSpec,
    full_model_name,
    resolve,
)
from jury_debate.recorded_panel import spec_of
from jury_events.errors import SettingError
from jury_events.text.visible_text import visible_line
from jury_judge.errors import PanelFileError
from jury_judge.panels.changed import changed_panel
from jury_judge.panels.variables import Overrides

_SIMULATED_JUDGE = "simulated/judge"

_GEMINI_FALLBACK = ("anthropic/claude-haiku-5-5",)


def documents_fallbacks(model: str) -> tuple[str, ...]:
    """Document 002: Claude is the fallback for Gemini (a current model; the document's is retired)."""
    return _GEMINI_FALLBACK if full_model_name(model).startswith("google/") else ()


def with_jurors(resolved: ResolvedPanel, jurors: Sequence[str]) -> ResolvedPanel:
    """The panel with other jurors: its own by id, others by model; the quorum is adapted.

    Raises:
        PanelFileError: the list is empty, or a model has no known provider.
    """
    jurors = jurors if isinstance(jurors, str) else list(jurors)
    if isinstance(jurors, str) or not jurors or not all(isinstance(juror, str) for juror in jurors):
        raise PanelFileError("jurors: give a list of at least one model id")
    spec = spec_of(resolved)
    own = {str(seat.juror_id): seat for seat in spec.seats}
    try:
        return _seated(spec, tuple(own.get(juror) or _seat_of(juror) for juror in jurors))
    except PanelError as error:
        raise PanelFileError(f"jurors: {error}") from error


def without_providers(resolved: ResolvedPanel, providers: frozenset[str]) -> tuple[ResolvedPanel, list[str]]:
    """The panel without the jurors and fallbacks of some providers, and warnings.

    The final judge stays, of any provider.

    Raises:
        SettingError: no juror is left.
    """
    if not providers:
        return resolved, []
    panel, spec = resolved.panel, spec_of(resolved)
    left = [
        written.model_copy(
            update={"fallbacks": tuple(one for one in seat.fallbacks if _provider(one) not in providers)}
        )
        for written, seat in zip(spec.seats, panel.seats, strict=True)
        if _provider(seat.model) not in providers
    ]
    off = ", ".join(f"enable_{name}=False" for name in sorted(providers))
    if not left:
        raise SettingError(f"{off}: no juror is left of {', '.join(panel.juror_ids)}; enable at least one provider")
    judge = panel.final.judge
    if judge is None:
        return _seated(spec, tuple(left)), []
    written_judge = spec.final.judge or JudgeSpec(model=judge.model)
    fallbacks = tuple(one for one in judge.fallbacks if _provider(one) not in providers)
    judged = spec.final.model_copy(update={"judge": written_judge.model_copy(update={"fallbacks": fallbacks})})
    changed = _seated(spec.model_copy(update={"final": judged}), tuple(left))
    if _provider(judge.model) not in providers:
        return changed, []
    return changed, [f"{off}: the final judge {judge.model} stays; set final_judge_model to another"]


def with_simulated_jurors(resolved: ResolvedPanel) -> ResolvedPanel:
    """The panel with simulated jurors and a simulated final judge; no model is called."""
    spec = spec_of(resolved)
    simulated: dict[str, Any] = {"model": SIMULATED_MODEL, "fallbacks": ()}
    seats = tuple(
        seat.model_copy(update={**simulated, "juror_id": own.juror_id})
        for seat, own in zip(spec.seats, resolved.panel.seats, strict=True)
    )
    final = spec.final
    if resolved.panel.final.judge is not None:
        written = final.judge or JudgeSpec(model=_SIMULATED_JUDGE)
        judge = written.model_copy(update={"model": _SIMULATED_JUDGE, "fallbacks": ()})
        final = final.model_copy(update={"judge": judge})
    return resolve(spec.model_copy(update={"seats": seats, "final": final}), prompts=resolved.prompts)


def with_turns(resolved: ResolvedPanel, turns: Any, rounds: int | None) -> tuple[ResolvedPanel, str]:
    """The panel with the limit of rounds converted from turns, rounded up, and a warning.

    A turn of the documents' system is one statement of one juror: nine turns of three jurors are three rounds.

    Raises:
        SettingError: it is not a whole number, or contradicts `rounds`.
        PanelFileError: the number of rounds exceeds the limit.
    """
    if not isinstance(turns, int) or isinstance(turns, bool) or turns < 0:
        raise SettingError(f"max_discussion_turns: must be a whole number from 0, not {visible_line(repr(turns), 40)}")
    jurors = len(resolved.panel.seats)
    filled = -(-turns // jurors)
    conversion = f"max_discussion_turns: {turns} turns of {jurors} jurors are {filled} rounds"
    if rounds is not None and rounds != filled:
        raise SettingError(f"{conversion}, but max_discussion_rounds is {rounds}; give one of the two")
    return changed_panel(
        resolved, Overrides(max_rounds=filled)
    ), f"{conversion}; max_discussion_rounds sets this directly"


def with_stagnation(resolved: ResolvedPanel, rounds: Any) -> ResolvedPanel:
    """The panel whose discussion ends after `rounds` rounds without a change of position.

    Raises:
        SettingError: it is not a number of rounds from 1 to 100.
    """
    spec = spec_of(resolved)
    discussion = {**spec.discussion.model_dump(exclude_unset=True), "stagnation_rounds": rounds}
    if not isinstance(rounds, int) or isinstance(rounds, bool):
        raise SettingError(f"stagnation_threshold: must be a whole number, not {visible_line(repr(rounds), 40)}")
    try:
        changed = spec.model_copy(update={"discussion": type(spec.discussion).model_validate(discussion)})
        return resolve(changed, prompts=resolved.prompts)
    except PanelError as error:
        raise SettingError(f"stagnation_threshold: {error}") from error


def with_judge_fallbacks(resolved: ResolvedPanel) -> ResolvedPanel:
    """The panel with the documents' fallbacks for the model of its final judge."""
    spec = spec_of(resolved)
    assert spec.final.judge is not None
    judge = spec.final.judge.model_copy(update={"fallbacks": documents_fallbacks(spec.final.judge.model)})
    final = spec.final.model_copy(update={"judge": judge})
    return resolve(spec.model_copy(update={"final": final}), prompts=resolved.prompts)


def _seat_of(model: str) -> SeatSpec:
    return SeatSpec(model=full_model_name(model), fallbacks=documents_fallbacks(model))


def _seated(spec: PanelSpec, seats: tuple[SeatSpec, ...]) -> ResolvedPanel:
    """The panel with these seats, who speak in their order; the quorum is adapted."""
    speakers = SpeakersSpec(kind=spec.discussion.speakers.kind, seed=spec.discussion.speakers.seed)
    changed = {
        "seats": seats,
        "final": spec.final.model_copy(update={"quorum": None}),
        "discussion": spec.discussion.model_copy(update={"speakers": speakers}),
    }
    return resolve(PanelSpec.model_validate(spec.model_copy(update=changed)))


def _provider(model: str) -> str:
    return model.partition("/")[0]
