"""What a person reads of an acceptance, in both languages."""

from typing import Any

import pytest

from jury_events import Acceptance, Verdict
from jury_views import LABELS
from jury_views.acceptance_line import acceptance_line


def said(language: Any, **fields: Any) -> str:
    given = {"signal": "share", "verdict": Verdict.SAFE_PASS, "probability": 0.666666667, "threshold": 0.5}
    return acceptance_line(Acceptance(**{**given, "accepted": True, **fields}), LABELS[language])


@pytest.mark.parametrize(
    ("fields", "english", "japanese"),
    [
        ({}, "accepted: share of the votes 0.6667, threshold 0.5", "採用: 票の割合 0.6667、しきい値 0.5"),
        (
            {"signal": "weights", "threshold": 0.75, "accepted": False},
            (
                "safe_pass was not accepted and became needs_review: "
                "chance by learned weights 0.6667 is below the threshold 0.75"
            ),
            "safe_passは採用されずneeds_reviewとしました: 学習した重みによる確率 0.6667がしきい値0.75を下回ります",
        ),
        (
            {"signal": "dawid_skene", "verdict": Verdict.UNSAFE_FAIL, "threshold": 0.75},
            "accepted: the calibration is about safe_pass alone (posterior chance by Dawid and Skene 0.6667)",
            "採用: キャリブレーションの対象はsafe_passのみです（Dawid-Skeneの事後確率 0.6667）",
        ),
        (
            {"signal": "votes+step", "verdict": Verdict.UNSAFE_FAIL, "probability": 0.833333333},
            "accepted: agreement on the verdict and the decisive item 0.8333, threshold 0.5",
            "採用: 判定と決め手の項目についての一致度 0.8333、しきい値 0.5",
        ),
        (
            {"verdict": Verdict.NEEDS_REVIEW, "probability": None, "accepted": False},
            "not accepted: the verdict is needs_review already",
            "採用なし: 判定はもともとneeds_reviewです",
        ),
        (
            {"probability": None, "accepted": False},
            "safe_pass was not accepted and became needs_review: this calibration accepts no safe_pass",
            "safe_passは採用されずneeds_reviewとしました: このキャリブレーションはsafe_passを採用しません",
        ),
    ],
)
def test_an_acceptance_is_said_in_one_sentence(fields: dict[str, Any], english: str, japanese: str) -> None:
    assert (english, japanese) == (said("en", **fields), said("ja", **fields))
