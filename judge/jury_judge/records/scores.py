"""Scores of debates, written onto the traces that they judged."""

import os
from collections.abc import AsyncGenerator, Mapping
from typing import TYPE_CHECKING

from jury_judge.records.open_store import OpenStore, log_line
from jury_judge.stores.stores import Say

if TYPE_CHECKING:
    from jury_events.local_events import ScoreTargetName
    from jury_judge.scores.score_export import ExportedScores
    from jury_judge.settings.debates import Selection


class ScoreRecords(OpenStore):
    """Scores of debates."""

    def export_scores(
        self,
        selection: "Selection",
        target: "ScoreTargetName",
        *,
        dry_run: bool = False,
        environ: Mapping[str, str] | None = None,
        say: Say = log_line,
    ) -> "AsyncGenerator[ExportedScores, None]":
        """Write verdicts, scores and votes of debates onto the traces that they judged, at the tool that has these.

        What was written is recorded: a second call writes what changed alone, as the verdict of a person.

        Args:
            dry_run: say what would be written; write and record nothing.
            environ: the environment's variables, which name the tool; None is `os.environ`.
            say: takes a line when another process has to be waited for.

        Raises:
            ScoresRefused: the tool did not take the scores of a debate; the same call goes on with it.
        """
        from jury_judge.scores.score_export import export_scores, score_target

        chosen = score_target(target, os.environ if environ is None else environ)
        return self._read_each(export_scores, selection.debates, chosen, self.store_url, dry_run=dry_run, say=say)
