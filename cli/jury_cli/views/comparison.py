"""Two debates, or two runs, side by side in a terminal; what differs is marked with ≠."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from jury_cli.views.result_line import why_line
from jury_events.text import pluralize, visible_line
from jury_events.verdict import Verdict
from jury_judge.comparisons.comparison import ComparisonRow, DebateComparison, Position, Side
from jury_judge.comparisons.run_comparison import Flip, RunComparison, RunSide, ordered_ends
from jury_views.conclusion import decided_sentence
from jury_views.page import VERDICTS, Page, verdict_text
from jury_views.paired_sections import paired_sections
from jury_views.reasons import VerdictReason, reason_data
from jury_views.report_sections import Block, ReportCell, Section, Sentence, Table
from jury_views.terminal.report_page import others_line, print_sections

if TYPE_CHECKING:
    from jury_events.verdict_scale import VerdictScale
    from jury_judge import PanelDifference
    from jury_judge.comparisons.comparing import ComparedRuns, ListedFlip

SHOWN = 20
"""Flips, differences and cases that are listed unless all are asked for."""

_NAMED = 4
"""Fields of panels that are named first."""

_CELL = 60
"""Characters of a panel's field at most: a prompt may be pages long."""

_ANOTHER_CASE = {True: "", False: " (another case under the same id)", None: " (a case was erased)"}
_SAME_CASE = {True: "the same", False: "≠ not the same", None: "not known: a text was erased"}
_NOTHING = "–"


TABLES_OF_DEBATES = ("results", "panels", "positions")
TABLES_OF_RUNS = ("flips", "verdicts", "results", "panels", "tests")
"""The tables, by the names that `jury compare` takes."""


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
    _print_tables(page, _debates_sections(compared, whole=whole), TABLES_OF_DEBATES, tables or ("positions",), tables)
    return page


def runs_page(found: "ComparedRuns", tables: "Sequence[str]" = (), *, whole: bool = False) -> Page:
    """Warnings first, what changed, then these tables, of `TABLES_OF_RUNS`, (): flips; else as `debates_page`."""
    page = Page()
    for warning in () if found.paired is None else found.paired.warnings:
        page.line(warning)
    page.facts(_conclusion(found))
    _print_tables(page, _runs_sections(found, whole=whole), TABLES_OF_RUNS, tables or ("flips",), tables)
    return page


def _print_tables(
    page: Page, sections: Iterable[Section], order: Sequence[str], shown: Sequence[str], asked: Sequence[str]
) -> None:
    made = list(sections)
    print_sections(page, made, shown)
    if not asked:
        others_line(page, made, order, shown)


def _debates_sections(compared: DebateComparison, *, whole: bool) -> Iterator[Section]:
    rows = [_marked(name, one, other) for name, one, other in _results(compared.a, compared.b)]
    yield _section("results", "Results", _table(("", "A", "B", ""), rows))
    yield from _panels(compared.panel, (), whole=whole)
    positions = [_position_row(one) for one in compared.rows]
    yield _section("positions", "Positions", _table(("round", "seat", "A", "B", ""), positions))


def _runs_sections(found: "ComparedRuns", *, whole: bool) -> Iterator[Section]:
    compared, flips = found.compared, found.flips
    if compared.flips:
        lines = [line for flip in flips for line in _flip_lines(flip, compared.a.labels_of)]
        more = [_more(compared.flips, flips)] if len(flips) < len(compared.flips) else []
        yield _section("flips", f"Flips ({len(compared.flips)})", *map(Sentence, (*lines, *more)))
    yield _section("verdicts", "Verdicts of the cases that both have", *_both_have(compared, whole=whole))
    rows = [_marked(name, one, other) for name, one, other in _totals(compared.a, compared.b)]
    yield _section("results", "Totals", _table(("", "A", "B", ""), rows))
    yield from _panels(found.panel or (), found.efforts, whole=whole)
    if found.paired is not None:
        for one in paired_sections(found.paired, ("A", "B")):
            yield one._replace(group="tests")


def _section(name: str, title: str, *blocks: Block) -> Section:
    return Section(name, name, title, blocks)


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Table:
    made = tuple(tuple(ReportCell(cell, "whole") for cell in row) for row in rows)
    return Table(head, made, few=len(made))


def _both_have(compared: RunComparison, *, whole: bool) -> Iterator[Block]:
    if compared.table:
        head, *rows = _ends(compared)
        yield _table(head, rows)
    if compared.without_evaluation:
        cases = pluralize(compared.without_evaluation, "case")
        yield Sentence(f"{cases} without an evaluation in A or B: neither agreement nor scores count there")
    for name, only in (("A", compared.only_in_a), ("B", compared.only_in_b)):
        if only:
            shown = only if whole else only[:SHOWN]
            yield Sentence(f"only in {name} ({len(only)}): {', '.join(shown)}{_more(only, shown, ' ')}")


def _flip_lines(one: "ListedFlip", scale: "VerdictScale | None") -> Iterator[str]:
    flip, same_case, reasons = one
    yield f"{flip.case_id}: {_flip(flip, scale)}{_ANOTHER_CASE[same_case]}"
    for name, side, reason in zip("AB", (flip.a, flip.b), reasons, strict=True):
        why = _why(reason)
        yield f"  {name} {side.debate_id}{f': {why}' if why else ''}"


def _panels(panel: "Sequence[PanelDifference]", efforts: Sequence[str], *, whole: bool) -> Iterator[Section]:
    if not panel and not efforts:
        return
    shown = panel if whole else panel[:SHOWN]
    rows = [(one.field, *(visible_line(_shown(side), _CELL) for side in (one.before, one.now)), "≠") for one in shown]
    more = [_more(panel, shown)] if len(panel) > len(shown) else []
    blocks = [_table(("field", "A", "B", ""), rows)] if rows else []
    yield _section("panels", "Panels", *blocks, *map(Sentence, (*more, *efforts)))


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


def _position_row(row: ComparisonRow) -> tuple[str, ...]:
    return *_place(row), _position(row.a), _position(row.b), "≠" if row.differs else ""


def _place(row: ComparisonRow) -> tuple[str, str]:
    step = row.step
    phase_1 = "with the reasoning" if step.reasoning else "phase 1"
    place = "final" if step.round is None else f"round {step.round}" if step.round else phase_1
    return place, step.juror_id or "final judge"


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
