"""Scales as users write them in panel files."""

from collections.abc import Callable
from fractions import Fraction
from typing import Annotated, Any, NamedTuple, Self, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from jury_debate.errors import PanelError
from jury_events.bundled_scales import AGENT_SAFETY, BUNDLED_SCALES, OWN_CRITERIA, bundled_scale
from jury_events.exact import exact
from jury_events.nearest import did_you_mean
from jury_events.panel import Bands, Language, Panel
from jury_events.rubric import NO_CRITERIA, RUBRICS, STANDARD_RUBRIC, CriticalCap, Dimension, DimensionName, Rubric
from jury_events.verdict_scale import (
    FEWEST_LABELS,
    MOST_LABELS,
    LabelId,
    Meaning,
    OutcomeWord,
    ScaleLabel,
    VerdictScale,
)
from jury_events.yes_or_no import refuse_yes_or_no


class Spec(BaseModel):
    """Part of a panel as written: unknown fields are refused, and so is a yes or no as a number."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @field_validator("*", mode="before")
    @classmethod
    def _number(cls, written: Any, info: ValidationInfo) -> Any:
        return refuse_yes_or_no(cls.model_fields[info.field_name or ""].annotation, written)


_Built = TypeVar("_Built", VerdictScale, Rubric, Dimension)

OWN_SCALE = "own"
"""The name of a scale that is written without one."""


class TextByLanguage(Spec):
    """A text in the languages of the prompts; one that is written without a language is shown in both."""

    en: Meaning | None = None
    ja: Meaning | None = None

    def in_language(self, language: Language, place: str) -> str:
        """The text in a language."""
        text = self.ja if language == "ja" else self.en
        if text is None:
            raise PanelError(f"{place}: it has no text in the panel's language, {language}; write {place}.{language}")
        return text


def _wording(written: Any) -> Any:
    return {"en": written, "ja": written} if isinstance(written, str) else written


WrittenText = Annotated[TextByLanguage, BeforeValidator(_wording)]


def _word(written: Any) -> Any:
    if isinstance(written, bool):
        raise ValueError(  # noqa: TRY004  (pydantic reports only ValueErrors)
            f'YAML reads this word as {str(written).lower()}; write it in quotation marks, as "yes"'
        )
    return str(written) if isinstance(written, int) else written


WrittenLabelId = Annotated[LabelId, BeforeValidator(_word)]


class LabelSpec(Spec):
    """One verdict word."""

    id: WrittenLabelId
    """The word."""
    outcome: OutcomeWord
    """What it comes to for gates, exits and reviews. Jurors do not see it."""
    meaning: WrittenText
    """When it holds, in at most 500 characters, in one text or by language."""


def _meanings(written: Any) -> Any:
    return {str(number): one for number, one in enumerate(written, 1)} if isinstance(written, list) else written


def _levels_by_word(written: Any) -> Any:
    written = _meanings(written)
    return {_word(level): one for level, one in written.items()} if isinstance(written, dict) else written


def _labels(written: Any) -> Any:
    count = len(written) if isinstance(written, list | tuple) else FEWEST_LABELS
    if not FEWEST_LABELS <= count <= MOST_LABELS:
        raise ValueError(f"a scale has {FEWEST_LABELS} to {MOST_LABELS} labels, not {count}")
    return written


class ScaleSpec(Spec):
    """Verdict words of your own: `labels`, or `levels` with `meanings`; `scale: NAME` for a bundled one."""

    name: str | None = None
    """Of a bundled scale, or of your own."""
    labels: Annotated[tuple[LabelSpec, ...], BeforeValidator(_labels)] | None = None
    """From worst to best, 2 to 20."""
    levels: Annotated[int, Field(ge=FEWEST_LABELS, le=MOST_LABELS)] | None = None
    """So many labels 1, 2 …"""
    meanings: Annotated[dict[str, WrittenText], BeforeValidator(_levels_by_word)] | None = None
    """Of the levels, in order or by level."""
    pass_from: int | None = None
    """The lowest level that passes; by default 70 of 100."""
    review_from: int | None = None
    """The lowest level that does not fail; by default 40 of 100."""
    in_doubt: WrittenLabelId | None = None
    """The label to choose in doubt."""

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if self.labels is not None and self.levels is not None:
            raise ValueError("labels, levels: write one of them")
        for field in ("meanings", "pass_from", "review_from"):
            if getattr(self, field) is not None and self.levels is None:
                raise ValueError(f"{field}: belongs to levels; write levels: 5, or leave it out")
        if self.labels is None and self.levels is None and self.in_doubt is not None:
            raise ValueError("in_doubt: belongs to labels or levels that are written out")
        return self


def _bundled(written: Any) -> Any:
    return {"name": written} if isinstance(written, str) else written


WrittenScale = Annotated[ScaleSpec, BeforeValidator(_bundled)]


def _critical(written: Any) -> Any:
    if isinstance(written, bool):
        return "review" if written else None
    return written


class CriterionSpec(Spec):
    """One criterion."""

    id: DimensionName
    """Its name in scores."""
    maximum: float
    """Its points; those of all criteria add up to 100."""
    meaning: WrittenText
    """What earns the points, in at most 500 characters."""
    critical: Annotated[CriticalCap | None, BeforeValidator(_critical)] = None
    """With too few of its points the verdict is review at best (`true`), or a fail (`fail`). Jurors do not see it."""
    critical_below: float | None = None
    """The share of its points that is too few below; by default half."""


def _criteria(written: Any) -> Any:
    if isinstance(written, str):
        if written == NO_CRITERIA.name:
            return ()
        raise ValueError(f"{written!r} is neither a list of criteria nor the word {NO_CRITERIA.name}")
    if written == []:
        raise ValueError(f"there is none; write {NO_CRITERIA.name} if jurors are to give no points")
    return written


WrittenCriteria = Annotated[tuple[CriterionSpec, ...], BeforeValidator(_criteria)]
"""() where no points are asked for."""


class ResolvedScale(NamedTuple):
    """What a panel judges by; `scale` and `task` are None where they are the documents'."""

    scale: VerdictScale | None
    task: str | None
    rubric: Rubric


