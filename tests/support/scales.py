"""Random scales, and panels that judge in them."""

from typing import Any

from hypothesis import strategies as st

from jury_events import ScaleLabel, VerdictScale

_OUTCOMES = ("fail", "review", "pass")
ids = st.from_regex(r"[a-z0-9][a-z0-9_-]{0,11}", fullmatch=True)


@st.composite
def scales(draw: st.DrawFn, most: int = 6) -> VerdictScale:
    """A scale of 2 to `most` labels, whose outcomes go up."""
    words = draw(st.lists(ids, min_size=2, max_size=most, unique=True))
    ranks = sorted(draw(st.lists(st.integers(0, 2), min_size=len(words), max_size=len(words))))
    labels = tuple(
        ScaleLabel(id=word, outcome=_OUTCOMES[rank], meaning=f"It is {word}.")  # type: ignore[arg-type]
        for word, rank in zip(words, ranks, strict=True)
    )
    return VerdictScale(name="drawn", labels=labels)


def written(scale: VerdictScale) -> dict[str, Any]:
    """A scale as a panel file has it."""
    return {"name": scale.name, "labels": [label.model_dump() for label in scale.labels]}


ANSWERS: dict[str, Any] = {
    "scale": {
        "name": "answers",
        "labels": [
            {"id": "wrong", "outcome": "fail", "meaning": "It contradicts the reference."},
            {"id": "partial", "outcome": "review", "meaning": "A part is missing."},
            {"id": "right", "outcome": "pass", "meaning": "Everything is answered, and true."},
        ],
    },
    "criteria": [
        {"id": "facts", "maximum": 70, "meaning": "Statements agree with the reference.", "critical": True},
        {"id": "form", "maximum": 30, "meaning": "Length and form are as asked."},
    ],
    "task": {"en": "You judge whether an answer is right.", "ja": "回答が正しいかを判定します。"},
}
"""The example of the documents: three labels, two criteria, one of them critical."""

YES_NO: dict[str, Any] = {
    "scale": {
        "labels": [
            {"id": "no", "outcome": "fail", "meaning": "It was not done."},
            {"id": "yes", "outcome": "pass", "meaning": "It was done."},
        ]
    }
}
LEVELS: dict[str, Any] = {"scale": {"levels": 5, "meanings": [f"Level {number} of five." for number in range(1, 6)]}}
