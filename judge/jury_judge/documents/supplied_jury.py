"""Debates in which some steps have evaluations that the caller supplies."""

from typing import Unpack

from jury_actors.juror import ProviderFactory
from jury_debate.panel_spec import PanelSpec
from jury_events.case import Case
from jury_events.errors import SettingError
from jury_judge.documents.jury_options import JuryOptions
from jury_judge.documents.supplied_answers import StepAnswers, SuppliedAnswers
from jury_judge.jury import Jury
from jury_judge.runs.callbacks import OnEvent
from jury_judge.runs.panel_actors import ANYWHERE
from jury_judge.runs.run import fresh_debate_id
from jury_views.result_models import DebateResult


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
    ) -> DebateResult:
        """Run a debate over a case with supplied answers for some steps; raises as `Jury.evaluate`."""
        debate_id = fresh_debate_id(case)
        self._supplied.add(debate_id, supplied)
        try:
            return await self.evaluate(case, debate_id=debate_id, on_event=on_event)
        finally:
            self._supplied.remove(debate_id)

    def _wrap_providers(self, providers: ProviderFactory) -> ProviderFactory:
        return self._supplied.wrap(providers)
