"""The base of all settings: frozen values whose rules between fields are checked where they are made."""

from typing import Any, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from jury_judge.errors import SettingsRefused


class SettingsModel(BaseModel):
    """Frozen, no unknown field, no NaN or infinity. A subclass refuses combinations with `SettingsRefused`."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, arbitrary_types_allowed=True)

    @classmethod
    def of(cls, **fields: Any) -> Self:
        """The settings of these fields.

        Raises:
            SettingsRefused: a field is unknown or has a value that it cannot have, or fields do not go together.
        """
        try:
            return cls.model_validate(fields)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False, include_context=False)[0]
            place = "".join(f"[{part}]" if isinstance(part, int) else f"{{{part}}}" for part in first["loc"][:2])
            message = first["msg"].removeprefix("Value error, ")
            raise SettingsRefused(f"{place}: {_escaped(message)}") from error


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")
