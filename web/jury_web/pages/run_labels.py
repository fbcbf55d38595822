"""Labels of the pages of several debates: lists, runs, comparisons and gates."""

from jury_views.terms import TranslatedLabels, Translation


class RunLabels(TranslatedLabels):
    """The pages of runs."""

    groups = Translation("Grouped by a field of the cases", "ケースの項目による集計")
    mean_score = Translation("Mean score", "平均スコア")
    without_evaluation = Translation("{count} without an evaluation", "評価なし {count}件")
    as_labelled = Translation("As labelled", "ラベルとの一致")
    no_value = Translation("(none)", "（なし）")
    run_progress = Translation("Progress", "進捗")
    run_total = Translation("{ended} of {debates} debates finished", "{debates}件中{ended}件終了")
    run_begun = Translation(
        "{ended} of {debates} debates finished so far; the list is open",
        "これまでに{debates}件中{ended}件終了（一覧は未完了）",
    )
    run_cancelled = Translation("Cancelled by {by}: {waiting} waiting", "{by}が中止しました（待機中{waiting}件）")
    by_label = Translation("By label", "判定語別")
    run_open = Translation("open", "進行中")
    run_ahead = Translation("not begun", "未開始")
    live_now = Translation("Now", "現在の状況")
    live_process = Translation("Process {process} executes the run.", "プロセス{process}が実行しています。")
    live_detached = Translation(
        "Process {process} executes the run, without a terminal.", "プロセス{process}が端末なしで実行しています。"
    )
    live_nobody = Translation(
        "No process executes the run: the same jury run command goes on with it.",
        "この実行を進めているプロセスはありません。同じjury runコマンドで続行できます。",
    )
    live_not_here = Translation(
        "What the process holds in memory can be seen on its machine, by its user.",
        "プロセスのメモリ内の数値は、そのマシンの同じユーザーだけが確認できます。",
    )
    live_rate = Translation("In the last {seconds}", "直近{seconds}")
    live_none_ended = Translation("no debate ended", "終了した議論なし")
    live_eta = Translation("Time left", "残り時間")
    live_about = Translation("about {duration}", "約{duration}")
    live_counting = Translation("the cases are still being counted", "ケースを集計中")
    live_retries = Translation("{count} after a failed attempt", "失敗後の再試行{count}回")
    live_abstentions = Translation("Abstentions: {count}", "棄権{count}件")
    live_providers = Translation("Providers", "プロバイダー")
    live_mean = Translation("Mean time", "平均所要時間")
    live_longest = Translation("Longest", "最長")
    live_slowest = Translation("slowest", "最も遅い")
    live_failed = Translation("Failed", "失敗")
    live_seats = Translation("Jurors", "陪審員")
    live_steps = Translation("Steps asked", "依頼中のステップ")
    live_queued = Translation("To send", "送信待ち")
    live_in_flight = Translation("Calls in flight", "進行中の呼び出し")
    live_permits = Translation("Wait for a permit", "許可待ち")
    live_away = Translation("does not answer now", "応答なし")
    live_appends = Translation("Appends to store", "保存待ちの書き込み")
    run_accuracy = Translation("Against the labels", "ラベルとの比較")
    run_accuracy_how = Translation(
        "The jury's final verdicts; rates of false passes and fails are of the debates with the opposite label. More:",
        "陪審団の最終判定です。誤った合格・不合格の率は、反対のラベルの議論に対する割合です。詳しくは:",
    )
    run_accuracy_later = Translation(
        "Counted when every debate of the run has ended.", "実行のすべての議論が終わると集計します。"
    )
    run_differences = Translation("Where the jury and the label differ", "陪審団とラベルが異なる議論")
    run_no_differences = Translation(
        "No verdict so far differs from its label.", "ラベルと異なる判定は今のところありません。"
    )
    run_all_of_these = Translation("All {count} in the list", "一覧で{count}件すべてを見る")
    run_split = Translation("Where the seats differ most", "陪審員の判定が最も分かれた議論")
    run_split_how = Translation(
        "Votes for different verdicts: a pass beside a fail first, then the smallest majority, then scores that are "
        "farthest apart.",
        "票が異なる判定に分かれた議論。合格と不合格の対立、僅差の多数、スコアの差の順です。",
    )
    run_votes = Translation("Votes", "票")
    run_scores_of_votes = Translation("Scores", "票のスコア")
    run_quoted_debates = Translation(
        "In {count} debates that were asked for quotations.", "引用を求めた議論{count}件の集計です。"
    )
    run_quoted_shares = Translation("Shares with intervals", "割合と信頼区間")
    run_quoting_evaluations = Translation("Evaluations", "評価")
    run_unsupported_of = Translation("{number} of {of}", "{of}件中{number}件")
    run_cited_most = Translation("Items cited most", "最も多く引用された項目")
    run_cited_item = Translation("Item", "項目")
    run_cited_decisive = Translation("Named as decisive", "決め手として指定")
    verdicts = Translation("Verdicts", "判定の内訳")
    scores = Translation("Scores", "スコアの分布")
    in_numbers = Translation("In numbers", "数値で表示")
    flips = Translation("Changed positions by round", "ラウンド別の立場変更")
    statements = Translation("Own statements", "本人の発言")
    changes = Translation("Changed", "立場変更")
    blocked_answers = Translation("Blocked", "ブロック")
    stale_positions = Translation("No answer", "無回答")
    cost_so_far = Translation("Cumulative cost", "費用の累計")
    cost_nothing = Translation(
        "No cost: the jurors are simulated, or their models are free.",
        "費用はかかっていません（模擬陪審員、または無料のモデルです）。",
    )
    live_unrecorded = Translation("Sent and not recorded", "送信済み・未記録")
    live_unrecorded_most = Translation("{count} calls, {cost} at most", "{count}件、最大{cost}")
    live_batches = Translation("In batches", "バッチ処理中")
    live_batches_wave = Translation(
        "wave {wave}, calls: {calls}; since {since}, {cost} at most",
        "第{wave}波：呼び出し {calls}（{since}から）、最大{cost}",
    )
    batch_prepared = Translation("{count} prepared", "準備済み{count}件")
    batch_uploaded = Translation("{count} uploaded", "アップロード済み{count}件")
    batch_waiting = Translation("{count} waiting", "待機中{count}件")
    batch_running = Translation("{count} running", "処理中{count}件")
    batch_cancelling = Translation("{count} cancelling", "取消中{count}件")
    batch_ended = Translation("{count} ended", "終了{count}件")
    cost_unknown = Translation("unknown in {count} debates", "{count}件の議論で不明")
    of_latest = Translation("Of the latest {count} of {total} debates.", "全{total}件のうち最新{count}件の集計です。")
    number = Translation("Debates", "議論")
    share = Translation("Share", "割合")
    debates_of_run = Translation("The debates of this run", "この実行の議論")
    first_at = Translation("First opened", "最初の開始")
    last_at = Translation("Last event", "最後のイベント")
    no_runs = Translation(
        "No run yet. Judge cases with: jury run CASES.jsonl",
        "実行はまだありません。次のコマンドで始められます: jury run CASES.jsonl",
    )


