"""The base of what users write in panel files."""

from pydantic import BaseModel, ConfigDict


class Spec(BaseModel):
    """Part of a panel as written: unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)
