"""The list of debates: search and filters, columns, states."""

from jury_views.translation import TranslatedLabels, Translation


class ListLabels(TranslatedLabels):
    """The list of debates: search and filters, columns, states."""

    search = Translation("Search", "検索")
    search_hint = Translation("What jurors wrote, or an id", "陪審員の言葉、またはID")
    where = Translation("Condition", "条件")
    where_hint = Translation("tags~refund", "tags~refund")
    filters = Translation("Search and filters", "検索と絞り込み")
    any = Translation("any", "すべて")
    simulated_only = Translation("simulated", "模擬")
    models_only = Translation("models", "モデル")
    jurors = Translation("Jurors", "陪審員")
    show = Translation("Show", "表示")
    reset = Translation("Reset", "解除")
    counting_debates = Translation("the debate that counts", "事例の結果となる議論")
    aside_escalated = Translation("went on to the next stage", "次の段に進んだ")
    aside_replaced = Translation("judged again", "改めて審理された")
    aside_audit = Translation("audit of an early exit", "早期終了の監査")
    quorum_met = Translation("met", "充足")
    quorum_lost = Translation("lost", "不足")
    seats_agree = Translation("seats agree", "陪審員の指定が一致")
    seats_disagree = Translation("seats disagree", "陪審員の指定が不一致")
    seats_none = Translation("fewer than two name one", "指定した陪審員が2名未満")
    votes_split = Translation("seats differ", "割れた")
    votes_agree = Translation("seats agree", "全員一致")
    some_seat = Translation("of some seat", "あり")
    no_seat = Translation("of no seat", "なし")
    newest = Translation("Newest", "最新")
    older = Translation("Older", "以前の議論")
    columns = Translation("Columns", "列")
    more_filters = Translation("More filters, order, columns", "その他の条件、並び順、列")
    sort = Translation("Sort by", "並び順")
    ascending = Translation("smallest first", "小さい順")
    descending = Translation("largest first", "大きい順")
    first_page = Translation("First page", "最初のページ")
    next_page = Translation("Next page", "次のページ")
    min_cost = Translation("Cost from, USD", "費用の下限（USD）")
    max_cost = Translation("Cost to, USD", "費用の上限（USD）")
    add_up = Translation("Totals of all matching debates", "該当する議論をすべて集計")
    total_debates = Translation(
        "{debates} debates, {completed} completed, {failed} failed, {cancelled} cancelled",
        "議論{debates}件（完了{completed}件、失敗{failed}件、中止{cancelled}件）",
    )
    total_cost = Translation("{cost}, unknown in {unknown} debates", "{cost}、{unknown}件の議論で不明")
    total_tokens = Translation(
        "{calls} model calls, {input} tokens in, {output} out",
        "モデル呼び出し{calls}件、入力{input}トークン、出力{output}トークン",
    )
    found_in = Translation("Found", "該当箇所")
    unsearched = Translation(
        "The last {count} events are not indexed for search yet.",
        "最新のイベント{count}件の発言は、まだ検索の対象になっていません。",
    )
    none_found = Translation(
        "No matching debates. Remove a filter, or search for other words.",
        "該当する議論はありません。条件を減らすか、別の言葉で検索してください。",
    )
    none_beyond = Translation("There are no more debates.", "これより先に議論はありません。")
    none_yet = Translation(
        "No debates yet. Run one with: jury demo", "議論はまだありません。次のコマンドで始められます: jury demo"
    )
    shown_range = Translation("{count} debates shown.", "{count}件を表示しています。")
    check_these = Translation("Check these records", "表示中の記録を検査")
    checking = Translation("not checked", "未検査")
    status_waiting = Translation("waiting", "待機中")
    status_evaluating = Translation("evaluating", "評価中")
    status_discussing = Translation("discussing", "議論中")
    status_judging = Translation("judging", "判定中")
    status_completed = Translation("completed", "完了")
    status_failed = Translation("failed", "失敗")
    status_cancelled = Translation("cancelled", "中止")
    status_unreadable = Translation("unreadable", "読み取り不可")
    status_no_evaluation = Translation("no evaluation", "評価なし")
    status_unfinished = Translation("unfinished", "未完了")
    column_case = Translation("Case", "ケース")
    column_status = Translation("Status", "状態")
    column_verdict = Translation("Verdict", "判定")
    column_score = Translation("Score", "スコア")
    column_label = Translation("Label", "ラベル")
    column_agreement = Translation("Votes", "票")
    column_rounds = Translation("Rounds", "ラウンド")
    column_quorum = Translation("Quorum", "定足数")
    column_partly_read = Translation("Parts not read", "未読の部分")
    column_integrity = Translation("Integrity", "完全性")
    column_method = Translation("Method", "判定方式")
    column_models = Translation("Models", "モデル")
    column_calls = Translation("Model calls", "モデル呼び出し")
    column_input_tokens = Translation("Tokens in", "入力トークン")
    column_output_tokens = Translation("Tokens out", "出力トークン")
    column_cost = Translation("Cost", "費用")
    column_agent_cost = Translation("Cost of the agent", "エージェントの費用")
    column_not_shown = Translation("Not shown to jurors", "陪審員に示されていないもの")
    column_run = Translation("Run", "実行")
    column_opened = Translation("Opened", "登録")
    column_begun = Translation("Begun", "開始")
    column_updated = Translation("Last event", "最後のイベント")
    column_reason = Translation("Why", "理由")
    column_ended = Translation("Ended", "終了")
