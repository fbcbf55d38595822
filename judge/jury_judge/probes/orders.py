"""Probes of order: what a juror reads first must not decide."""

from jury_events.case import Case
from jury_judge.probes.twin import Altered

_SEVERAL = 2


def speakers(case: Case) -> Altered | None:
    """The case itself, before a panel whose seats speak in reverse order (`reversed_seats`)."""
    return Altered(case)


def scenarios(case: Case) -> Altered | None:
    """The scenarios in reverse order; None if there is one."""
    return Altered(case.changed(scenarios=case.scenarios[::-1])) if len(case.scenarios) > 1 else None


def records(case: Case) -> Altered | None:
    """The records of each kind in reverse order; None if there are not two of a kind.

    Records behind a URI are known only when they were fetched: a case with a URI always has a twin.
    """
    gates, cards = case.security_gate_records, case.agent_card_records
    behind_uris = case.security_gate_uri is not None or case.agent_card_uri is not None
    if len(gates) < _SEVERAL and len(cards) < _SEVERAL and not behind_uris:
        return None
    return Altered(case.changed(security_gate_records=gates[::-1], agent_card_records=cards[::-1]))
