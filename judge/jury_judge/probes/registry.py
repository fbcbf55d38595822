"""The probes by name."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from jury_events.case import Case
from jury_judge.cases.outline import Fetch
from jury_judge.errors import CaseFileError
from jury_judge.probes.identity import identity
from jury_judge.probes.injection import injection
from jury_judge.probes.layout import layout
from jury_judge.probes.master_key import master_key
from jury_judge.probes.orders import records, scenarios, speakers
from jury_judge.probes.padding import length
from jury_judge.probes.twin import Altered, parse_twin_id, twin_of
from jury_judge.text.visible_text import visible_line

CaseSource = Callable[[Fetch], Iterable[Case]]
"""Returns the cases from the first on; called for each case whether to fetch the records behind its URIs."""

SPEAKERS = "speakers"
"""The probe whose twins are judged by another panel: in a run of their own."""

MASTER_KEY = "master-key"
"""The probe whose twins have answers without content."""

INJECTION = "injection"
"""The probe whose twins a juror may judge more strictly: only leniency is a fault."""

PROBES: Mapping[str, Callable[[Case], Altered | None]] = {
    SPEAKERS: speakers,
    "scenarios": scenarios,
    "records": records,
    "length": length,
    "format": layout,
    MASTER_KEY: master_key,
    INJECTION: injection,
    "identity": identity,
}
"""Each is a pure function of a case; None: the case has no such twin."""


def twin(case: Case, probe: str) -> Case | None:
    """The case's twin; None if it has none.

    Raises:
        CaseFileError: the case is a twin, or its id is too long for one.
    """
    if parse_twin_id(case.case_id) is not None:
        raise CaseFileError(f"the case {visible_line(case.case_id, 60)!r} is a twin: probe the cases themselves")
    altered = PROBES[probe](case)
    return None if altered is None else twin_of(case, probe, altered)


def with_twins(cases: CaseSource, probes: Sequence[str]) -> CaseSource:
    """Each case, followed by its twins."""

    def source(fetch: Fetch) -> Iterator[Case]:
        for case in cases(lambda found: any(map(fetch, _with_its_twins(found, probes)))):
            yield from _with_its_twins(case, probes)

    return source


def twins_alone(cases: CaseSource, probe: str) -> CaseSource:
    """The twins without the cases."""

    def source(fetch: Fetch) -> Iterable[Case]:
        def wanted(found: Case) -> bool:
            made = twin(found, probe)
            return made is not None and fetch(made)

        return (made for case in cases(wanted) if (made := twin(case, probe)) is not None)

    return source


def _with_its_twins(case: Case, probes: Sequence[str]) -> list[Case]:
    return [case, *(made for probe in probes if (made := twin(case, probe)) is not None)]
