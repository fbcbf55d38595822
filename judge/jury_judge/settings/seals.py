"""How the log is sealed while debates run."""

from pathlib import Path
from typing import Annotated

from pydantic import Field

from jury_judge.settings.model import SettingsModel


class SealSettings(SettingsModel):
    """The key that seals, and how often.

    Attributes:
        seal_key: the file of the private key; None: nothing is sealed.
        seal_last: the file of its last signature; None: beside the key.
        seal_every: seconds between two seals; there is one more at the end.
    """

    seal_key: Path | None = None
    seal_last: Path | None = None
    seal_every: Annotated[float, Field(ge=0.1, le=86_400)] = 60.0
