"""Which panel judges, and what overrides it."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, Field

from jury_debate.presets import PRESETS, checked_threshold
from jury_events.nearest import did_you_mean
from jury_events.panel import FinalMethod, Language
from jury_judge.panels.variables import (
    CONSENSUS_THRESHOLD,
    FINAL_JUDGE_MODEL,
    FINAL_JUDGMENT_METHOD,
    MAX_DISCUSSION_ROUNDS,
    MOST_ROUNDS,
    USE_COLLABORATIVE,
    Overrides,
)
from jury_judge.settings.model import SettingsModel


def _known(preset: Any) -> Any:
    if preset not in PRESETS:
        raise ValueError(f"must be one of {', '.join(PRESETS)}{did_you_mean(preset, PRESETS)}")
    return preset


def usable_threshold(value: float) -> float:
    """A consensus threshold.

    Raises:
        ValueError: it cannot be one; the message says what may be.
    """
    return checked_threshold(value)


class PanelSettings(SettingsModel):
    """The panel, and what overrides its file.

    Attributes:
        panel_name: a panel file, a bundled jury or a preset; None is the default preset with simulated jurors.
        preset: the rules of the discussion, with any jurors.
        language: of the prompts.
        max_rounds: discussion rounds at most.
        threshold: of the consensus.
        method: of the final judgment.
        judge_model: the final judge's.
        seat_models: those of the seats, where no panel file names them.
    """

    file_names: ClassVar[Mapping[str, str]] = {"panel_name": "panel", "seat_models": "model"}
    variables: ClassVar[Mapping[str, str]] = {
        "preset": USE_COLLABORATIVE,
        "max_rounds": MAX_DISCUSSION_ROUNDS,
        "threshold": CONSENSUS_THRESHOLD,
        "method": FINAL_JUDGMENT_METHOD,
        "judge_model": FINAL_JUDGE_MODEL,
    }

    panel_name: str | None = None
    preset: Annotated[str, AfterValidator(_known)] | None = None
    language: Language | None = None
    max_rounds: Annotated[int, Field(ge=0, le=MOST_ROUNDS)] | None = None
    threshold: Annotated[float, AfterValidator(usable_threshold)] | None = None
    method: FinalMethod | None = None
    judge_model: str | None = None
    seat_models: tuple[str, ...] = ()

    @property
    def overrides(self) -> Overrides:
        """What overrides the panel."""
        return Overrides(
            self.language, self.max_rounds, self.threshold, self.method, self.judge_model, self.preset, self.seat_models
        )