def resolve_scale(
    scale: ScaleSpec | None,
    task: TextByLanguage | None,
    rubric: str | dict[str, float] | None,
    criteria: tuple[CriterionSpec, ...] | None,
    language: Language,
) -> ResolvedScale:
    """What a panel judges by, in its language.

    A bundled scale brings its criteria and its question, where the panel has none of its own. Without criteria and
    without a rubric, a scale of the panel's own asks for no points.
    """
    known = bundled_scale(AGENT_SAFETY, language)
    named = None
    if scale is not None and scale.labels is None and scale.levels is None:
        named = bundled_scale(_known_name(scale.name), language)
    shown = named.scale if named is not None else known.scale if scale is None else _scale(scale, language)
    question = named.task if named is not None else None
    if task is not None:
        question = task.in_language(language, "task")
    documents = (shown.labels, shown.in_doubt) == (known.scale.labels, known.scale.in_doubt)
    own = None if documents else shown
    points = named.rubric if named is not None else None
    if rubric is not None and criteria is not None:
        raise PanelError("rubric, criteria: write one of them")
    if rubric is not None:
        points = resolve_rubric(rubric)
    elif criteria is not None:
        points = _rubric_of(criteria, language) if criteria else NO_CRITERIA
    if points is None:
        points = STANDARD_RUBRIC if own is None else NO_CRITERIA
    return ResolvedScale(own, None if question == known.task else question, points)


def resolve_rubric(written: str | dict[str, float]) -> Rubric:
    """A rubric by its name, or as a table."""
    if isinstance(written, dict):
        return Rubric(
            name=OWN_CRITERIA,
            dimensions=tuple(Dimension(name=name, maximum=float(maximum)) for name, maximum in written.items()),
        )
    if written not in RUBRICS:
        known = f"{', '.join(RUBRICS)}{did_you_mean(written, RUBRICS)}"
        raise PanelError(f"rubric: {written!r} is not one of {known}, nor a table of dimension: maximum")
    return RUBRICS[written]


def bundled_name(panel: Panel) -> str | None:
    """The bundled scale that a panel judges by, with its criteria and its question; None: it has words of its own."""
    judged_by = (panel.scale, panel.task, panel.rubric)
    return next((name for name in BUNDLED_SCALES if judged_by == bundled_scale(name, panel.language)), None)


