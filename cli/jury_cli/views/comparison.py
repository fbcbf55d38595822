"""Two debates, or two runs, side by side in a terminal; what differs is marked with ≠."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from jury_cli.views.result_line import why_line
from jury_events.text import pluralize, visible_line
from jury_events.verdict import Verdict
from jury_judge.comparisons.comparison import ComparisonRow, DebateComparison, Position, Side
from jury_judge.comparisons.run_comparison import Flip, RunComparison, RunSide, ordered_ends
from jury_views.conclusion import decided_sentence
from jury_views.page import Page
from jury_views.paired_sections import PAIRED_TABLES, paired_sections
from jury_views.reasons import VerdictReason, reason_data
from jury_views.terminal.report_page import print_sections as print_report
from jury_views.terminal.sections import Sections, T, others_line, print_sections
from jury_views.terminal.verdicts import VERDICTS, verdict_text

if TYPE_CHECKING:
    from jury_events.verdict_scale import VerdictScale
    from jury_judge import PanelDifference
    from jury_judge.comparisons.comparing import ComparedRuns

SHOWN = 20
"""Flips, differences and cases that are listed unless all are asked for."""

_NAMED = 4
"""Fields of panels that are named first."""

_CELL = 60
"""Characters of a panel's field at most: a prompt may be pages long."""

_ANOTHER_CASE = {True: "", False: " (another case under the same id)", None: " (a case was erased)"}
_SAME_CASE = {True: "the same", False: "≠ not the same", None: "not known: a text was erased"}
_NOTHING = "–"


class _Debates(NamedTuple):
    compared: DebateComparison
    whole: bool


class _Runs(NamedTuple):
    found: "ComparedRuns"
    whole: bool


def debates_page(compared: DebateComparison, tables: "Sequence[str]" = (), *, whole: bool = False) -> Page:
    """What differs and why the verdicts came, then these tables, of `TABLES_OF_DEBATES`.

    Args:
        compared: two debates.
        tables: their names; (): positions.
        whole: all rows of each, instead of the first.
    """
    page = Page()
    a, b = compared.a, compared.b
    differing = [one for one in compared.rows if one.differs]
    first = "" if not differing else f"; first: {' '.join(_place(differing[0]))}"
    page.facts(
        [
            ("verdict", _change(_decided(a), _decided(b))),
            *((f"why {name}", why) for name, one in zip("AB", (a, b), strict=True) if (why := _why(one.reason))),
            ("positions", f"{len(differing):,} of {len(compared.rows):,} differ{first}"),
            ("panels", _fields(compared.panel)),
            ("case", _SAME_CASE[compared.same_case]),
        ]
    )
    _tables(page, TABLES_OF_DEBATES, _Debates(compared, whole), tables, ("positions",))
    return page


def runs_page(found: "ComparedRuns", tables: "Sequence[str]" = (), *, whole: bool = False) -> Page:
    """Warnings first, what changed, then these tables, of `TABLES_OF_RUNS`, (): flips; else as `debates_page`."""
    page = Page()
    for warning in () if found.paired is None else found.paired.warnings:
        page.line(warning)
    page.facts(_conclusion(found))
    _tables(page, TABLES_OF_RUNS, _Runs(found, whole), tables, ("flips",))
    return page


def _results_table(page: Page, both: _Debates) -> None:
    page.heading("Results")
    rows = (_marked(name, one, other) for name, one, other in _results(both.compared.a, both.compared.b))
    page.table([("", "A", "B", ""), *rows], indent=2)


def _positions_table(page: Page, both: _Debates) -> None:
    page.heading("Positions")
    page.table([("round", "seat", "A", "B", ""), *map(_position_row, both.compared.rows)], indent=2)


def _totals_table(page: Page, both: _Runs) -> None:
    page.heading("Totals")
    compared = both.found.compared
    rows = (_marked(name, one, other) for name, one, other in _totals(compared.a, compared.b))
    page.table([("", "A", "B", ""), *rows], indent=2)


def _panels_of_runs(page: Page, both: _Runs) -> None:
    _differences(page, both.found.panel or (), whole=both.whole)
    for line in both.found.efforts:
        page.line(line, indent=2)


def _verdicts_table(page: Page, both: _Runs) -> None:
    compared = both.found.compared
    page.heading("Verdicts of the cases that both have")
    if compared.table:
        page.table(_ends(compared), indent=2)
    if compared.without_evaluation:
        cases = pluralize(compared.without_evaluation, "case")
        page.line(f"{cases} without an evaluation in A or B: neither agreement nor scores count there", indent=2)
    for name, only in (("A", compared.only_in_a), ("B", compared.only_in_b)):
        if only:
            shown = only if both.whole else only[:SHOWN]
            page.line(f"only in {name} ({len(only)}): {', '.join(shown)}{_more(only, shown, ' ')}", indent=2)


