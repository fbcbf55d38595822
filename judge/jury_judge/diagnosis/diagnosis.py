"""`Diagnosis`: what is installed, reachable and configured."""

import os
from collections.abc import AsyncGenerator, Generator, Iterable
from typing import TYPE_CHECKING

from jury_events.errors import JuryError
from jury_judge.blocking import BlockingWork
from jury_judge.diagnosis.finding import DiagnosisFinding
from jury_judge.diagnosis.nodes import Joined, joined_here, nodes
from jury_judge.diagnosis.surroundings import access, surroundings
from jury_judge.errors import PanelFileError

if TYPE_CHECKING:
    from jury_judge.panels.files import LoadedPanel


class Diagnosis(BlockingWork):
    """Looks whether debates could run here. Keys are named, never shown.

    Args:
        store_url: of the store; None: that of the environment, else the default.
        panel: a panel or ladder file, or a name; None: the default panel.
        ray_address: HOST:PORT of a Ray cluster; None: no cluster is looked at.
        joined: joins the cluster, and leaves it again; the default does so in the thread that looks.
        threads: as of `Records`.

    Attributes:
        sound: `findings` found no problem so far.
        ready: `findings` came to its end, and nothing keeps the panel's models from being called.
    """

    def __init__(
        self,
        store_url: str | None = None,
        *,
        panel: str | None = None,
        ray_address: str | None = None,
        joined: Joined = joined_here,
        threads: bool = True,
    ) -> None:
        super().__init__(threads=threads)
        self._store_url = store_url
        self._panel = panel
        self._address = ray_address
        self._joined = joined
        self._loaded: LoadedPanel | None = None
        self.sound = True
        self.ready = False

    def findings(self) -> AsyncGenerator[DiagnosisFinding, None]:
        """Packages, the store, variables, keys, disk, the panel, and the nodes of the cluster; each as it is found."""
        return self._steps(self._findings)

    async def probe(self, *, write: bool = False) -> AsyncGenerator[DiagnosisFinding, None]:
        """Call each model of the panel once, for real, with a tiny question: it may cost. After `findings`.

        Of servers of Chat Completions that are not OpenAI's a few more calls find out what they take.
        Where something keeps the models from being called, none is, and nothing is found.

        Args:
            write: what was found out is written into the panel file.
        """
        from jury_judge.diagnosis.model_probes import probed

        if not self.ready or self._loaded is None:
            return
        file = self._panel if write else None
        if write and (file is None or self._loaded.ladder is not None or not os.path.isfile(file)):  # noqa: PTH113, ASYNC240
            raise PanelFileError("what is found out can be written into a panel file only; name one with --panel")
        async for one in probed(self._loaded, file):
            yield one

    def _findings(self) -> Generator[DiagnosisFinding, None, None]:
        yield from self._noted(surroundings(self._store_url))
        if self._address is not None:
            yield from self._noted(access(self._address))
        here = self.sound
        title = "default panel" if self._panel is None else "panel"
        try:
            self._loaded = loaded = _load(self._panel)
        except JuryError as error:
            yield from self._noted([DiagnosisFinding("problem", f"{title}: {error}")])
            return
        from jury_judge.diagnosis.panel_findings import panel_findings

        ready = yield from self._noted(panel_findings(loaded, title, keys=self._address is None))
        if self._address is not None and here:
            reached = yield from self._noted(nodes(self._address, loaded, self._store_url, self._joined))
            ready = ready and reached
        self.ready = ready

    def _noted(self, found: Iterable[DiagnosisFinding]) -> Generator[DiagnosisFinding, None, bool]:
        """The findings; returns whether none is a problem."""
        sound = True
        for one in found:
            sound = sound and one.mark != "problem"
            self.sound = self.sound and sound
            yield one
        return sound


def _load(panel: str | None) -> "LoadedPanel":
    from jury_judge.panels.ladder_documents import load_panel_or_ladder
    from jury_providers.registry import check_models

    loaded = load_panel_or_ladder(panel, os.environ)
    for one in loaded.panels:
        check_models(one, loaded.endpoints)
    return loaded
