"""Where each type of a debate's events stands: one that is new is named with the places that miss it."""

import re
from pathlib import Path

from jury_events import DebateEvent

ROOT = Path(__file__).parents[2]

PLACES = {
    "the rules": "debate/jury_debate/rules_1/rules.py",
    "the fold for people": "views/jury_views/debate_fold.py",
    "its words": "views/jury_views/event_words.py",
    "the name of its kind": "views/jury_views/terms.py",
    "the rows of lists": "store/jury_store/projection.py",
    "the positions of a rescoring": "replay/jury_replay/rescoring/rescore.py",
}
"""Beside its class, the codec, which this test reads, and the stand-alone auditor, which needs none of them by name."""

WITHOUT = {
    ("juror_abstained", "the rows of lists"): "no column says who abstained before the judgment",
    ("reasoning_shown", "the rows of lists"): "the votes after it are those of phase 1",
    ("seats_not_asked", "the rows of lists"): "the judgment's votes say it",
    ("texts_erased", "the rows of lists"): "texts are no columns",
}


def test_a_type_stands_in_every_place_or_it_is_said_why_not() -> None:
    missed = {}
    for event in DebateEvent.__args__:
        name = event.model_fields["type"].default
        named = re.compile(rf'\b{event.__name__}\b|"{name}"')
        for place, path in PLACES.items():
            if not named.search((ROOT / path).read_text(encoding="utf-8")):
                missed[name, place] = path

    assert set(WITHOUT) == set(missed), missed
