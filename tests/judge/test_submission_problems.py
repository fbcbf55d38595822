"""What becomes of a submission that stops with each error of the project, and with errors of others."""

import importlib
import pkgutil
from collections.abc import Iterator

import pytest

import jury_actors
import jury_cases
import jury_debate
import jury_events
import jury_judge
import jury_providers
import jury_replay
import jury_store
from jury_cases import CaseFileError
from jury_events import JuryError
from jury_judge import OtherCase, ReadOtherwise, RunUnfinished, SubmissionTaken
from jury_judge.serving.submission_problems import Outcome, outcome_of
from jury_store import Fenced, StoreFailed, StoreLocked, StoreUnreachable, WrongVersion

PACKAGES = (jury_events, jury_debate, jury_store, jury_replay, jury_providers, jury_actors, jury_cases, jury_judge)

EXPECTED = {
    StoreLocked: Outcome.WAITING,
    SubmissionTaken: Outcome.WAITING,
    Fenced: Outcome.WAITING,
    WrongVersion: Outcome.WAITING,
    StoreUnreachable: Outcome.STORE_AWAY,
    StoreFailed: Outcome.STORE_AWAY,
    CaseFileError: Outcome.REFUSED,
    OtherCase: Outcome.REFUSED,
    ReadOtherwise: Outcome.REFUSED,
}
"""Every other error, also one that is added later, leaves a submission kept until it is listed here."""


def errors(of: type[JuryError] = JuryError) -> Iterator[type[JuryError]]:
    yield of
    for one in of.__subclasses__():
        yield from errors(one)


def test_every_error_of_the_project_has_its_outcome_and_only_the_submissions_own_faults_end_it() -> None:
    for package in PACKAGES:
        for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            if module.name.endswith(".errors"):
                importlib.import_module(module.name)
    ours = {one for one in errors() if one.__module__.startswith("jury_") and one is not RunUnfinished}

    assert EXPECTED.keys() <= ours
    for one in ours:
        expected = next((EXPECTED[known] for known in one.__mro__ if known in EXPECTED), Outcome.STOPPED)
        assert expected is outcome_of(one.__new__(one)), one


@pytest.mark.parametrize("problem", [OSError("no"), MemoryError(), RuntimeError("a defect"), ValueError()])
def test_errors_of_others_leave_a_submission_kept(problem: Exception) -> None:
    assert Outcome.STOPPED is outcome_of(problem)


@pytest.mark.parametrize(
    ("problems", "expected"),
    [
        ([OtherCase("a"), OtherCase("b")], Outcome.REFUSED),
        ([OtherCase("a"), Fenced("b")], Outcome.WAITING),
        ([StoreFailed("a"), Fenced("b")], Outcome.STORE_AWAY),
        ([StoreFailed("a"), RuntimeError("b"), Fenced("c")], Outcome.STOPPED),
        ([], Outcome.STOPPED),
    ],
)
def test_a_run_follows_what_asks_most_for_a_person(problems: list[Exception], expected: Outcome) -> None:
    unfinished = RunUnfinished("some", {str(number): problem for number, problem in enumerate(problems)})

    assert expected is outcome_of(unfinished)
