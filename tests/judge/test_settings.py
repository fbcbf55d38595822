"""Rules between settings: one check for every front door, worded in the names of each."""

from typing import Any

import pytest

from jury_events.conditions import parse_condition
from jury_events.verdict import Verdict
from jury_judge.errors import SettingsRefused
from jury_judge.settings.listing import ListSettings
from jury_judge.settings.model import SettingsModel
from jury_judge.settings.reviewing import ReviewSettings
from jury_judge.settings.showing import ShowSettings
from jury_store.debate_rows import DebateFilter

REVIEWER = {"reviewer": "ann"}


def option(field: str) -> str:
    return "--" + field.replace("_", "-")


@pytest.mark.parametrize(
    ("model", "fields", "message"),
    [
        (ListSettings, {"of_runs": True, "totals": True}, "of_runs lists all runs: it goes with limit and as_json"),
        (ListSettings, {"of_runs": True, "chosen": DebateFilter(run_id="r")}, "of_runs lists all runs"),
        (ListSettings, {"group_by": "tags", "limit": 3}, "group_by counts all debates: leave limit and columns out"),
        (ListSettings, {"totals": True, "columns": "case"}, "totals adds up all debates"),
        (ListSettings, {"totals": True, "group_by": "tags"}, "give group_by or totals, not both"),
        (ShowSettings, {"as_events": True, "full": True}, "as_events shows no case"),
        (ShowSettings, {"as_prompts": True, "as_events": True}, "as_prompts shows what was sent"),
        (ShowSettings, {"as_evidence": True, "full": True}, "as_evidence shows quotations"),
        (ShowSettings, {"step": "final"}, "step and marked go with as_prompts"),
        (ReviewSettings, {}, "say reviewer NAME"),
        (ReviewSettings, {"verdict": Verdict.SAFE_PASS, **REVIEWER}, "verdict is about one debate: name it"),
        (ReviewSettings, {"debate_id": "d", "assign": "bob", "withdraw": 1}, "give one of assign and withdraw"),
        (ReviewSettings, {"debate_id": "d", "limit": 1, **REVIEWER}, "limit is about the queue, and a debate is named"),
        (ReviewSettings, {"of_queue": True, "of_agreement": True}, "give of_queue or of_agreement, not both"),
        (ReviewSettings, {"reason": "why", **REVIEWER}, "reason and minutes go with verdict"),
        (ReviewSettings, {"debate_id": "d", "assign": "bob", "blind": True}, "blind has no meaning with assign"),
        (ReviewSettings, {"of_agreement": True, "sample": 3}, "sample has no meaning with of_agreement"),
        (ReviewSettings, {"seed": 7, **REVIEWER}, "seed is that of a random sample: it goes with sample N"),
        (ReviewSettings, {"as_json": True, **REVIEWER}, "as_json prints what of_queue, of_agreement, verdict, assign"),
    ],
)
def test_settings_that_do_not_go_together_are_refused(
    model: type[SettingsModel], fields: dict[str, Any], message: str
) -> None:
    with pytest.raises(SettingsRefused, match=f"^{message}"):
        model.of(**fields)


def test_a_refusal_is_worded_in_the_names_of_a_front_door() -> None:
    with pytest.raises(SettingsRefused) as refused:
        ListSettings.of(group_by="tags", columns="case")

    assert (
        "--group-by counts all debates: leave --limit and --columns out, or choose with --run-id and --where"
        == refused.value.worded(option)
    )


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"of_queue": True}, False),
        ({"of_agreement": True, "where": (parse_condition("tags=a"),)}, False),
        ({"of_queue": True, "sample": 2, "seed": 7, **REVIEWER}, False),
        ({"debate_id": "d", **REVIEWER}, False),
        ({"debate_id": "d", "verdict": "safe_pass", "reason": "why", "blind": True, **REVIEWER}, True),
        ({"debate_id": "d", "withdraw": 1, "reason": "why", **REVIEWER}, True),
    ],
)
def test_a_request_of_reviews_is_of_one_debate_or_of_several(fields: dict[str, Any], expected: bool) -> None:
    assert expected == ReviewSettings.of(**fields).of_one
