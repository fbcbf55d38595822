"""A report as Markdown, for the page of a CI job (`$GITHUB_STEP_SUMMARY` and the like)."""

from jury_events.text import pluralize, visible_line
from jury_events.verdict import PASS
from jury_views.reasons import without_quotations
from jury_views.record_reading import parts_by_seat
from jury_views.reports.tally import JudgedCase, RunReport

BEGINS = b"<!-- jury report -->\n"
"""The first bytes of every such file: no other file is replaced."""

_ROWS = 100
"""Cases of the table at most: pages of CI jobs are bounded."""

_LINE = 200
_REASON = 400
_AS_TEXT = str.maketrans(
    {sign: f"\\{sign}" for sign in "\\`*_{}[]#~$"}
    # `@` would call people, `:` would make an address a link.
    | {sign: f"&#{ord(sign)};" for sign in "&<>|@:"}
)


def markdown(report: RunReport) -> bytes:
    """The page, UTF-8: shares of the verdicts, conditions, the cases that did not pass, totals."""
    tally = report.tally
    lines = [f"## {markdown_text(report.name)}", ""]
    if tally.simulated:
        lines += [f"> **Simulated jurors in {pluralize(tally.simulated, 'debate')}**: no verdict of models.", ""]
    if (missing := tally.often_without_verdict) is not None:
        lines += [f"> **{markdown_text(missing)}**: shares of conditions are of the others.", ""]
    lines += [*_shares(report), *_conditions(report), *_cases(report), *_totals(report)]
    return BEGINS + "\n".join(lines).encode() + b"\n"


def _shares(report: RunReport) -> list[str]:
    tally = report.tally
    rows = [
        f"| {markdown_text(name)} | {count:,} | {count / tally.finished:.1%} |"
        for name, count in sorted(tally.ended_as.items())
    ]
    shares = ["| ended as | debates | share |", "| --- | ---: | ---: |", *rows, ""] if rows else []
    return [*shares, *([f"By label: {markdown_text(tally.label_shares)}", ""] if tally.labels else [])]


def _conditions(report: RunReport) -> list[str]:
    if not report.conditions:
        return []
    rows = [
        f"| {markdown_text(str(judged.condition))} | {'**met: fails**' if judged.met else 'not met'} | "
        f"{markdown_text(judged.says)} |"
        for judged in report.conditions
    ]
    return ["| fail if | | |", "| --- | --- | --- |", *rows, ""]


def _cases(report: RunReport) -> list[str]:
    found: list[tuple[JudgedCase, str]] = []
    count = 0
    for case in report.cases:
        if (why := _why(case, report)) is not None:
            count += 1
            if count <= _ROWS:
                found.append((case, why))
    if not found:
        return [_all_passed(report) if report.cases else "No debate has ended.", ""]
    rows = [
        f"| {markdown_text(case.case_id)} | {why} | {'–' if case.score is None else case.score} | "
        f"{case.label or '–'} | {_reason(case, report)} | {markdown_text(case.debate_id)} |"
        for case, why in found
    ]
    more = [f"… and {count - _ROWS:,} more"] if count > _ROWS else []
    head = [
        f"### {pluralize(count, 'debate')} that did not pass",
        "",
        "| case | ended as | score | label | why | debate |",
        "| --- | --- | ---: | --- | --- | --- |",
    ]
    return [*head, *rows, *(["", *more] if more else []), ""]


def _all_passed(report: RunReport) -> str:
    """What the jury said is no claim about the cases: labels may say otherwise."""
    said = f"The jury passed {'the only debate' if len(report.cases) == 1 else 'every debate'} that has ended"
    false = report.tally.false_passes.count
    return f"{said}, {false:,} of {report.tally.finished:,} against the label." if false else f"{said}."


def _why(case: JudgedCase, report: RunReport) -> str | None:
    """Why a debate did not pass; None: it did."""
    if case.problem is not None:
        return f"could not go on: {markdown_text(case.problem)}"
    if case.verdict is None:
        return markdown_text(case.status)
    if not case.has_verdict:
        return f"{_said(case)}, no evaluation"
    if case.quorum_met is False:
        return f"{_said(case)}, no quorum{_not_read(case)}"
    if case.capped_by == "silence":
        return f"{_said(case)}, capped for silent seats{_not_read(case)}"
    if case.verdict == PASS:
        return f"{_said(case)}, which fails this run" if case.verdict in report.failing else None
    return f"{_said(case)}{_not_read(case)}"


def _reason(case: JudgedCase, report: RunReport) -> str:
    """The reason of the verdict; without the words that it quotes unless they were asked for, as others read this."""
    if case.reason is None:
        return "–"
    item = "" if case.item is None else f"item {case.item}: "
    return markdown_text(item + (case.reason if report.quotes else without_quotations(case.reason)), _REASON)


def _not_read(case: JudgedCase) -> str:
    """The seats that did not read parts of the record."""
    seats = parts_by_seat(case.partly_read)
    return "" if seats is None else f", parts not read by {markdown_text(seats)}"


def _said(case: JudgedCase) -> str:
    """The verdict; the label of the panel's own scale stands before it."""
    return str(case.verdict) if case.final_label is None else f"{markdown_text(case.final_label)} ({case.verdict})"


def _totals(report: RunReport) -> list[str]:
    finished, total = report.tally.finished, report.total
    of_all = pluralize(finished, "debate") if total is None else f"{finished:,} of {pluralize(total, 'debate')}"
    lines = [f"- {of_all} finished", f"- {markdown_text(report.spent)}"]
    return lines + [f"- {name}: {markdown_text(said)}" for name, said in report.tally.against_labels.items()]


def markdown_text(text: str, longest: int = _LINE) -> str:
    """A text as it is, on one line of so many characters, whatever it would mean as Markdown or HTML."""
    return visible_line(text, longest).translate(_AS_TEXT)
