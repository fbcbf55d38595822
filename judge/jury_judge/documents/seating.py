"""How the documents' classes seat a jury: options, models that stand in for theirs, warnings of retired ones."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TypedDict

from jury_debate.errors import PanelError
from jury_debate.panel_spec import PanelSpec, SeatSpec, SpeakersSpec
from jury_debate.recorded_panel import spec_of
from jury_debate.resolved_panel import ResolvedPanel, full_model_name, resolve
from jury_judge.errors import PanelFileError
from jury_judge.runs.panel_actors import Writing
from jury_judge.settings.jury import Budget, RuntimeSettings
from jury_judge.settings.store import Sources
from jury_providers.catalogue import retirement_warnings

_GEMINI_FALLBACK = ("anthropic/claude-haiku-5-5",)


def documents_fallbacks(model: str) -> tuple[str, ...]:
    """Document 002: Claude is the fallback for Gemini (a current model; the document's is retired)."""
    return _GEMINI_FALLBACK if full_model_name(model).startswith("google/") else ()


def with_jurors(resolved: ResolvedPanel, jurors: Sequence[str]) -> ResolvedPanel:
    """The panel with other jurors: its own by id, others by model; the quorum is adapted."""
    jurors = jurors if isinstance(jurors, str) else list(jurors)
    if isinstance(jurors, str) or not jurors or not all(isinstance(juror, str) for juror in jurors):
        raise PanelFileError("jurors: give a list of at least one model id")
    spec = spec_of(resolved)
    own = {str(seat.juror_id): seat for seat in spec.seats}
    try:
        return _seated(spec, tuple(own.get(juror) or _seat_of(juror) for juror in jurors))
    except PanelError as error:
        raise PanelFileError(f"jurors: {error}") from error


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


class RetiredModelWarning(UserWarning):
    """A model is retired, or will be; the message names a replacement."""


def warn_of_retired(models: Iterable[str], *, stacklevel: int) -> None:
    """Warn of each model (`provider/model`) with an end date; `stacklevel` counts from the caller of this function."""
    for warning in retirement_warnings(models, datetime.now(UTC).date()):
        warnings.warn(warning, RetiredModelWarning, stacklevel=stacklevel + 1)


class JuryOptions(TypedDict, total=False):
    """Further options of the documents' classes; see `Jury`."""

    store: str | None
    runtime: RuntimeSettings
    budget: Budget
    sources: Sources
    environ: Mapping[str, str] | None
    concurrency: int
    writing: Writing
