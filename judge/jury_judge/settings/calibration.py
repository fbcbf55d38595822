"""What a calibration promises, and on which cases it is found."""

from math import isclose
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, field_validator

from jury_judge.errors import SettingsRefused
from jury_judge.settings.statistics import Seed
from jury_judge.settings.vote_defaults import CONFIDENCE, RISK, SEED
from jury_judge.settings.vote_sources import VoteSources

PARTS = ("fit", "certify", "test")

Signal = Literal["share", "isotonic", "weights", "dawid_skene", "votes+step"]
_Within = Annotated[float, Field(gt=0, lt=1)]
_PerCent = Annotated[float, Field(ge=0, le=100)]


class CalibrationSettings(VoteSources):
    """`jury calibrate`.

    Attributes:
        include_simulated: debates of simulated jurors count too.
        risk: at most this share of the accepted verdicts is wrong.
        confidence: of that promise.
        on: what is wrong: a verdict that is not the label, or a pass that is labelled a fail.
        signal: how sure the panel is.
        split: per cent of the clusters to fit, certify and test on, drawn; None: see `CalibrationOptions`.
        fit: a file with the cases to fit on, an id a line.
        certify: likewise, to certify on.
        test: likewise, to report on.
        seed: of the draw.
    """

    include_simulated: bool = False
    risk: _Within = RISK
    confidence: _Within = CONFIDENCE
    on: Literal["error", "false_pass"] = "error"
    signal: Signal = "share"
    split: tuple[_PerCent, _PerCent, _PerCent] | None = None
    fit: Path | None = None
    certify: Path | None = None
    test: Path | None = None
    seed: Seed = SEED

    @field_validator("split")
    @classmethod
    def _whole(cls, split: tuple[float, float, float] | None) -> tuple[float, float, float] | None:
        if split is not None and not isclose(sum(split), 100):
            raise ValueError("must be the per cent to fit, certify and test on, which add up to 100")
        return split

    def model_post_init(self, context: object) -> None:
        """Refuse settings that do not go together."""
        super().model_post_init(context)
        if self.seats and not self.files:
            raise SettingsRefused("{seats} goes with {votes} FILE: of a store the panel is calibrated as it sat")
        if self.split is not None and self.named_parts:
            raise SettingsRefused(
                "{split} draws the parts, {fit}, {certify} and {test} name them: give one or the other"
            )

    @property
    def named_parts(self) -> dict[str, Path]:
        """The files with the cases of parts, by part."""
        return {part: path for part in PARTS if (path := getattr(self, part)) is not None}
