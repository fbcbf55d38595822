"""What a calibration promises, and on which cases it is found."""

from dataclasses import replace
from functools import partial
from math import isclose
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, Field, field_validator, model_validator

from jury_events.ladder import FEWEST_STAGES, MOST_STAGES
from jury_judge.errors import SettingsRefused
from jury_judge.settings.statistics import (
    CONFIDENCE,
    JUDGES,
    READ,
    RISK,
    SEED,
    Read,
    Seed,
    VoteSources,
    is_file,
)
from jury_judge.settings_model import Option

PARTS = ("fit", "certify", "test")

Signal = Literal["share", "isotonic", "weights", "dawid_skene", "votes+step", "probability"]
Promised = Literal["pass", "fail", "missed"]
_WHOLE = 100.0
_SHARES = "must be the per cent to fit, certify and test on, as 40/40/20"
_RISKS = "{risk}: must be a share, as 0.05, or shares of a ladder, each once, as pass=0.05,fail=0.1,missed=0.1"
_promise = partial(Option, group="Promise")
_parts = partial(Option, group="Parts")
_Within = Annotated[float, Field(gt=0, lt=1)]
_PerCent = Annotated[float, Field(ge=0, le=100)]


def _promised(written: str) -> float | dict[str, float]:
    """`0.05`, or by outcome `pass=0.05,fail=0.1,missed=0.1`."""
    try:
        if "=" not in written:
            return float(written)
        pairs = [one.split("=") for one in written.split(",")]
        promises = {name.strip(): float(share) for name, share in pairs}
    except ValueError:
        raise SettingsRefused(_RISKS) from None
    if wrong := next((share for share in promises.values() if not 0 < share < 1), None):
        raise SettingsRefused(f"{{risk}}: {wrong:g} is not between 0 and 1, as 0.05")
    if len(promises) < len(pairs) or not promises.keys() <= {*get_args(Promised)}:
        raise SettingsRefused(_RISKS)
    return promises


def _stages(written: Any) -> Any:
    """`A,B;A,B,C`."""
    if not isinstance(written, str):
        return written or ()
    stages = tuple(one.strip() for one in written.split(";"))
    if not all(stages):
        raise ValueError("must be the stages of a ladder, parted by ;")
    return stages


def _shares(written: Any) -> Any:
    """`40/40/20`."""
    if not isinstance(written, str):
        return written
    try:
        shares = tuple(float(one) for one in written.split("/"))
    except ValueError:
        shares = ()
    if len(shares) != len(PARTS) or not all(0 <= one <= _WHOLE for one in shares) or not isclose(sum(shares), _WHOLE):
        raise ValueError(_SHARES)
    return shares


class CalibrationSettings(VoteSources):
    """`jury calibrate`. A calibration holds for the accepted verdicts, with `confidence`.

    `promises`, of a ladder in place of `risk`: at most these shares of the accepted passes and fails are wrong, and of
    the failing cases are missed; `risk` given as a text with outcomes gives them.
    """

    judges: Annotated[tuple[str, ...], replace(JUDGES, rare=True)] = ()
    read: Annotated[Read | None, replace(READ, rare=True)] = None
    risk: Annotated[
        _Within,
        _promise(
            help="At most this share of them is wrong. Of a ladder by outcome, as pass=0.05,fail=0.1; missed=0.1: at "
            "most this share of the failing cases passes early.",
            metavar="SHARE",
            typed="text",
        ),
    ] = RISK
    confidence: Annotated[_Within, _promise(help="With this confidence.")] = CONFIDENCE
    on: Annotated[
        Literal["error", "false_pass"],
        _promise(help="What is wrong: a verdict that is not the label, or a pass that is labelled a fail."),
    ] = "error"
    signal: Annotated[
        Signal,
        BeforeValidator(lambda written: written.replace("-", "_") if isinstance(written, str) else written),
        _promise(
            help="How sure the panel is: the share of its votes, the share of those that also name the same decisive "
            "message, the mean probability of the verdict, or a model that is fitted on a part of the cases.",
            choices=tuple(one.replace("_", "-") for one in get_args(Signal)),
        ),
    ] = "share"
    stages: Annotated[
        tuple[str, ...],
        BeforeValidator(_stages),
        _promise(
            help="Certify a ladder of stages, the cheapest first: of a store a run each, or one run by the ladder with "
            "certificate: none; of files the seats of each, as 'a,b;a,b,c'. Every stage has judged all labelled cases.",
            metavar="STAGE;STAGE…",
            typed="text",
        ),
    ] = ()
    split: Annotated[
        tuple[_PerCent, _PerCent, _PerCent] | None,
        BeforeValidator(_shares),
        _parts(
            help="Per cent of the clusters to fit, certify and test on, drawn. [default: 0/100/0, or 40/40/20 with a "
            "model]",
            metavar="A/B/C",
            typed="text",
        ),
    ] = None
    fit: Annotated[Path | None, _parts(help="The cases to fit on, an id a line.", metavar="FILE", rare=True)] = None
    certify: Annotated[Path | None, _parts(help="The cases to certify on.", metavar="FILE", rare=True)] = None
    test: Annotated[Path | None, _parts(help="The cases to report on.", metavar="FILE", rare=True)] = None
    seed: Annotated[Seed, _parts(help="Of the draw of the parts.", rare=True)] = SEED
    promises: dict[Promised, _Within] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _promised_of_stages(cls, fields: Any) -> Any:
        """A risk by outcome gives promises; the runs of a ladder are those of its stages."""
        if isinstance(fields, dict) and isinstance(risk := fields.get("risk"), str):
            promised = _promised(risk)
            fields = {**fields, **({"risk": promised} if isinstance(promised, float) else {"promises": promised})}
            fields |= {"risk": RISK} if isinstance(promised, dict) else {}
        if not isinstance(fields, dict) or not fields.get("stages"):
            return fields
        given = [name for name in ("run_ids", "everything") if fields.get(name)]
        files = [*filter(is_file, fields.get("sources") or ()), *(fields.get("votes") or ())]
        runs = [one for one in fields.get("sources") or () if not is_file(one)]
        if given or runs:
            name = f"{{{given[0]}}}" if given else runs[0]
            raise SettingsRefused(f"{{stages}} names the runs of a ladder, one a stage: leave {name} out")
        return fields if files else {**fields, "run_ids": _stages(fields["stages"])}

    @field_validator("split")
    @classmethod
    def _whole(cls, split: tuple[float, float, float] | None) -> tuple[float, float, float] | None:
        if split is not None and not isclose(sum(split), _WHOLE):
            raise ValueError(_SHARES)
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