def written_scale(panel: Panel) -> dict[str, Any]:
    """The fields `scale`, `task`, `rubric` and `criteria` of a panel file that resolve to those of a panel."""
    rubric = panel.rubric
    fields: dict[str, Any] = {}
    if panel.scale is not None:
        labels = [{"id": one.id, "outcome": one.outcome, "meaning": one.meaning} for one in panel.scale.labels]
        doubt = {} if panel.scale.in_doubt is None else {"in_doubt": panel.scale.in_doubt}
        fields["scale"] = {"name": panel.scale.name, "labels": labels, **doubt}
    if panel.task is not None:
        fields["task"] = panel.task
    if rubric.of_rank:
        fields["criteria"] = NO_CRITERIA.name
    elif RUBRICS.get(rubric.name) == rubric:
        fields["rubric"] = rubric.name
    elif any(one.meaning is not None for one in rubric.dimensions):
        fields["criteria"] = [_written_criterion(one) for one in rubric.dimensions]
    else:
        fields["rubric"] = {dimension.name: dimension.maximum for dimension in rubric.dimensions}
    return fields


def _written_criterion(one: Dimension) -> dict[str, Any]:
    found: dict[str, Any] = {"id": one.name, "maximum": one.maximum, "meaning": one.meaning}
    if one.critical is not None:
        found["critical"] = one.critical
    if one.critical_below is not None:
        found["critical_below"] = one.critical_below
    return found


def _known_name(name: str | None) -> str:
    if name is None:
        raise PanelError(f"scale: write labels, levels, or one of {', '.join(BUNDLED_SCALES)}")
    if name not in BUNDLED_SCALES:
        raise PanelError(
            f"scale: there is no scale {name!r}{did_you_mean(name, BUNDLED_SCALES)}; "
            f"bundled are {', '.join(BUNDLED_SCALES)}, and one of your own has labels or levels"
        )
    return name


def _scale(written: ScaleSpec, language: Language) -> VerdictScale:
    labels = _written_labels(written, language) if written.labels is not None else _levels(written, language)
    return _built(
        "scale.", lambda: VerdictScale(name=written.name or OWN_SCALE, labels=labels, in_doubt=written.in_doubt)
    )


def _written_labels(written: ScaleSpec, language: Language) -> tuple[ScaleLabel, ...]:
    return tuple(
        ScaleLabel(
            id=one.id,
            outcome=one.outcome,
            meaning=one.meaning.in_language(language, f"scale.labels.{index}.meaning"),
        )
        for index, one in enumerate(written.labels or ())
    )


def _levels(written: ScaleSpec, language: Language) -> tuple[ScaleLabel, ...]:
    assert written.levels is not None
    words = [str(number) for number in range(1, written.levels + 1)]
    meanings = written.meanings or {}
    for word in words:
        if word not in meanings:
            raise PanelError(f"scale.meanings: level {word} has none; every level needs a meaning")
    for word in meanings:
        if word not in words:
            raise PanelError(f"scale.meanings: {word} is none of the levels 1 to {written.levels}")
    passes = written.pass_from or _from(Bands().pass_from, written.levels)
    reviewed = written.review_from or min(passes, _from(Bands().review_from, written.levels))
    if not 1 <= reviewed <= passes <= written.levels:
        raise PanelError(
            f"scale.pass_from, scale.review_from: must be levels from 1 to {written.levels}, "
            "and review_from not above pass_from"
        )
    return tuple(
        ScaleLabel(
            id=word,
            outcome="pass" if int(word) >= passes else "review" if int(word) >= reviewed else "fail",
            meaning=meanings[word].in_language(language, f"scale.meanings.{word}"),
        )
        for word in words
    )


def _from(band: float, levels: int) -> int:
    """The lowest level whose share of the scale, 100 · rank / (levels - 1), reaches a band."""
    return next(level for level in range(1, levels + 1) if Fraction(100 * (level - 1), levels - 1) >= exact(band))


def _dimension(one: CriterionSpec, place: str, language: Language) -> Dimension:
    meaning = one.meaning.in_language(language, f"{place}.meaning")
    return _built(
        f"{place}: ",
        lambda: Dimension(
            name=one.id,
            maximum=one.maximum,
            meaning=meaning,
            critical=one.critical,
            critical_below=one.critical_below,
        ),
    )


def _rubric_of(criteria: tuple[CriterionSpec, ...], language: Language) -> Rubric:
    dimensions = tuple(_dimension(one, f"criteria.{index}", language) for index, one in enumerate(criteria))
    return _built("criteria: ", lambda: Rubric(name=OWN_CRITERIA, dimensions=dimensions))


def _built(place: str, build: Callable[[], _Built]) -> _Built:
    """What `build` makes, whose refusal becomes one of the panel file."""
    try:
        return build()
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = "".join(f"{part}: " for part in first["loc"])
        message = first["msg"].removeprefix("Value error, ").removeprefix("dimensions: ")
        raise PanelError(f"{place}{field}{message}") from error
