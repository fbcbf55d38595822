"""The rules versions by number. Only this module imports them: a new one is a package and a line of `RULES`."""

from collections.abc import Mapping

from jury_debate.errors import UnknownRules
from jury_debate.rules import Rules
from jury_debate.rules_1.rules import Rules1

RULES: Mapping[int, Rules] = {1: Rules1()}


def rules_of(version: int | None) -> Rules:
    """The rules of a version; None: those of new debates."""
    found = RULES.get(max(RULES) if version is None else version)
    if found is None:
        raise UnknownRules(f"rules version {version} is not known here (known: {max(RULES)}); upgrade jury-judge")
    return found


def newest_rules() -> Rules:
    """The rules of new debates."""
    return rules_of(None)
