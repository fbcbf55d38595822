"""A panel in any form in which it is named, and a recorded one changed by explicit arguments."""

import os
from collections.abc import Collection, Mapping

from jury_debate.errors import PanelError
from jury_debate.panel_spec import PanelSpec
from jury_debate.recorded_panel import spec_of
from jury_debate.resolved_panel import ResolvedPanel, resolve
from jury_events.text import visible_line
from jury_judge.errors import PanelFileError
from jury_judge.panels.files import LoadedPanel, check_judge, windowed
from jury_judge.panels.ladders import load_panel_or_ladder
from jury_judge.panels.variables import NO_OVERRIDES, Overrides, apply
from jury_judge.settings_model import readable_message
from jury_store.seals.keys import PublicKey


def changed_panel(
    resolved: ResolvedPanel, overrides: Overrides = NO_OVERRIDES, models: Mapping[str, str] | None = None
) -> ResolvedPanel:
    """The panel with `overrides` applied, and other models in some seats.

    A display name derived from the model changes with it, and its window is not known; a chosen name and the fallbacks
    stay. A preset replaces the
    rules of the discussion and the final method; speakers, bands and quorum stay.

    Args:
        resolved: the recorded panel.
        overrides: explicit arguments.
        models: `provider/model` by juror id.
    """
    try:
        spec = spec_of(resolved)
        if overrides.preset is not None:
            spec = _with_preset(spec, overrides.preset)
        changed = resolve(apply(_with_models(spec, models or {}), overrides), prompts=resolved.prompts)
    except PanelError as error:
        raise PanelFileError(f"the panel: {readable_message(str(error))}") from error
    check_judge(changed.panel, overrides)
    return changed


def _with_preset(spec: PanelSpec, preset: str) -> PanelSpec:
    discussion = type(spec.discussion)(speakers=spec.discussion.speakers)
    final = spec.final.model_copy(update={"method": None})
    return spec.model_copy(update={"preset": preset, "discussion": discussion, "final": final})


def _with_models(spec: PanelSpec, models: Mapping[str, str]) -> PanelSpec:
    seats = {str(seat.juror_id): seat for seat in spec.seats}
    for juror, model in models.items():
        if juror not in seats:
            known = ", ".join(visible_line(one) for one in seats)
            raise PanelFileError(f"the panel has no seat {visible_line(juror)!r}; its seats are {known}")
        if seats[juror].model != model:
            seats[juror] = seats[juror].model_copy(update={"model": model, "window": None})
    return spec.model_copy(update={"seats": tuple(seats.values())})


AnyPanel = str | os.PathLike[str] | PanelSpec | ResolvedPanel | LoadedPanel
"""A preset, the name of a bundled jury, a panel file, a ladder file, or a panel object."""


def any_panel(
    panel: AnyPanel | None, environ: Mapping[str, str], overrides: Overrides, trust: Collection[PublicKey] = ()
) -> LoadedPanel:
    """A named panel is loaded as by the command; the environment does not change a panel object.

    `trust` is of `load_panel`; a panel object is its caller's.
    """
    if panel is None or isinstance(panel, str | os.PathLike):
        return load_panel_or_ladder(None if panel is None else os.fspath(panel), environ, overrides, trust)
    loaded = (
        panel
        if isinstance(panel, LoadedPanel)
        else LoadedPanel(resolve(panel) if isinstance(panel, PanelSpec) else panel)
    )
    if loaded.ladder is not None:
        if not overrides.change_nothing:
            raise PanelFileError("the panels of a ladder are certified as they are: leave overrides out")
        return loaded
    if not overrides.change_nothing:
        loaded = loaded._replace(resolved=changed_panel(loaded.resolved, overrides))
    return windowed(loaded)
