"""The results of a run on stdout, one by one or as a list, and what they come to."""

import json
from collections import Counter
from typing import Any, Literal

from jury_events.verdict import Verdict
from jury_judge.views.counted import counted
from jury_judge.views.visible_text import visible_line

Form = Literal["plain", "json", "jsonl"]


class Results:
    """Takes the line of each debate (see `result_line`) in order and prints it, `json` at the end."""

    def __init__(self, form: Form) -> None:
        self._form = form
        self._lines: list[dict[str, Any]] = []
        self._ended_as: Counter[str] = Counter()
        self._without_verdict = self._without_quorum = self._simulated = 0
        self._others: Counter[tuple[str, str]] = Counter()
        self._absent: Counter[str] = Counter()
        self._kinds: Counter[str] = Counter()

    def take(self, line: dict[str, Any]) -> None:
        """The next one."""
        self._ended_as[line["final_verdict"] or line["status"]] += 1
        self._without_verdict += line["final_verdict"] is None
        self._without_quorum += line["quorum_met"] is False
        self._simulated += line["simulated"]
        self._others.update({(other["asked"], other["answered"]) for other in line["model_mismatches"]})
        self._absent.update(juror for juror, vote in (line["votes"] or {}).items() if vote is None)
        self._kinds.update(set((line["vote_kinds"] or {}).values()))
        if line["method"] == "final_judge" and line["decided_by"] == "majority_vote":
            self._absent["the final judge"] += 1
        match self._form:
            case "json":
                self._lines.append(line)
            case "jsonl":
                print(json.dumps(line, ensure_ascii=False), flush=True)
            case "plain":
                print(_plain(line), flush=True)

    def finish(self) -> None:
        """There are no more."""
        if self._form == "json":
            print(json.dumps(self._lines, ensure_ascii=False, indent=2))

    def any_of(self, verdicts: tuple[str, ...]) -> bool:
        """Whether a debate ended with one of these."""
        return any(self._ended_as[verdict] for verdict in verdicts)

    def tally(self, total: int | None) -> str:
        """How many ended with what, of `total` cases (None: it is not known how many there are)."""
        names = [*Verdict, *sorted(set(self._ended_as) - set(Verdict))]
        counts = ", ".join(f"{self._ended_as[name]} {name}" for name in names if self._ended_as[name])
        taken = self._ended_as.total()
        if taken == total:
            return counts or "no debates"
        if total is None:
            return f"{counted(taken, 'result')} so far" + (f": {counts}" if counts else "")
        return f"{taken} of {counted(total, 'result')}" + (f": {counts}" if counts else "")

    def remarks(self) -> list[str]:
        """What a reader must know of who answered, and who did not."""
        said = [
            f"{absent} gave no usable answer in {counted(debates, 'debate')}; `jury show` says why"
            for absent, debates in self._absent.items()
        ]
        said += [
            f"{what} in {counted(self._kinds[kind], 'debate')}; `jury show` says whose"
            for kind, what in (
                ("synthetic", "a provider's filter blocked an answer, and a neutral vote stands in,"),
                ("stale", "a seat gave no answer in the end, and its earlier vote stands,"),
            )
            if self._kinds[kind]
        ]
        said += [
            f"{answered} answered in {counted(debates, 'debate')} where {asked} was asked; `jury show` tells more"
            for (asked, answered), debates in sorted(self._others.items())
        ]
        if self._simulated:
            said.append(f"simulated jurors in {counted(self._simulated, 'debate')}: no verdict of models")
        return said

    def trouble(self, run_id: str, problems: int) -> str | None:
        """What kept debates from a verdict of the jury, None when nothing did; `problems` could not go on."""
        said = []
        if problems:
            again = f"mend the cause and call the same command with --run {run_id}"
            said.append(f"{counted(problems, 'debate')} could not go on; {again}")
        if self._without_verdict:
            said.append(f"{counted(self._without_verdict, 'debate')} ended without a verdict; `jury show` says why")
        if self._without_quorum:
            said.append(f"{counted(self._without_quorum, 'debate')} had no quorum of jurors; `jury show` says why")
        return "; ".join(said) or None


def _plain(line: dict[str, Any]) -> str:
    verdict = line["final_verdict"] or line["status"]
    score = "" if line["final_score"] is None else line["final_score"]
    simulated = "  (simulated)" if line["simulated"] else ""
    return f"{verdict:<12} {score:>3}  {visible_line(line['case_id'], 80)}  {line['debate_id']}{simulated}"
