"""The HTTP status of an error follows from the error itself."""

import pytest

from jury_actors import Broken, ClusterLost
from jury_actors.errors import NotResumable
from jury_cases import CaseFileError
from jury_events import AlteredPart, BadCondition, DebateNotFound, Failure, JuryError, MalformedBody, SettingError
from jury_judge import ExtraMissing, JuryClosed, ReviewRefused, RunRefused, TooManyReports
from jury_judge.errors import BranchTaken, NotComparable, PanelNotServed, TooManyReaders, TooManySubmissions
from jury_providers import KeyMissing
from jury_replay import SettingRefused
from jury_store import StoreClosed, StoreDamaged, StoreFailed, StoreLocked, StoreUnreachable
from jury_web.api.error_responses import http_status


@pytest.mark.parametrize(
    ("status", "errors"),
    [
        (404, (DebateNotFound,)),
        (409, (RunRefused, BranchTaken, NotResumable)),
        (
            422,
            (NotComparable, PanelNotServed, ReviewRefused, CaseFileError, SettingError, SettingRefused, BadCondition),
        ),
        (500, (StoreDamaged, MalformedBody, AlteredPart)),
        (501, (ExtraMissing,)),
        (503, (TooManyReaders, TooManyReports, TooManySubmissions, JuryClosed, KeyMissing, Broken, ClusterLost)),
        (503, (StoreFailed, StoreClosed, StoreLocked, StoreUnreachable)),
    ],
)
def test_an_error_has_the_status_of_what_it_means(status: int, errors: tuple[type[JuryError], ...]) -> None:
    for error in errors:
        assert (error, status) == (error, http_status(error("it failed")))


@pytest.mark.parametrize("failure", Failure)
def test_every_meaning_of_an_error_has_a_status(failure: Failure) -> None:
    class Failed(JuryError):
        pass

    Failed.failure = failure

    assert http_status(Failed("it failed")) in {404, 409, 422, 500, 501, 503}
