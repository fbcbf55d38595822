"""What a notebook shows of results, statistics and ballots: HTML of a cell, in a language."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, get_args

from jinja2 import Environment

from jury_events.errors import SettingError
from jury_events.panel import Language
from jury_events.text import visible_line
from jury_views.charts import stacked_bar
from jury_views.debate_labels import DebateLabels
from jury_views.number_formats import probabilities_line
from jury_views.report_sections import FigureNotes
from jury_views.statistics_words import StatisticsLabels
from jury_views.templating import templates
from jury_views.terms import Translation, term

if TYPE_CHECKING:
    from jury_analysis.statistics import Statistics
    from jury_analysis.wording import Reason


class CellLabels(DebateLabels, StatisticsLabels):
    """Every label that a cell may print."""

    table = Translation("table", "表")
    no_debate = Translation("no debate", "議論なし")
    no_verdict = Translation("no verdict, the debate is {status}", "判定なし（議論は{status}）")
    score_of = Translation("score {score}", "スコア {score}")
    no_score = Translation("no score", "スコアなし")
    person_decided = Translation("A person decided:", "人による判定:")
    rounds_of_discussion = Translation("rounds of discussion: {number}", "議論{number}ラウンド")
    seat = Translation("seat", "陪審員")
    answered_by = Translation("answered by", "回答したモデル")
    alone = Translation("alone", "独立評価")
    round = Translation("round {number}", "ラウンド{number}")
    vote = Translation("vote", "投票")
    scenarios = Translation("Scenarios", "シナリオ")
    verdict = Translation("verdict", "判定")
    abstained_alone = Translation(
        "{juror} abstained in the first evaluation: {reason}", "{juror}は独立評価を棄権しました: {reason}"
    )
    abstained_in_round = Translation(
        "{juror} abstained in round {number}: {reason}", "{juror}はラウンド{number}を棄権しました: {reason}"
    )
    written = Translation("What the jurors wrote", "陪審員の記述")
    by_juror = Translation("{juror}, {place}", "{juror}（{place}）")
    ballots = Translation("ballots: {total}", "票: {total}件")
    ballots_in_part = Translation(
        "ballots: {total}, of which {shown} are shown", "票: {total}件（うち{shown}件を表示）"
    )
    ballots_simulated = Translation("ballots of simulated debates: {count}", "模擬の議論の票: {count}件")
    all_ballots = Translation(
        "every row and column: .arrow, .to_pandas(), .to_polars()",
        "すべての行と列: .arrow、.to_pandas()、.to_polars()",
    )
    everything_else = Translation("Everything else that was counted: .to_dict()", "その他のすべての値: .to_dict()")


LABELS: dict[Language, CellLabels] = {language: CellLabels(language) for language in get_args(Language)}


@cache
def environment(lang: Language) -> Environment:
    """The templates in a language, compiled once per process."""
    made = templates()
    made.globals.update(labels=LABELS[lang], lang=lang, stacked_bar=stacked_bar)
    made.filters["probabilities_line"] = probabilities_line
    made.filters["term"] = lambda word: term(word, lang).replace("_", " ")
    return made


def rendered(template: str, lang: Language, **values: Any) -> str:
    return environment(checked(lang)).get_template(template).render(values, footnotes=FigureNotes())


def checked(lang: Language) -> Language:
    if lang not in LABELS:
        raise SettingError(f"lang: {visible_line(str(lang), 20)!r} is neither {' nor '.join(sorted(LABELS))}")
    return lang


def ballots_html(rows: Sequence[Mapping[str, Any]], lang: Language, *, total: int, simulated: int) -> str:
    """A table of rows.

    Args:
        rows: the first ones, with the columns to show.
        lang: of the labels; columns have their names in every language.
        simulated: how many of all rows are of simulated debates.
    """
    return rendered("ballots.html", lang, rows=rows, total=total, simulated=simulated)


def statistics_html(named: "Sequence[tuple[str, Statistics]]", lang: Language, remarks: "Iterable[Reason]" = ()) -> str:
    """Charts, each beside a table of its numbers.

    Args:
        named: the statistics of each group with its name; "" if nothing is grouped.
    """
    return rendered("statistics.html", lang, groups=named, remarks=list(remarks))