def _flips_table(page: Page, both: _Runs) -> None:
    compared, flips = both.found.compared, both.found.flips
    if not compared.flips:
        return
    page.heading(f"Flips ({len(compared.flips)})")
    scale = compared.a.labels_of
    for flip, same_case, reasons in flips:
        page.line(f"{flip.case_id}: {_flip(flip, scale)}{_ANOTHER_CASE[same_case]}", indent=2)
        for name, side, reason in zip("AB", (flip.a, flip.b), reasons, strict=True):
            why = _why(reason)
            page.line(f"{name} {side.debate_id}{f': {why}' if why else ''}", indent=4)
    if len(flips) < len(compared.flips):
        page.line(_more(compared.flips, flips), indent=2)


def _tests_table(page: Page, both: _Runs) -> None:
    if both.found.paired is not None:
        print_report(page, paired_sections(both.found.paired, ("A", "B")), PAIRED_TABLES)


TABLES_OF_DEBATES: "Sections[_Debates]" = {
    "results": _results_table,
    "panels": lambda page, both: _differences(page, both.compared.panel, whole=both.whole),
    "positions": _positions_table,
}
TABLES_OF_RUNS: "Sections[_Runs]" = {
    "flips": _flips_table,
    "verdicts": _verdicts_table,
    "results": _totals_table,
    "panels": _panels_of_runs,
    "tests": _tests_table,
}
"""The tables, by the names that `jury compare` takes."""


def _tables(page: Page, known: "Sections[T]", found: T, asked: "Sequence[str]", first: "Sequence[str]") -> None:
    print_sections(page, known, found, asked or first)
    if not asked:
        others_line(page, known, [found], first)


def _more(found: "Sequence[Any]", shown: "Sequence[Any]", before: str = "") -> str:
    return f"{before}and {len(found) - len(shown):,} more (--full lists them)" if len(found) > len(shown) else ""


def _why(reason: "VerdictReason | None") -> str:
    return (why_line(reason_data(reason)) or "") if reason is not None else ""


def _conclusion(found: "ComparedRuns") -> Iterator[tuple[str, str]]:
    compared, paired = found.compared, found.paired
    a, b = compared.a, compared.b
    flips = pluralize(len(compared.flips), "flip")
    if paired is not None and paired.towards_last is not None:
        ends = (_end(paired.categories[place], a.labels_of) for place in (-1, 0))
        flips += ": {:,} towards {}, {:,} towards {}".format(
            *(one for pair in zip((paired.towards_last, paired.towards_first), ends, strict=True) for one in pair)
        )
    same = "verdicts" if a.labels_of is None else "labels"
    if compared.agreement is None:
        yield same, f"no case has a verdict in both; {flips}"
    else:
        yield same, f"the same in {compared.agreed:,} of {compared.judged:,} cases judged by both; {flips}"
    against = None if paired is None else paired.against_labels
    if against is not None:
        for name, decided in zip("AB", against.decided, strict=True):
            yield f"right {name}", decided_sentence(decided)
    if compared.score_difference is not None:
        yield "scores", f"{compared.score_difference:.1f} points apart on average"
    yield "cost", f"{_change(_run_cost(a), _run_cost(b))}; calls {_change(f'{a.calls:,}', f'{b.calls:,}')}"
    yield "panels", _fields(found.panel or ())


def _fields(panel: "Sequence[PanelDifference]") -> str:
    """What the panels differ in."""
    if not panel:
        return "the same"
    more = ", …" if len(panel) > _NAMED else ""
    return f"differ in {pluralize(len(panel), 'field')}: {', '.join(one.field for one in panel[:_NAMED])}{more}"


def _change(before: str, after: str) -> str:
    return before if before == after else f"{before} → {after}"


def _decided(side: Side) -> str:
    said = _verdict(side) if side.verdict is not None else _shown(side.status)
    return said if side.score is None else f"{said} {side.score}"


def _marked(name: str, one: str, other: str) -> tuple[str, ...]:
    return name, one, other, "" if one == other else "≠"


