"""A panel in any form in which callers in Python name one."""

import os
from collections.abc import Collection, Mapping

from jury_debate.panel_spec import PanelSpec, ResolvedPanel, resolve
from jury_judge.errors import PanelFileError
from jury_judge.panels.changed import changed_panel
from jury_judge.panels.files import LoadedPanel, windowed
from jury_judge.panels.ladder_documents import load_panel_or_ladder
from jury_judge.panels.variables import Overrides
from jury_store.seals.keys import PublicKey

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
        if overrides != Overrides():
            raise PanelFileError("the panels of a ladder are certified as they are: leave overrides out")
        return loaded
    if overrides != Overrides():
        loaded = loaded._replace(resolved=changed_panel(loaded.resolved, overrides))
    return windowed(loaded)
