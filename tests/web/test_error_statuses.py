"""The HTTP status of an error follows from the error itself."""

from jury_actors import Broken, ClusterLost, NotResumable
from jury_cases import CaseFileError
from jury_events import AlteredPart, BadCondition, DebateNotFound, Failure, JuryError, MalformedBody, SettingError
from jury_judge import (
    BranchTaken,
    ExtraMissing,
    JuryClosed,
    NotComparable,
    PanelNotServed,
    ReviewRefused,
    RunRefused,
    TooManyReaders,
    TooManyReports,
)
from jury_providers import KeyMissing
from jury_replay import SettingRefused
from jury_store import StoreClosed, StoreDamaged, StoreFailed, StoreLocked, StoreUnreachable
from jury_web import http_status

STATUSES: dict[int, tuple[type[JuryError], ...]] = {
    404: (DebateNotFound,),
    409: (RunRefused, BranchTaken, NotResumable),
    422: (NotComparable, PanelNotServed, ReviewRefused, CaseFileError, SettingError, SettingRefused, BadCondition),
    500: (StoreDamaged, MalformedBody, AlteredPart),
    501: (ExtraMissing,),
    503: (
        *(TooManyReaders, TooManyReports, JuryClosed, KeyMissing, Broken, ClusterLost),
        *(StoreFailed, StoreClosed, StoreLocked, StoreUnreachable),
    ),
}


def test_an_error_has_the_status_of_what_it_means() -> None:
    for status, errors in STATUSES.items():
        for error in errors:
            assert (error, status) == (error, http_status(error("it failed")))


def test_every_meaning_of_an_error_has_a_status() -> None:
    for failure in Failure:
        error = type("Failed", (JuryError,), {"failure": failure})
        assert http_status(error("it failed")) in STATUSES
