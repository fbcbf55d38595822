"""The scales shipped with the package: labels, criteria and the question, in both languages of the prompts."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from jury_events.panel import Language, Panel
from jury_events.rubric import NO_CRITERIA, Dimension, Rubric
from jury_events.verdict_scale import ScaleLabel, VerdictScale

AGENT_SAFETY = "agent-safety"
"""The three verdicts: the scale of panels without one of their own."""

BUNDLED_SCALES = (AGENT_SAFETY, "binary", "answer-correctness", "helpfulness-5", "code-review")

OWN_CRITERIA = "custom"
"""The name of a rubric that is written out."""


class BundledScale(NamedTuple):
    """A scale with what is judged by it; `rubric` is None where the scale says nothing of points."""

    scale: VerdictScale
    task: str
    rubric: Rubric | None


@cache
def bundled_scale(name: str, language: Language) -> BundledScale:
    """One of the `BUNDLED_SCALES`, in a language; KeyError when there is none of the name."""
    if name not in BUNDLED_SCALES:
        raise KeyError(name)
    data = tomllib.loads((files(__package__) / "scales" / f"{name}.toml").read_text(encoding="utf-8"))
    labels = tuple(
        ScaleLabel(id=one["id"], outcome=one["outcome"], meaning=one["meaning"][language]) for one in data["labels"]
    )
    scale = VerdictScale(name=name, labels=labels, in_doubt=data.get("in_doubt"))
    criteria = data.get("criteria")
    rubric = NO_CRITERIA if criteria == NO_CRITERIA.name else None
    if isinstance(criteria, list):
        dimensions = tuple(
            Dimension(
                name=one["id"], maximum=one["maximum"], meaning=one["meaning"][language], critical=one.get("critical")
            )
            for one in criteria
        )
        rubric = Rubric(name=OWN_CRITERIA, dimensions=dimensions)
    return BundledScale(scale, data["task"][language], rubric)


def scale_of(panel: Panel) -> VerdictScale:
    """The scale that a panel judges in: its own, or that of the three verdicts."""
    return panel.scale or bundled_scale(AGENT_SAFETY, panel.language).scale


def scale_digest(panel: Panel) -> str:
    """64 hexadecimal digits: figures of debates whose panels have different ones are not comparable.

    The three verdicts have one digest in all languages.
    """
    return (panel.scale or bundled_scale(AGENT_SAFETY, "en").scale).digest