class GateLabels(TranslatedLabels):
    """The gate between two runs, and their paired table."""

    gate = Translation("Gate: is B worse than A?", "ゲート: BはAより悪いか")
    gate_counts_outcomes = Translation(
        "The gate counts what the labels come to.", "ゲートは、判定語に対応する結果の区分を数えます。"
    )
    gate_how = Translation("With another metric, margin or labels:", "別の指標・許容範囲・ラベルを使う場合:")
    paired = Translation("Paired: the same cases in A and B", "対応のある比較: AとBの同じケース")


class CompareLabels(TranslatedLabels):
    """The page that compares two debates or two runs."""

    compare_hint = Translation("Two debates, or two runs, by their ids", "2つの議論、または2つの実行のID")
    kind_heading = Translation("Kind", "種類")
    compare_a = Translation("A", "A")
    compare_b = Translation("B", "B")
    same_case = Translation("Both judge the same case.", "同じケースを判定しています。")
    other_case = Translation("They do not judge the same case.", "同じケースではありません。")
    case_erased = Translation(
        "It is unknown whether they judge the same case: a text was erased or cannot be read.",
        "同じケースかどうかは不明です（本文が消去されているか、読み取れません）。",
    )
    differs = Translation("differs", "相違")
    panels = Translation("Panels", "陪審団")
    panels_same = Translation("The panels are the same.", "陪審団は同じです。")
    field = Translation("Field", "項目")
    seat = Translation("Seat", "陪審員")
    stale = Translation("abstained, earlier position stands", "棄権（以前の立場が有効）")
    both_judged = Translation(
        "Same verdict in {agreed} of {judged} cases judged by both ({share}); mean score difference: {difference}.",
        "両方で判定された{judged}件のうち{agreed}件（{share}）で判定が一致。スコアの差は平均{difference}点。",
    )
    both_judged_labels = Translation(
        "Same label in {agreed} of {judged} cases judged by both ({share}); mean score difference: {difference}.",
        "両方で判定された{judged}件のうち{agreed}件（{share}）で判定語が一致。スコアの差は平均{difference}点。",
    )
    compared_without_evaluation = Translation(
        "Without an evaluation in A or B: {count}, where neither agreement nor scores count.",
        "AまたはBに評価がないケース: {count}件（一致とスコアの計算から除外）。",
    )
    count_heading = Translation("Count", "数える対象")
    count_labels = Translation("labels", "判定語")
    count_outcomes = Translation("outcomes", "結果の区分")
    counted_labels = Translation(
        "Labels of the scale {scale} ({digest}) are counted.", "判定尺度{scale}（{digest}）の判定語を数えています。"
    )
    counted_outcomes = Translation(
        "What the labels of the scale {scale} ({digest}) come to is counted.",
        "判定尺度{scale}（{digest}）の判定語に対応する結果の区分を数えています。",
    )
    scales_differ = Translation(
        "The runs are judged in different scales: their outcomes are counted, and no label.",
        "2つの実行の判定尺度が異なるため、判定語ではなく結果の区分を数えています。",
    )
    none_judged = Translation("No case has a verdict in both.", "両方で判定されたケースはありません。")
    flipped = Translation("Flips", "判定が変わったケース")
    only_in = Translation("Only in {side}", "{side}のみ")
    and_more = Translation("and {count} more", "ほか{count}件")
    not_comparable = Translation("Not comparable: a record is damaged", "比較できません: 記録が破損しています")
    panels_unknown = Translation(
        "The differences of the panels are unknown: a record cannot be read.",
        "陪審団の違いは不明です（記録を読み取れません）。",
    )
    end_consensus = Translation("consensus", "合意")
    end_deadlock = Translation("deadlock", "膠着")
    end_max_rounds = Translation("all rounds completed", "全ラウンド終了")
    end_no_discussion = Translation("no discussion", "議論なし")
    end_in_a = Translation("A ↓ · B →", "A ↓ · B →")


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
