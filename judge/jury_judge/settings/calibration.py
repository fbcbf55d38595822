"""What a calibration promises, and on which cases it is found."""

from math import isclose
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from jury_events.ladder import FEWEST_STAGES, MOST_STAGES
from jury_judge.errors import SettingsRefused
from jury_judge.settings.statistics import CONFIDENCE, RISK, SEED, Seed, VoteSources, is_file

PARTS = ("fit", "certify", "test")

Signal = Literal["share", "isotonic", "weights", "dawid_skene", "votes+step", "probability"]
Promised = Literal["pass", "fail", "missed"]
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
        stages: of a ladder, from the cheapest on (docs/stages.md): of a store the run of each stage, or one run by the
            ladder without a certificate; of files the seats of each (`a,b`); (): one panel is calibrated.
        promises: of a ladder, in place of `risk`: at most these shares of the accepted passes and fails are wrong, and
            of the failing cases are missed.
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
    stages: tuple[str, ...] = ()
    promises: dict[Promised, _Within] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _runs_of_stages(cls, fields: Any) -> Any:
        """The runs of a ladder are those of its stages."""
        if not isinstance(fields, dict) or not fields.get("stages"):
            return fields
        given = [name for name in ("run_ids", "everything") if fields.get(name)]
        files = [*filter(is_file, fields.get("sources") or ()), *(fields.get("votes") or ())]
        runs = [one for one in fields.get("sources") or () if not is_file(one)]
        if given or runs:
            name = f"{{{given[0]}}}" if given else runs[0]
            raise SettingsRefused(f"{{stages}} names the runs of a ladder, one a stage: leave {name} out")
        return fields if files else {**fields, "run_ids": tuple(fields["stages"])}

    @field_validator("split")
    @classmethod
    def _whole(cls, split: tuple[float, float, float] | None) -> tuple[float, float, float] | None:
        if split is not None and not isclose(sum(split), 100):
            raise ValueError("must be the per cent to fit, certify and test on, which add up to 100")
        return split

    def model_post_init(self, context: object) -> None:
        """Refuse settings that do not go together."""
        super().model_post_init(context)
        self._check_stages()
        if self.seats and not self.files:
            raise SettingsRefused("{seats} goes with {votes} FILE: of a store the panel is calibrated as it sat")
        if self.split is not None and self.named_parts:
            raise SettingsRefused(
                "{split} draws the parts, {fit}, {certify} and {test} name them: give one or the other"
            )

    def _check_stages(self) -> None:
        if not self.stages:
            if self.promises:
                raise SettingsRefused("{risk} by outcome is promised of ladders: add {stages}, or write {risk} 0.05")
            return
        by_the_ladder = len(self.stages) == 1 and not self.files
        if not by_the_ladder and not FEWEST_STAGES <= len(self.stages) <= MOST_STAGES:
            raise SettingsRefused(
                f"{{stages}}: a ladder has {FEWEST_STAGES} to {MOST_STAGES} stages, parted by ;, not {len(self.stages)}"
            )
        if not self.promises:
            raise SettingsRefused("{stages} accepts by outcome: promise {risk} pass=0.1,fail=0.1, or one of both")
        if self.seats:
            raise SettingsRefused("{seats} does not go with {stages}, which names the seats of each stage")
        if self.on != "error" or self.signal != "share":
            name = "on" if self.on != "error" else "signal"
            raise SettingsRefused(f"{{{name}}} does not go with {{stages}}: a ladder promises by outcome, by the share")
        if self.named_parts or (self.split is not None and self.split[0]):
            raise SettingsRefused("a ladder is not fitted: with {stages} only {split} 0/70/30 names parts of the cases")

    @property
    def named_parts(self) -> dict[str, Path]:
        """The files with the cases of parts, by part."""
        return {part: path for part in PARTS if (path := getattr(self, part)) is not None}
