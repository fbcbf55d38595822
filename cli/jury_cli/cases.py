"""`jury cases`: what jurors would be shown of the cases of files, before anything is run."""

import json
import os
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from jury_cli.case_options import artifact_hosts, case_files, case_options
from jury_cli.exits import Exit
from jury_cli.options import panel_options

if TYPE_CHECKING:
    from jury_cases.files import CaseFiles
    from jury_cases.omissions import OmissionReport
    from jury_debate.panel_spec import ResolvedPanel
    from jury_events.case import Case
    from jury_judge.panels.files import LoadedPanel

_MEASURED = 200
"""The prompts of so many cases, the first ones, are measured."""

_NAMED = 12


@click.command("cases")
@case_options
@panel_options
@click.option(
    "--head", type=click.IntRange(min=0), default=1, show_default=True, metavar="N", help="Show the first N cases."
)
@click.option("--prompt", "seat", metavar="SEAT", help="Show the whole first prompt of this seat instead of the case.")
@click.option(
    "--marked", is_flag=True, help="Show texts as they are sent, with the marks that keep data and orders apart."
)
@click.option("--verbose", is_flag=True, help="Say of each case what of it jurors are not shown.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(**options: Any) -> int:
    """Show what jurors would be shown of the cases of files: nothing is run, written or called.

    The first cases as jurors see them, then what there is: formats, labels, metadata, what is not shown, tokens.
    """
    return _cases(case_files(options, artifact_hosts(), refuse_labels=False), **options)


class _Shown(NamedTuple):
    """A case as it is shown; `text` is None beyond the head."""

    case_id: str
    text: str | None
    not_shown: str | None


def _cases(
    files: "CaseFiles",
    *,
    panel_name: str | None,
    preset: str | None,
    language: str | None,
    max_rounds: int | None,
    threshold: float | None,
    method: str | None,
    judge_model: str | None,
    head: int,
    seat: str | None,
    marked: bool,
    verbose: bool,
    as_json: bool,
) -> int:
    from jury_cli.terminal import Counting, note
    from jury_judge.panels.files import load_panel
    from jury_judge.panels.variables import Overrides
    from jury_judge.runs.preflight import omission_report

    loaded = load_panel(
        panel_name,
        os.environ,
        Overrides(language, max_rounds, threshold, method, judge_model, preset),  # type: ignore[arg-type]
    )
    if seat is not None and seat not in loaded.panel.juror_ids:
        raise click.UsageError(f"--prompt {seat!r}: no such seat; the seats are {', '.join(loaded.panel.juror_ids)}")
    report = _CaseReport(omission_report(loaded.panel))
    counting = Counting("cases read")
    head_shown: list[_Shown] = []
    code = Exit.DONE
    try:
        for shown in _read(files, loaded, report, head=head, seat=seat, marked=marked):
            counting.count()
            if as_json:
                head_shown += [shown] if shown.text is not None or (verbose and shown.not_shown) else []
            else:
                _print_case(shown, verbose=verbose)
    except KeyboardInterrupt:
        code = Exit.INTERRUPTED
        note("jury: interrupted; what follows is of the cases that were read")
    finally:
        counting.close()
    if as_json:
        shown_cases = [one._asdict() for one in head_shown]
        print(json.dumps({**report.data(files), "shown": shown_cases}, ensure_ascii=False, indent=2))
    else:
        for line in report.lines(files):
            print(line)
    return code


def _read(
    files: "CaseFiles", loaded: "LoadedPanel", report: "_CaseReport", *, head: int, seat: str | None, marked: bool
) -> Iterator[_Shown]:
    from jury_cases.omissions import omissions_text

    number = 0

    def is_measured(_case: "Case") -> bool:
        return number < max(head, _MEASURED)

    for case in loaded.redaction.cases(files)(is_measured):
        number += 1
        omissions = report.add(case, loaded.resolved if number <= _MEASURED else None)
        text = _text(case, loaded.resolved, seat, marked=marked) if number <= head else None
        yield _Shown(case.case_id, text, omissions_text(omissions) if omissions else None)


def _text(case: "Case", resolved: "ResolvedPanel", seat: str | None, *, marked: bool) -> str:
    from jury_judge.runs.preflight import sees_images
    from jury_judge.runs.rehearsal import Rehearsal
    from jury_views.plain_prompt import plain_prompt

    rehearsal = Rehearsal(case, resolved)
    if seat is None:
        text = rehearsal.case_piece(images=sees_images(resolved.panel)).rstrip("\n")
    else:
        text = "\n\n".join(
            f"--- {message.role}{f', then {message.images} pictures' if message.images else ''} ---\n{message.text}"
            for message in rehearsal.first_prompt(seat)
        )
    return text if marked else plain_prompt(text)


def _print_case(shown: _Shown, *, verbose: bool) -> None:
    from jury_events.text.visible_text import visible, visible_line

    name = visible_line(shown.case_id, 200)
    if shown.text is not None:
        print(f"=== case {name}\n\n{visible(shown.text)}\n")
    if verbose and shown.not_shown is not None:
        print(f"case {name}: not shown: {shown.not_shown}")


class _CaseReport:
    """The counts over the cases of the files."""

    def __init__(self, omissions: "OmissionReport") -> None:
        self._omissions = omissions
        self._verdicts: Counter[str] = Counter()
        self._known: Counter[str] = Counter()
        self._tokens: list[int] = []

    def add(self, case: "Case", resolved: "ResolvedPanel | None") -> Any:
        """Count a case, and measure it if there is a panel; returns what of it is not shown."""
        from jury_events.conditions import fields_of

        self._verdicts[case.label or "none"] += 1
        self._known.update(name for name in fields_of(case) if name not in {"case_id", "label"})
        if resolved is not None:
            self._tokens.append(_tokens(case, resolved))
        return self._omissions.add(case)

    def data(self, files: "CaseFiles") -> dict[str, Any]:
        """As JSON data."""
        notes = files.notes
        return {
            "cases": self._omissions.cases,
            "formats": dict(notes.formats),
            "labels": dict(self._verdicts),
            "label_words": [
                {"word": word, "count": count, "verdict": meaning, "understood": understood}
                for word, count, meaning, understood in _words(files)
            ],
            "fields": dict(self._known),
            "columns_not_read": dict(notes.unread),
            "not_shown": self._omissions.data(),
            "first_prompt_tokens": {
                "measured": len(self._tokens),
                "mean": round(sum(self._tokens) / len(self._tokens)) if self._tokens else None,
                "most": max(self._tokens, default=None),
            },
        }

    def lines(self, files: "CaseFiles") -> Iterator[str]:
        """As text."""
        from jury_events.text.pluralize import pluralize
        from jury_events.text.visible_text import visible_line

        notes = files.notes
        formats = ", ".join(f"{name} {count}" for name, count in notes.formats.most_common())
        yield f"{pluralize(self._omissions.cases, 'case')} (rows by format: {formats or 'none'})"
        words = list(_words(files))
        if words:
            named = [
                f"{visible_line(word, 60)!r} {count} = {(meaning or 'no label') if understood else 'NOT UNDERSTOOD'}"
                for word, count, meaning, understood in words[:_NAMED]
            ]
            yield f"labels:       {_listed(named, len(words))}"
            unknown = [visible_line(word, 60) for word, _, _, understood in words if not understood]
            if unknown:
                pairs = ",".join(f"{word}=VERDICT" for word in unknown[:_NAMED])
                yield f"              jury run refuses these; say what they mean: --map 'label:{pairs}'"
        else:
            yield "labels:       none"
        if self._known:
            named = [f"{visible_line(name, 60)} ({count})" for name, count in self._known.most_common(_NAMED)]
            yield f"fields:       {_listed(named, len(self._known))}"
        if notes.unread:
            named = [visible_line(name, 60) for name, _ in notes.unread.most_common(_NAMED)]
            yield f"not read:     columns {_listed(named, len(notes.unread))}"
        yield self._omissions.line() or "not shown:    nothing; every part of every transcript is shown to some juror"
        if (blind := self._omissions.blind_line()) is not None:
            yield f"pictures:     {blind}"
        seen = set(notes.labels)
        if unused := [visible_line(word, 60) for word in files.labels.mapped if word not in seen]:
            yield f"not used:     --map of {_listed(unused[:_NAMED], len(unused))}: no case has such a label"
        if self._tokens:
            mean, most = round(sum(self._tokens) / len(self._tokens)), max(self._tokens)
            measured = "" if len(self._tokens) == self._omissions.cases else f", of the first {len(self._tokens)} cases"
            yield f"tokens:       about {mean:,} in a juror's first prompt, {most:,} in the longest{measured}"


def _listed(named: list[str], total: int) -> str:
    return ", ".join(named) + (f" and {total - len(named)} more" if total > len(named) else "")


def _words(files: "CaseFiles") -> Iterator[tuple[str, int, str | None, bool]]:
    """The labels' words, how often each was seen, its verdict, and whether it is understood."""
    for word, count in files.notes.labels.most_common():
        try:
            yield word, count, files.labels.meaning(word), True
        except ValueError:
            yield word, count, None, False


def _tokens(case: "Case", resolved: "ResolvedPanel") -> int:
    """Of the longest first prompt, with its pictures."""
    from jury_judge.runs.rehearsal import Rehearsal
    from jury_providers.tokens import estimated_tokens

    rehearsal = Rehearsal(case, resolved)
    prompts = [rehearsal.first_prompt(seat) for seat in resolved.panel.juror_ids]
    return max(
        estimated_tokens(sum(len(one.text.encode()) for one in prompt), sum(one.images for one in prompt))
        for prompt in prompts
    )
