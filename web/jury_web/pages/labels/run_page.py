"""The pages of runs."""

from jury_views.translation import TranslatedLabels, Translation


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
