"""The probes by name."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from jury_cases.errors import CaseFileError
from jury_cases.outline import Fetch
from jury_events.case import Case
from jury_events.text import pluralize, visible_line
from jury_events.verdict import PASS
from jury_judge.probes.alone import same_case
from jury_judge.probes.identity import identity
from jury_judge.probes.injection import injection
from jury_judge.probes.layout import layout
from jury_judge.probes.master_key import master_key
from jury_judge.probes.orders import records, scenarios, speakers
from jury_judge.probes.padding import length
from jury_judge.probes.reasoning import confident, removed
from jury_judge.probes.twin import Altered, parse_twin_id, twin_of

CaseSource = Callable[[Fetch], Iterable[Case]]
"""Returns the cases from the first on; called for each case whether to fetch the records behind its URIs."""

SPEAKERS = "speakers"
"""The probe whose twins are judged by another panel: in a run of their own."""

MASTER_KEY = "master-key"
"""The probe whose twins have answers without content."""

INJECTION: Final = "injection"
"""The probe whose twins a juror may judge more strictly: only leniency is a fault."""

MARKING = "marking"
"""The probe that judges the twins of `injection` under both ways to mark judged text: the other one in a run of its
own."""

REFLECTION = "reflection"
"""The probe whose twins are the cases themselves, judged by seats that are not shown their peers: in a run of their
own."""

_ANSWER = "an answer to change"
_REASONING = "recorded reasoning of the agent"


Alter = Callable[[Case, str], Altered | None]


class Probe(NamedTuple):
    """How twins are made."""

    alter: Alter
    """A pure function of a case and the best verdict of its jurors' scale; None: the case has no such twin."""
    needs: str = ""
    """What a case must have for a twin; '': every case has one."""


def _in_any_scale(alter: Callable[[Case], Altered | None]) -> Alter:
    return lambda case, _best: alter(case)


PROBES: Mapping[str, Probe] = {
    SPEAKERS: Probe(_in_any_scale(speakers)),
    "scenarios": Probe(_in_any_scale(scenarios), "a second scenario"),
    "records": Probe(_in_any_scale(records), "a second record of a kind"),
    "length": Probe(_in_any_scale(length), _ANSWER),
    "format": Probe(_in_any_scale(layout), _ANSWER),
    MASTER_KEY: Probe(_in_any_scale(master_key)),
    INJECTION: Probe(injection, _ANSWER),
    MARKING: Probe(injection, _ANSWER),
    "identity": Probe(_in_any_scale(identity), _ANSWER),
    "reasoning": Probe(_in_any_scale(confident), _REASONING),
    "no-reasoning": Probe(_in_any_scale(removed), _REASONING),
    REFLECTION: Probe(_in_any_scale(same_case)),
}

OF_ONE_MARKING = tuple(name for name in PROBES if name not in {MARKING, REFLECTION})
"""What `all` means: `marking` and `reflection` judge every case again, and decide on a setting of the panel."""


class AbsentTwins(NamedTuple):
    """Probes of which no case that was read has a twin."""

    probes: tuple[str, ...]
    first: int | None
    """How many cases were read, from the first on; None: all."""

    def lines(self) -> list[str]:
        """A line for each probe, with the reason."""
        if self.first is None:
            return [f"no case has {PROBES[name].needs}: probe {name} has no twin" for name in self.probes]
        cases = f"the first {pluralize(self.first, 'case')}"
        return [f"none of {cases} has {PROBES[name].needs}: probe {name} has no twin so far" for name in self.probes]


def twin(case: Case, probe: str, best: str = PASS) -> Case | None:
    """The case's twin; None if it has none.

    Args:
        case: that is judged.
        probe: its name.
        best: the best verdict of the scale that the jurors judge in, for texts that ask for it.

    Raises:
        CaseFileError: the case is a twin, or its id is too long for one.
    """
    if parse_twin_id(case.case_id) is not None:
        raise CaseFileError(f"the case {visible_line(case.case_id, 60)!r} is a twin: probe the cases themselves")
    altered = PROBES[probe].alter(case, best)
    return None if altered is None else twin_of(case, probe, altered)


def absent_twins(cases: CaseSource, probes: Sequence[str], *, seconds: float) -> AbsentTwins:
    """The probes without a twin; cases are read until each probe has one.

    Args:
        cases: are read from the first on; records behind URIs are not fetched.
        probes: their names.
        seconds: how long cases are read at most once any probe has a twin. Before that, reading goes on: a run without
            twins shows nothing.

    Raises:
        CaseFileError: a case cannot be read, or cannot have a twin.
    """
    end = time.monotonic() + seconds
    absent = list(probes)
    number = 0
    for number, case in enumerate(cases(lambda _case: False), start=1):
        absent = [probe for probe in absent if twin(case, probe) is None]
        if not absent or (len(absent) < len(probes) and time.monotonic() >= end):
            return AbsentTwins(tuple(absent), number)
    return AbsentTwins(tuple(absent) if number else (), None)


def with_twins(cases: CaseSource, probes: Sequence[str], best: str = PASS) -> CaseSource:
    """Each case, followed by its twins; `best` as for `twin`."""

    def source(fetch: Fetch) -> Iterator[Case]:
        for case in cases(lambda found: any(map(fetch, _with_its_twins(found, probes, best)))):
            yield from _with_its_twins(case, probes, best)

    return source


def twins_alone(cases: CaseSource, probe: str) -> CaseSource:
    """The twins without the cases."""

    def source(fetch: Fetch) -> Iterable[Case]:
        def wanted(found: Case) -> bool:
            made = twin(found, probe)
            return made is not None and fetch(made)

        return (made for case in cases(wanted) if (made := twin(case, probe)) is not None)

    return source


def _with_its_twins(case: Case, probes: Sequence[str], best: str) -> list[Case]:
    return [case, *(made for probe in probes if (made := twin(case, probe, best)) is not None)]
