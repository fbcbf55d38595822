"""Which debates of a store are worked on, and how they are listed, shown and written as files."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from pydantic import AfterValidator, Field

from jury_events.conditions import Condition, parse_field
from jury_events.errors import BadCondition
from jury_events.ladder import MOST_STAGES
from jury_events.local_events import ScoreTargetName
from jury_events.nearest import did_you_mean
from jury_events.outcome import DebateStatus
from jury_events.text import visible_line
from jury_events.verdict import Verdict
from jury_judge.errors import SettingsRefused, escaped
from jury_judge.settings.fields import Conditions, RecordedConditions, Stored, StoreUrl, checked_run_id
from jury_judge.settings_model import Option, SettingsModel, option_name
from jury_store.debate_rows import DebateFilter
from jury_store.list_order import SORT_COLUMNS, SortOrder

if TYPE_CHECKING:
    from jury_replay.selection import DebateSelection

WHERE = Option(
    help="Only where this holds of the case or the quotations: FIELD=VALUE, !=, ~ (contains) or !~, as tags~refund, "
    "metadata.level=3 or evidence=not_found (docs/filtering.md). Repeatable: all must be met.",
    metavar="COND",
)
WHERE_OF_CASES = Option(
    help="Only where this holds of the case: FIELD=VALUE, !=, ~ (contains) or !~, as tags~refund or metadata.level=3 "
    "(docs/filtering.md). Repeatable: all must be met.",
    metavar="COND",
)
_RUN = Option(help="The debates of this run.", name="--run", metavar="ID")
_ALL = Option(help="Every debate of the store.", name="--all")
_PROCESSES = Option(help="Processes that work. [default: one a core]", metavar="N")
RunId = Annotated[str, AfterValidator(checked_run_id)]
Processes = Annotated[Annotated[int, Field(ge=1, le=256)] | None, _PROCESSES]
"""None: one a core where that is faster."""


class CaseChoice(SettingsModel):
    """Debates that may only be opening are chosen by their cases alone."""

    where: Annotated[Conditions, WHERE_OF_CASES] = ()


class Selection(SettingsModel):
    """Some debates, those of a run, or all; conditions select among those of a run, or all."""

    debate_ids: tuple[str, ...] = ()
    run_id: Annotated[RunId | None, _RUN] = None
    everything: Annotated[bool, _ALL] = False
    where: Annotated[RecordedConditions, WHERE] = ()

    def model_post_init(self, _context: object) -> None:
        """Refuse settings that do not go together."""
        if self.debate_ids and self.where:
            raise SettingsRefused("{where} selects among the debates of a run, or all: name no debates with it")
        named = [bool(self.debate_ids), self.run_id is not None, self.everything].count(True)
        if named > 1 or not (named or self.where):
            raise SettingsRefused(
                "name debates, or a run with {run_id} ID, or {everything}, or select with {where} COND"
            )

    @property
    def debates(self) -> "DebateSelection":
        """The debates, each once."""
        from jury_replay.selection import DebateSelection  # noqa: PLC0415  (lists need no processes)

        return DebateSelection(tuple(dict.fromkeys(self.debate_ids)) or None, self.run_id, self.where)


_MOST_SEARCHED = 200
"""Characters of a search."""


def _searched(text: str) -> str:
    sought = text.strip()
    if not sought or len(sought) > _MOST_SEARCHED or not sought.isprintable():
        raise ValueError(
            f"must be 1 to {_MOST_SEARCHED} printable characters: a word that jurors wrote, a piece of an id"
        )
    return sought


_Dollars = Annotated[float, Field(ge=0, le=1e12)]
_YES_NO = ("yes", "no")


class DebateChoice(SettingsModel):
    """Which debates of a list; every condition must be met."""

    run_id: Annotated[RunId | None, replace(_RUN, help="Only the debates of this run.")] = None
    search: Annotated[
        Annotated[str, AfterValidator(_searched)] | None,
        Option(help="Only those in which jurors wrote these words, or in whose ids this is.", metavar="TEXT"),
    ] = None
    where: Annotated[RecordedConditions, WHERE] = ()
    status: Annotated[
        DebateStatus | None,
        Option(help=f"Only those that are {', '.join(get_args(DebateStatus))}.", metavar="STATUS"),
    ] = None
    verdict: Annotated[Verdict | None, Option(help="Only those that ended with this verdict of the jury.")] = None
    disposition: Annotated[
        Verdict | None, Option(help="Only those whose last human verdict is this, or without one the jury's.")
    ] = None
    reviewed: Annotated[
        bool | None, Option(help="Only those that a person gave a verdict on, or none.", choices=_YES_NO)
    ] = None
    model: Annotated[
        str | None, Option(help="Only those in which this model sits, or is the final judge.", metavar="MODEL")
    ] = None
    quorum: Annotated[Literal["met", "lost"] | None, Option(help="Only those whose quorum was met, or lost.")] = None
    partly_read: Annotated[
        bool | None,
        Option(
            help="Only those of which a seat did not read parts of the record, as they were refused or never answered "
            "usably, or those without such a seat.",
            choices=_YES_NO,
        ),
    ] = None
    split: Annotated[bool | None, Option(help="Only those whose seats do not agree in their last votes.")] = None
    min_cost: Annotated[_Dollars | None, Option(help="Only those that cost at least so much.", metavar="USD")] = None
    max_cost: Annotated[_Dollars | None, Option(help="Only those that cost at most so much.", metavar="USD")] = None
    label: Annotated[Verdict | None, Option(help="Only those whose case has this label.")] = None
    unfinished: Annotated[bool, Option(help="Only debates that are not over.")] = False
    stage: Annotated[
        Annotated[int, Field(ge=1, le=MOST_STAGES)] | None,
        Option(help="Every debate of this stage of ladders; else of each case the one that counts."),
    ] = None
    quarantined: Annotated[bool, Option(help="Only debates in quarantine, which are left out otherwise.")] = False

    @property
    def chosen(self) -> DebateFilter:
        """The same as the store takes it."""
        said = {name: getattr(self, name) for name in DebateChoice.model_fields if name not in {"label", "quorum"}}
        words = {name: one.value for name, one in said.items() if isinstance(one, Verdict)}
        label = () if self.label is None else (Condition("label", "=", self.label.value),)
        quorum = None if self.quorum is None else self.quorum == "met"
        return DebateFilter(**{**said, **words, "where": self.where + label, "quorum": quorum})


FILTERS = tuple(
    option_name(name, info).removeprefix("--")
    for name, info in DebateChoice.model_fields.items()
    if name not in {"run_id", "where", "label", "unfinished", "quarantined"}
)
"""The names of filters: those of the options of `jury list`."""


def debate_filter(filters: Mapping[str, str], where: tuple[Condition, ...] = ()) -> DebateFilter:
    """The filter of pairs of a name and a text, as `status=failed` or `min-cost=0.5`, and of conditions."""
    for name, text in filters.items():
        shown = escaped(f"{visible_line(name, 60)}={visible_line(text, 60)}")
        if name not in FILTERS:
            raise SettingsRefused(
                f"{{filters}} {shown}: there is no such filter{escaped(did_you_mean(name, FILTERS))}; the filters are "
                f"{', '.join(FILTERS)}"
            )
        try:
            DebateChoice.of(**{name.replace("-", "_"): text})
        except SettingsRefused as error:
            raise SettingsRefused(f"{{filters}} {shown}: {error.args[0].partition(': ')[2]}") from error
    return DebateChoice.of(where=where, **{name.replace("-", "_"): text for name, text in filters.items()}).chosen


COLUMN_NAMES = {
    "debate": "debate_id",
    "case": "case_id",
    "run": "run_id",
    "verdict": "final_verdict",
    "score": "final_score",
    "quorum": "quorum_met",
    "opened": "opened_at",
    "begun": "begun_at",
    "updated": "updated_at",
    "ended": "ended_at",
}
"""What columns are called in JSON and in exported tables, by their shorter names. Both are accepted."""


def _sort_key(name: str) -> str:
    return next((key for key, column in COLUMN_NAMES.items() if name == column), name)


def _field(text: str) -> str:
    try:
        return parse_field(text)
    except BadCondition as error:
        raise ValueError(visible_line(str(error), 1000)) from error


class ListSettings(DebateChoice, Stored):
    """Debates, one row each, unless their groups, their totals or the runs are asked for."""

    group_by: Annotated[
        Annotated[str, AfterValidator(_field)] | None,
        Option(
            help="Count by tags, cluster, label, case_id or metadata.NAME instead: verdicts, mean score, agreement "
            "with labels. A debate with several tags counts in each.",
            metavar="FIELD",
        ),
    ] = None
    totals: Annotated[bool, Option(help="Print what all of them come to instead of the debates.")] = False
    sort: Annotated[
        Annotated[str, AfterValidator(_sort_key)],
        Option(
            help="By what debates are sorted; what is not known counts as less than anything. [default: opened_at]",
            choices=(*(COLUMN_NAMES.get(one, one) for one in SORT_COLUMNS), *COLUMN_NAMES),
            metavar="COLUMN",
        ),
    ] = "opened"
    order: Annotated[Literal["desc", "asc"] | None, Option(help="[default: desc, of agreement asc]")] = None
    columns: Annotated[
        str | None,
        Option(
            help="Print these columns, as case_id,final_verdict, with tabs and a heading; the names are those of "
            "--json.",
            metavar="NAMES",
        ),
    ] = None
    why: Annotated[bool, Option(help="Say why below each line: the item where it went wrong, and the reason.")] = False
    of_runs: Annotated[bool, Option(help="List the runs instead.", name="--runs")] = False
    limit: Annotated[Annotated[int, Field(ge=1)] | None, Option(help="At most N lines. [default: all]")] = None

    @property
    def sorted_by(self) -> SortOrder:
        """The order of the rows."""
        return SortOrder(self.sort, self.sort != "agreement" if self.order is None else self.order == "desc")

    def model_post_init(self, _context: object) -> None:
        """Refuse settings that do not go together."""
        if self.of_runs and (self.chosen != DebateFilter() or self.group_by or self.totals or self.columns):
            raise SettingsRefused(
                "{of_runs} lists all runs: it goes with {limit} and {as_json}, and with no other choice"
            )
        if (self.group_by or self.totals) and (self.limit or self.columns):
            which = "{group_by} counts" if self.group_by else "{totals} adds up"
            raise SettingsRefused(
                which + " all debates: leave {limit} and {columns} out, or choose with {run_id} and {where}"
            )
        if self.why and (self.of_runs or self.group_by or self.totals or self.columns):
            raise SettingsRefused("{why} is of debates, a line each: it goes with none of the other forms")
        if self.group_by and self.totals:
            raise SettingsRefused("give {group_by} or {totals}, not both")


class ShowSettings(SettingsModel):
    """The whole debate as people read it, unless its events, its prompts or its evidence are asked for."""

    full: Annotated[bool, Option(help="The whole debate: the case, all that was said, votes and calls.")] = False
    as_events: Annotated[bool, Option(help="One line an event, with its number and id, instead.", name="--events")] = (
        False
    )
    as_prompts: Annotated[bool, Option(help="What models were sent, call by call, instead.", name="--prompts")] = False
    as_evidence: Annotated[
        bool, Option(help="What jurors quote, and the items they call decisive, instead.", name="--evidence")
    ] = False
    step: Annotated[
        str | None, Option(help="With --prompts: of this step only, as in initial/gpt or final.", metavar="STEP")
    ] = None
    marked: Annotated[bool, Option(help="With --prompts: texts exactly as sent, with their marks.")] = False

    def model_post_init(self, _context: object) -> None:
        """Refuse settings that do not go together."""
        if self.as_events and self.full:
            raise SettingsRefused("{as_events} shows no case; {full} goes without it")
        if self.as_prompts and (self.as_events or self.full):
            raise SettingsRefused("{as_prompts} shows what was sent; {as_events} and {full} go without it")
        if self.as_evidence and (self.as_events or self.as_prompts or self.full):
            raise SettingsRefused("{as_evidence} shows quotations; {as_events}, {as_prompts} and {full} go without it")
        if (self.step is not None or self.marked) and not self.as_prompts:
            raise SettingsRefused("{step} and {marked} go with {as_prompts}")


class ExportSettings(Selection):
    """Debates as cassettes, unless pages, tables, or scores on the traces that they judged are asked for.

    `output`: a folder, for one debate a file, or - for stdout; None: the working directory.
    """

    output: str | None = None
    html: Annotated[bool, Option(help="Write each debate as one HTML file to be read, which opens offline.")] = False
    parquet: Annotated[
        Path | None,
        Option(
            help="Write tables instead: debates, reasons, ballots, exchanges and labels as Parquet files "
            "(docs/python-api.md).",
            metavar="FOLDER",
        ),
    ] = None
    csv: Annotated[
        str | None,
        Option(
            help="Write the same tables as CSV files; of FILE.csv or - (stdout) the debates alone.",
            metavar="FOLDER|FILE.csv|-",
        ),
    ] = None
    texts: Annotated[bool, Option(help="With --parquet or --csv: with the texts of cases, requests and answers.")] = (
        False
    )
    seal_key: Annotated[
        Path | None,
        Option(
            help="Sign with this private key how long the streams of each debate are now, so that a cassette that was "
            "cut is refused by jury import --key.",
            metavar="FILE",
        ),
    ] = None
    target: Annotated[
        ScoreTargetName | None,
        Option(
            help="Write verdicts, scores and votes onto the traces that the debates judged instead (docs/traces.md).",
            name="--to",
        ),
    ] = None
    dry_run: Annotated[bool, Option(help="With --to: print what would be written; write nothing.")] = False
    store_url: StoreUrl = None
    as_json: Annotated[bool, Option(help="Print what was written as JSON.", name="--json")] = False

    def model_post_init(self, context: Any) -> None:
        """Refuse settings that do not go together."""
        super().model_post_init(context)
        others = self.html or self.output is not None
        tables = [f"{{{name}}}" for name in ("parquet", "csv") if getattr(self, name) is not None]
        for refused, why in (
            (
                self.target is not None and (others or tables or self.seal_key is not None),
                "{target} writes to a tool: leave {html}, {output}, {parquet}, {csv} and {seal_key} out",
            ),
            (self.dry_run and self.target is None, "{dry_run} is about {target}"),
            (len(tables) > 1, "{parquet} and {csv} exclude each other"),
            (
                tables and others,
                f"{''.join(tables)} names where the tables are written: leave {{html}} and {{output}} out",
            ),
            (
                self.texts and not tables,
                "{texts} belongs to {parquet} and {csv}: cassettes and pages always have the texts",
            ),
            (self.parquet == Path("-"), "{parquet} -: tables are several files; name a folder"),
            (
                self.csv == "-" and self.as_json,
                "{csv} - writes to stdout: leave {as_json} out, or name a file or folder",
            ),
            (
                self.seal_key is not None and (self.html or tables),
                "{seal_key} signs cassettes: leave {html}, {parquet} and {csv} out",
            ),
            (
                self.output == "-" and (len({*self.debate_ids}) != 1 or self.as_json),
                "stdout takes one debate, without {as_json}; name a folder with {output}",
            ),
        ):
            if refused:
                raise SettingsRefused(why)
