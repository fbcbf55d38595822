"""The result of a debate, also under other settings."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field, with_config

from jury_judge.replays.grids import GRID_KEYS
from jury_views.evaluation_models import SERVED
from jury_views.result_models import DebateResult
from jury_web.api.schemas.base import CamelModel, JsonObject


@with_config(SERVED)
@dataclass
class ServedResult(DebateResult):
    """The result of a debate, as after the event `version` of it. What has not happened is null."""

    version: int = 0


class ReplayResult(CamelModel):
    """Whether the recorded events follow from the recorded answers."""

    debate_id: str
    status: Literal["equal", "different", "erased", "unreadable"]
    events: int
    finished: bool
    rules: int | None
    prompts: int | None
    differences: list[JsonObject]
    detail: str | None


class RescoreRequest(CamelModel):
    """Other settings: by key (docs/rescoring.md), a value or a list of values."""

    settings: Annotated[
        dict[Literal[GRID_KEYS], Any],  # type: ignore[valid-type]
        Field(min_length=1, max_length=20, examples=[{"threshold": [0.67, 1.0]}]),
    ]
    mode: Annotated[Literal["strict", "recount"], Field(description="recount keeps every recorded position.")] = (
        "strict"
    )


class RescoreResult(CamelModel):
    """One row for each setting; undetermined values are null."""

    mode: Literal["strict", "recount"]
    rows: list[JsonObject]
