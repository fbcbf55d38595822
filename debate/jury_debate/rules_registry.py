"""The rules versions by number. Only this module imports them: a new one is a package and a line of `RULES`."""

from collections.abc import Mapping

from jury_debate import prompts_v1
from jury_debate.errors import UnknownRules
from jury_debate.rules import Rules
from jury_debate.rules_v1.rules import RulesV1
from jury_debate.rules_v2.rules import RulesV2
from jury_debate.rules_v3.rules import RulesV3
from jury_events.panel import Panel

RULES: Mapping[int, Rules] = {
    1: RulesV1(),
    2: RulesV2(),
    3: RulesV3(),
}
RULES_OF_PROMPTS_1 = RULES[2]
"""New debates under prompts 1 use it. Later prompts have later rules: prompts 2 version 3."""

CALIBRATIONS_SINCE = 2
"""Version 1 takes no notice of a calibration."""


def rules_of(version: int) -> Rules:
    """The rules of a version.

    Raises:
        UnknownRules: a newer Jury Judge wrote the log.
    """
    found = RULES.get(version)
    if found is None:
        raise UnknownRules(f"rules version {version} is not known here (known: {max(RULES)}); upgrade jury-judge")
    return found


def rules_for(prompts: int) -> Rules:
    """The rules of new debates under a version of the prompts.

    Raises:
        UnknownRules: the prompts are of a newer Jury Judge.
    """
    return RULES_OF_PROMPTS_1 if prompts == prompts_v1.VERSION else rules_of(prompts + 1)


def rules_under(version: int, panel: Panel) -> Rules:
    """The rules for a debate of this version under a changed panel: later ones where only these know a calibration.

    Without a calibration, version 2 decides what version 1 decides.

    Raises:
        UnknownRules: a newer Jury Judge wrote the log.
    """
    return rules_of(version if panel.final.calibration is None else max(version, CALIBRATIONS_SINCE))
