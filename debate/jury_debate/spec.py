"""The base of what users write in panel files."""

from typing import Annotated, Any, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationInfo, field_validator


class Spec(BaseModel):
    """Part of a panel as written: unknown fields are refused, and so is a yes or no as a number."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @field_validator("*", mode="before")
    @classmethod
    def _number(cls, written: Any, info: ValidationInfo) -> Any:
        # Pydantic would take true as 1, and YAML has five words for true.
        if isinstance(written, bool) and info.field_name is not None:
            types = _types(cls.model_fields[info.field_name].annotation)
            if types & {int, float} and bool not in types:
                raise ValueError(f"a number is needed, and YAML reads this word as {str(written).lower()}")
        return written


def _types(annotation: Any) -> set[Any]:
    """A type and those that it is made of."""
    parts = get_args(annotation)
    if get_origin(annotation) is Annotated:
        return _types(parts[0])
    return {annotation}.union(*map(_types, parts))
