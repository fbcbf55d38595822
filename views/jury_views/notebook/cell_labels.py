"""Labels of cells of notebooks, beside those of debates and statistics."""

from jury_views.debate_labels import DebateLabels
from jury_views.statistics_labels import StatisticsLabels
from jury_views.translation import Translation


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
