"""Debates over evaluations that the caller supplies, and the cases of the documents' classes."""

import os
from collections.abc import Iterable, Sequence
from typing import Unpack

from pydantic import ValidationError

from jury_actors.juror import ProviderFactory
from jury_debate.panel_spec import PanelSpec
from jury_events.case import Case, Image, Scenario
from jury_judge.app.callbacks import OnEvent
from jury_judge.app.jury import Jury
from jury_judge.app.run import fresh_debate_id
from jury_judge.cases.transcripts.builder import images_within_limits
from jury_judge.documents.artifact_tools import ArtifactContext, records_of
from jury_judge.documents.scenarios import asked_of
from jury_judge.documents.shared_jury import JuryOptions
from jury_judge.documents.supplied_answers import AnswersByStep, SuppliedAnswers
from jury_judge.errors import SettingError, condensed
from jury_judge.present.result_models import CollaborativeJuryResult

DEFAULT_CASE_ID = "evaluation"

NO_ARTIFACTS = ArtifactContext()


class SuppliedJury(Jury):
    """A Jury whose debates may begin with evaluations that the caller supplies; in this process only.

    Args:
        panel: the jurors and the rules.
        options: as `Jury`.

    Raises:
        SettingError: it is to run on Ray.
    """

    def __init__(self, panel: PanelSpec, **options: Unpack[JuryOptions]) -> None:
        if options.get("ray_address") is not None or options.get("in_process") is False:
            raise SettingError("in_process: jurors and rounds used by themselves run in this process, not on Ray")
        self._supplied = SuppliedAnswers()
        super().__init__(panel, **options)

    async def evaluate_supplied(
        self, case: Case, answers: AnswersByStep, *, on_event: OnEvent | None = None
    ) -> CollaborativeJuryResult:
        """Run a new debate over a case with some supplied answers; raises as `Jury.evaluate`."""
        debate_id = fresh_debate_id(case)
        self._supplied.add(debate_id, answers)
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
        artifacts: records, or where they are.
        summary: shown to jurors instead of a summary made from the records.
        case_id: its name in lists.
        images: the pictures of the scenarios' transcripts.

    Raises:
        SettingError: its id or another field is invalid.
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
    """A question and its answer as the one scenario of a case; raises as `asked_of`."""
    return (asked_of(question_prompt, agent_response).scenario,)
