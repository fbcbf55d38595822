"""The settings of a fork."""

from pydantic import Field

from jury_judge.settings.panel import PanelSettings
from jury_judge.settings.runtime import RuntimeSettings


class ForkSettings(PanelSettings, RuntimeSettings):
    """What a fork is asked for, besides its origin and event.

    Attributes:
        store_url: of the store; None is `JURY_STORE_URL`, else `sqlite:///jury.db`.
        models: `provider/model` by seat, instead of the panel's.
        as_id: the branch's id; None: one that follows from origin, event and panel.
    """

    store_url: str | None = None
    models: dict[str, str] = Field(default_factory=dict)
    as_id: str | None = None
