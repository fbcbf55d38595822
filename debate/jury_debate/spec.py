"""The base of what users write in panel files."""

from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationInfo, field_validator

from jury_events.yes_or_no import refuse_yes_or_no


class Spec(BaseModel):
    """Part of a panel as written: unknown fields are refused, and so is a yes or no as a number."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @field_validator("*", mode="before")
    @classmethod
    def _number(cls, written: Any, info: ValidationInfo) -> Any:
        return refuse_yes_or_no(cls.model_fields[info.field_name or ""].annotation, written)
