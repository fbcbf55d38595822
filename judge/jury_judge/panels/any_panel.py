"""A panel in any form in which callers in Python name one."""

import os
from collections.abc import Collection, Mapping

from jury_debate.panel_spec import PanelSpec, ResolvedPanel, resolve
from jury_judge.panels.changed import changed_panel
from jury_judge.panels.files import LoadedPanel, load_panel, windowed
from jury_judge.panels.variables import Overrides
from jury_store.seals.keys import PublicKey

AnyPanel = str | os.PathLike[str] | PanelSpec | ResolvedPanel | LoadedPanel
"""A preset, the name of a bundled jury, a panel file, or a panel object."""


def any_panel(
    panel: AnyPanel | None, environ: Mapping[str, str], overrides: Overrides, trust: Collection[PublicKey] = ()
) -> LoadedPanel:
    """A named panel is loaded as by the command; the environment does not change a panel object.

    `trust` is of `load_panel`; a panel object is its caller's.
    """
    if panel is None or isinstance(panel, str | os.PathLike):
        return load_panel(None if panel is None else os.fspath(panel), environ, overrides, trust)
    loaded = (
        panel
        if isinstance(panel, LoadedPanel)
        else LoadedPanel(resolve(panel) if isinstance(panel, PanelSpec) else panel)
    )
    if overrides != Overrides():
        loaded = loaded._replace(resolved=changed_panel(loaded.resolved, overrides))
    return windowed(loaded)
