"""Rules between settings: one check for every front door, worded in the names of each."""

from typing import Any

import pytest

from jury_events.conditions import parse_condition
from jury_events.verdict import Verdict
from jury_judge.errors import SettingsRefused
from jury_judge.settings.listing import Listing
from jury_judge.settings.model import SettingsModel
from jury_judge.settings.reviewing import ReviewRequest
from jury_judge.settings.showing import Showing
from jury_store.debate_rows import DebateFilter

REVIEWER = {"reviewer": "ann"}


def option(field: str) -> str:
    return "--" + field.replace("_", "-")


@pytest.mark.parametrize(
    ("model", "fields", "message"),
    [
        (Listing, {"of_runs": True, "totals": True}, "of_runs lists all runs: it goes with limit and as_json"),
        (Listing, {"of_runs": True, "chosen": DebateFilter(run_id="r")}, "of_runs lists all runs"),
        (Listing, {"group_by": "tags", "limit": 3}, "group_by counts all debates: leave limit and columns out"),
        (Listing, {"totals": True, "columns": "case"}, "totals adds up all debates"),
        (Listing, {"totals": True, "group_by": "tags"}, "give group_by or totals, not both"),
        (Showing, {"as_events": True, "full": True}, "as_events shows no case"),
        (Showing, {"as_prompts": True, "as_events": True}, "as_prompts shows what was sent"),
        (Showing, {"step": "final"}, "step and marked go with as_prompts"),
        (ReviewRequest, {}, "say reviewer NAME"),
        (ReviewRequest, {"verdict": Verdict.SAFE_PASS, **REVIEWER}, "verdict is about one debate: name it"),
        (ReviewRequest, {"debate_id": "d", "assign": "bob", "withdraw": 1}, "give one of assign and withdraw"),
        (ReviewRequest, {"debate_id": "d", "limit": 1, **REVIEWER}, "limit is about the queue, and a debate is named"),
        (ReviewRequest, {"of_queue": True, "of_agreement": True}, "give of_queue or of_agreement, not both"),
        (ReviewRequest, {"reason": "why", **REVIEWER}, "reason and minutes go with verdict"),
        (ReviewRequest, {"debate_id": "d", "assign": "bob", "blind": True}, "blind has no meaning with assign"),
        (ReviewRequest, {"of_agreement": True, "sample": 3}, "sample has no meaning with of_agreement"),
        (ReviewRequest, {"seed": 7, **REVIEWER}, "seed is that of a random sample: it goes with sample N"),
        (ReviewRequest, {"as_json": True, **REVIEWER}, "as_json prints what of_queue, of_agreement, verdict, assign"),
    ],
)
def test_settings_that_do_not_go_together_are_refused(
    model: type[SettingsModel], fields: dict[str, Any], message: str
) -> None:
    with pytest.raises(SettingsRefused, match=f"^{message}"):
        model.of(**fields)


def test_a_refusal_is_worded_in_the_names_of_a_front_door() -> None:
    with pytest.raises(SettingsRefused) as refused:
        Listing.of(group_by="tags", columns="case")

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
    assert expected == ReviewRequest.of(**fields).of_one
