"""Debates with supplied evaluations, and cases built from the arguments of the documents' classes."""

import os
from collections.abc import Iterable, Sequence
from typing import Unpack

from pydantic import ValidationError

from jury_actors.juror import ProviderFactory
from jury_cases.transcripts.builder import images_within_limits
from jury_debate.panel_spec import PanelSpec
from jury_events.case import Case, Image, Scenario
from jury_events.errors import SettingError
from jury_events.text.validation import condensed
from jury_judge.documents.artifact_tools import ArtifactContext, records_of
from jury_judge.documents.jury_options import JuryOptions
from jury_judge.documents.scenarios import asked_of
from jury_judge.documents.supplied_answers import StepAnswers, SuppliedAnswers
from jury_judge.jury import ANYWHERE, Jury
from jury_judge.runs.callbacks import OnEvent
from jury_judge.runs.run import fresh_debate_id
from jury_views.result_models import CollaborativeJuryResult

DEFAULT_CASE_ID = "evaluation"

NO_ARTIFACTS = ArtifactContext()


class SuppliedJury(Jury):
    """A Jury whose debates may contain supplied evaluations; in this process only.

    Args:
        panel: the jurors and rules.
        options: as `Jury`.

    Raises:
        SettingError: the options require Ray.
    """

    def __init__(self, panel: PanelSpec, **options: Unpack[JuryOptions]) -> None:
        if options.get("runtime", ANYWHERE).asked_in_process is False:
            raise SettingError("runtime: single jurors and rounds run in this process, not on Ray")
        self._supplied = SuppliedAnswers()
        super().__init__(panel, **options)

    async def evaluate_supplied(
        self, case: Case, supplied: StepAnswers, *, on_event: OnEvent | None = None
    ) -> CollaborativeJuryResult:
        """Run a debate over a case with supplied answers for some steps; raises as `Jury.evaluate`."""
        debate_id = fresh_debate_id(case)
        self._supplied.add(debate_id, supplied)
        try:
            return await self.evaluate(case, debate_id=debate_id, on_event=on_event)
        finally:
            self._supplied.remove(debate_id)

    def _wrap_providers(self, providers: ProviderFactory) -> ProviderFactory:
        return self._supplied.wrap(providers)


def judged_case(
    scenarios: Sequence[Scenario],
    artifacts: ArtifactContext | None = None,
    *,
    summary: str | None = None,
    case_id: str | None = None,
    images: Iterable[Image] = (),
) -> Case:
    """The case of a call of the documents' classes.

    Args:
        scenarios: one or several.
        artifacts: records, or their URIs.
        summary: shown to jurors instead of a generated summary of the records.
        case_id: its id in lists.
        images: of the scenarios' transcripts.

    Raises:
        SettingError: the id, or another field, is not valid.
        CaseFileError: a record is not an object.
    """
    artifacts = artifacts or NO_ARTIFACTS
    gate, card = artifacts.security_gate_records, artifacts.agent_card_records
    try:
        return Case(
            case_id=case_id or DEFAULT_CASE_ID,
            scenarios=tuple(scenarios),
            security_gate_records=records_of(gate, "security_gate_records"),
            agent_card_records=records_of(card, "agent_card_records"),
            security_gate_uri=_uri(artifacts.security_gate_uri) if gate is None else None,
            agent_card_uri=_uri(artifacts.agent_card_uri) if card is None else None,
            artifact_summary=summary or None,
            images=images_within_limits({image.digest: image for image in images}.values()),
        )
    except ValidationError as error:
        raise SettingError(condensed(error)) from error


def _uri(uri: str | os.PathLike[str] | None) -> str | None:
    return None if uri is None else os.fspath(uri)


def one_scenario(question_prompt: str, agent_response: str) -> tuple[Scenario]:
    """A question and its answer as the only scenario of a case; raises as `asked_of`."""
    return (asked_of(question_prompt, agent_response).scenario,)
