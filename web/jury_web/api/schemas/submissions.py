"""Cases that are submitted, and what became of them."""

from typing import Annotated, Literal

from pydantic import Field, SkipValidation, StringConstraints

from jury_events.value import Label, NewRunId
from jury_judge.settings.run import MOST_SUBMITTED_AT_ONCE, SubmissionSettings
from jury_web.api.schemas.base import CamelModel, JsonObject
from jury_web.root_path import RootedPath

MOST_CASES = 10_000
"""Of a run that is submitted in one request."""

PanelName = Annotated[str, StringConstraints(min_length=1, max_length=500)]
RowFormat = Annotated[
    str | JsonObject | None,
    Field(description="The format of the rows: its name, or the content of a format file. By default recognised."),
]
RunName = Annotated[NewRunId | None, SkipValidation]
"""Described here, checked by `SubmissionSettings`: a setting has the same rules at every front door."""


class EvaluationRequest(CamelModel):
    """One case to judge."""

    case: Annotated[
        JsonObject,
        Field(
            description="A case as in a JSON case file: `question`, `response` or `messages`, and optional fields.",
            examples=[{"case_id": "refund-17", "question": "Refund order 17.", "response": "Refunded."}],
        ),
    ]
    format: RowFormat = None
    panel: Annotated[PanelName | None, Field(description="One of the server's panels; the first by default.")] = None
    run_id: Annotated[RunName, Field(description="The same run and case id again resume the debate.")] = None
    submission_id: Annotated[Label | None, Field(description="The `submission_id` of its live events.")] = None

    @property
    def settings(self) -> SubmissionSettings:
        """Its settings."""
        return SubmissionSettings.of(run_id=self.run_id)


class RunRequest(CamelModel):
    """Many cases to judge, one debate each."""

    cases: Annotated[
        list[JsonObject], Field(min_length=1, max_length=MOST_CASES, description="Each like `case` of an evaluation.")
    ]
    format: RowFormat = None
    panel: Annotated[PanelName | None, Field(description="One of the server's panels; the first by default.")] = None
    run_id: Annotated[RunName, Field(description="The same id with the same cases resumes the run.")] = None
    concurrency: Annotated[
        Annotated[int, Field(ge=1, le=MOST_SUBMITTED_AT_ONCE)] | None,
        SkipValidation,
        Field(description="Debates that run at once; of the first request for a run, also after a restart."),
    ] = None

    @property
    def settings(self) -> SubmissionSettings:
        """Its settings."""
        at_once = {} if self.concurrency is None else {"concurrency": self.concurrency}
        return SubmissionSettings.of(run_id=self.run_id, **at_once)


class Links(CamelModel):
    """Paths of related resources."""

    state: RootedPath
    debate: RootedPath | None = None
    events: RootedPath | None = None
    live: RootedPath | None = None
    ws: RootedPath | None = None
    run: RootedPath | None = None
    debates: RootedPath | None = None


class SubmissionStatus(CamelModel):
    """The status of an evaluation or a run.

    running: this server executes it, or `process` does. waiting: it goes on by itself; `problem` says what keeps it.
    finished: nothing is left to do. stopped: `problem` stopped it; the same request goes on. unfinished: no server goes
    on with it by itself.
    """

    id: str
    state: Literal["running", "waiting", "finished", "stopped", "unfinished"]
    problem: Annotated[
        str | None, Field(description="The error that stopped it, or what it waits for, with the remedy.")
    ] = None
    process: Annotated[str | None, Field(description="The process that runs it, where that is not this server.")] = None
    listed: Annotated[int | None, Field(description="Of a run: how many debates its list has.")] = None
    complete: Annotated[bool | None, Field(description="Of a run: whether its list is; false: more may be added.")] = (
        None
    )
    links: Links
