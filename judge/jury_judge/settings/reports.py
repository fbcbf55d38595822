"""How a run ends, for CI: the conditions on which it fails, and the files of its reports."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jury_events.errors import SettingError
from jury_events.panel import Switch
from jury_events.text import visible_line
from jury_events.verdict import Verdict
from jury_events.verdict_scale import VerdictScale
from jury_judge.errors import SettingsRefused, escaped
from jury_judge.report_files import check_report_path
from jury_judge.settings.model import SettingsModel
from jury_views.reports import junit, markdown
from jury_views.reports.fail_conditions import FailCondition, parse_fail_condition


class ReportSettings(SettingsModel):
    """The conditions on which a run fails, and the files of its reports.

    Attributes:
        fail_on: verdicts, or labels of the panel's scale, any of which fails the run.
        fail_if: conditions over the finished debates, as `no_quorum>2%` or `wrong>2%`.
        junit: a JUnit XML file.
        markdown: a summary in Markdown.
        reasons: whether results and reports say why verdicts came.
        quotes: whether reasons of the summary in Markdown keep the words that they quote.
    """

    fail_on: tuple[str, ...] = ()
    fail_if: tuple[str, ...] = ()
    junit: Path | None = None
    markdown: Path | None = None
    reasons: Switch = "on"
    quotes: bool = False

    def model_post_init(self, context: Any) -> None:
        """Refuse settings that do not go together, or cannot be read."""
        super().model_post_init(context)
        _ = self.conditions  # whether a name is a label is known when the panel is: `check_conditions`
        if self.junit and self.markdown and self.junit.resolve() == self.markdown.resolve():
            raise SettingsRefused("{junit} and {markdown} name the same file")

    @property
    def conditions(self) -> tuple[FailCondition, ...]:
        """All conditions, each once.

        Raises:
            SettingsRefused: one cannot be read.
        """
        return self._parsed(None)

    def check_conditions(self, scale: VerdictScale | None) -> None:
        """Check that each condition names what is counted.

        Args:
            scale: the panel's own; None: it judges in the three verdicts.

        Raises:
            SettingsRefused: a name is neither a count nor a label of the scale.
        """
        labels = () if scale is None else scale.ids
        _ = self._parsed(labels)
        known = (*(verdict.value for verdict in Verdict), *labels)
        for name in self.fail_on:
            if name not in known:
                shown = visible_line(repr(name), 60)
                raise SettingsRefused(
                    f"{{fail_on}} {escaped(shown)} is no verdict{_of(scale)}; it is one of {', '.join(known)}",
                    usage=False,
                )

    def _parsed(self, labels: Sequence[str] | None) -> tuple[FailCondition, ...]:
        try:
            parsed = [parse_fail_condition(text, labels) for text in self.fail_if]
        except SettingError as error:
            raise SettingsRefused(f"{{fail_if}} {escaped(str(error))}", usage=False) from None
        return tuple(dict.fromkeys((*(FailCondition(one) for one in self.fail_on), *parsed)))

    @property
    def reports(self) -> bool:
        """Whether any file is to be written."""
        return self.junit is not None or self.markdown is not None

    def check_files(self) -> None:
        """Check, before anything is judged, that the files may be written.

        Raises:
            ReportRefused: a folder is missing, or something else stands there.
        """
        for path, form in ((self.junit, junit), (self.markdown, markdown)):
            if path is not None:
                check_report_path(path, form.BEGINS)


def _of(scale: VerdictScale | None) -> str:
    return "" if scale is None else f" or label of the scale {escaped(visible_line(scale.name, 60))}"
