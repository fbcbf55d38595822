"""Each registered rules version opens debates under its own number."""

from jury_debate import RULES, Rules
from support.debate_harness import SECRET, DeterministicParts, a_case, a_panel
from support.each_row import each_row


@each_row(("number", "rules"), RULES.items())
def test_an_opening_event_names_the_rules_that_made_it(number: int, rules: Rules) -> None:
    opened = rules.open_debate(
        a_case(), a_panel("gpt"), debate_id="d", run_id=None, secret=SECRET, parts=DeterministicParts()
    )

    assert number == opened.rules