def _results(a: Side, b: Side) -> list[tuple[str, str, str]]:
    def row(name: str, field: str) -> tuple[str, str, str]:
        return name, _shown(getattr(a, field)), _shown(getattr(b, field))

    rows = [
        row("debate", "debate_id"),
        row("case", "case_id"),
        row("run", "run_id"),
        row("forked from", "forked_from"),
        row("panel", "panel"),
        row("status", "status"),
        ("verdict", _verdict(a), _verdict(b)),
        row("score", "score"),
        row("rounds", "total_rounds"),
        row("ended by", "end_reason"),
        row("method", "method"),
        row("decided by", "decided_by"),
        row("quorum met", "quorum_met"),
        row("capped by", "capped_by"),
        row("calls", "calls"),
        ("cost", _cost(a.cost), _cost(b.cost)),
    ]
    return [found for found in rows if found[1:] != (_NOTHING, _NOTHING)]


def _verdict(side: Side) -> str:
    return _NOTHING if side.verdict is None else verdict_text(side.verdict, side.label)[0]


def _shown(value: Any) -> str:
    if value is None:
        return _NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    return VERDICTS[value][0] if isinstance(value, Verdict) else str(value)


def _cost(cost: float | None) -> str:
    return "unknown" if cost is None else f"${cost:.4f}"


def _differences(page: Page, panel: "Sequence[PanelDifference]", *, whole: bool) -> None:
    if not panel:
        return
    page.heading("Panels")
    shown = panel if whole else panel[:SHOWN]
    rows = [(one.field, *(visible_line(_shown(side), _CELL) for side in (one.before, one.now)), "≠") for one in shown]
    page.table([("field", "A", "B", ""), *rows], indent=2)
    if len(panel) > len(shown):
        page.line(_more(panel, shown), indent=2)


def _position_row(row: ComparisonRow) -> tuple[str, ...]:
    return *_place(row), _position(row.a), _position(row.b), "≠" if row.differs else ""


def _place(row: ComparisonRow) -> tuple[str, str]:
    place = "final" if row.round is None else "phase 1" if row.round == 0 else f"round {row.round}"
    return place, row.juror_id or "final judge"


def _position(position: Position | None) -> str:
    if position is None:
        return _NOTHING
    if position.verdict is None or position.score is None:
        return "∅ abstained"
    said = f"{verdict_text(position.verdict, position.label)[0]} {position.score:g}"
    if position.kind == "stale":
        said += " · abstained, earlier position stands"
    elif position.kind == "standing":
        said += " · stands, as a decision model does not speak"
    elif position.kind == "synthetic":
        said += " · stands in for a blocked answer"
    return said + (" · ↻ position changed" if position.changed else "")


def _totals(a: RunSide, b: RunSide) -> list[tuple[str, str, str]]:
    scale = a.labels_of
    always = scale.ids if scale is not None else tuple(Verdict)
    names = ordered_ends({*always, *a.ended_as, *b.ended_as}, scale)
    rows = [("run", a.run_id, b.run_id), ("debates", f"{a.debates:,}", f"{b.debates:,}")]
    rows += [(_end(name, scale), f"{a.ended_as[name]:,}", f"{b.ended_as[name]:,}") for name in names]
    rows.append(("calls", f"{a.calls:,}", f"{b.calls:,}"))
    rows.append(("tokens in / out", _tokens(a), _tokens(b)))
    rows.append(("cost", _run_cost(a), _run_cost(b)))
    return rows


def _tokens(side: RunSide) -> str:
    return f"{side.input_tokens:,} / {side.output_tokens:,}"


def _run_cost(side: RunSide) -> str:
    unknown = f" + unknown in {side.unknown_cost}" if side.unknown_cost else ""
    return f"${side.cost:.4f}{unknown}"


def _end(ended_as: str, scale: "VerdictScale | None") -> str:
    if scale is not None and ended_as in scale.ids:
        return verdict_text(scale.verdict(ended_as), ended_as)[0]
    return VERDICTS[Verdict(ended_as)][0] if ended_as in set(Verdict) else ended_as


def _ends(compared: RunComparison) -> list[tuple[str, ...]]:
    """A row an end in A, a column an end in B."""
    ends, scale = compared.ends, compared.a.labels_of
    head = ("A ↓  B →", *(_end(end, scale) for end in ends))
    return [head, *((_end(old, scale), *(str(compared.table[old, new]) for new in ends)) for old in ends)]


def _flip(flip: Flip, scale: "VerdictScale | None") -> str:
    ends = (f"{_end(one.ended_as, scale)}{'' if one.score is None else f' {one.score}'}" for one in (flip.a, flip.b))
    return " → ".join(ends)
