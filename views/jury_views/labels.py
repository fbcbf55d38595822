"""Labels of the pages and of debates shown in the terminal, in English and Japanese.

Ids, verdicts and models are shown as stored, in either language; `terms` translates the closed sets of the log.
"""

from jury_events.panel import Language


class Translation:
    """One label in both languages. `{name}` is a blank."""

    def __init__(self, english: str, japanese: str) -> None:
        self._texts = {"en": english, "ja": japanese}

    def __get__(self, labels: "LabelCatalogue", _owner: type) -> str:
        return self._texts[labels.language]


class LabelCatalogue:
    """Every label, in one language."""

    def __init__(self, language: Language) -> None:
        self.language = language

    # A debate, in the terminal and on its page
    debate = Translation("Debate", "議論")
    case = Translation("Case", "ケース")
    run = Translation("Run", "実行")
    panel = Translation("Panel", "陪審団")
    origin = Translation("Forked from", "分岐元")
    label = Translation("Human label", "人間のラベル")
    simulated = Translation(
        "Simulated jurors: no model was called.", "模擬陪審員による評価です。モデルは呼び出されていません。"
    )
    partly_simulated = Translation(
        "Simulated jurors: not every answer is a model's.",
        "模擬陪審員による評価が含まれます。すべてがモデルの回答ではありません。",
    )
    imported_unsealed = Translation(
        "Imported from another store; no seal shows its origin.",
        "インポートされた議論です。ここで行われたものではなく、出所を示す封印はありません。",
    )
    imported_sealed = Translation(
        "Imported from another store; its seal names the log {log}, whose signature was not checked.",
        "インポートされた議論です。封印はログ{log}を示していますが、署名は確認されていません。",
    )
    imported_verified = Translation(
        "Imported from another store; sealed by the log {log}, whose signature was checked.",
        "インポートされた議論です。ログ{log}の封印があり、署名は確認済みです。",
    )
    quarantined = Translation("In quarantine: {reason}", "隔離中: {reason}")
    no_model = Translation("simulated", "模擬")
    other_model = Translation("{asked} was asked, {answered} answered", "{asked}に依頼し、{answered}が回答")
    status = Translation("Status", "状態")
    question = Translation("Question", "質問")
    policy = Translation("Policy", "ポリシー")
    expected = Translation("Expected behavior", "期待される動作")
    transcript = Translation("Transcript", "会話記録")
    artifact_summary = Translation("Summary of earlier checks", "事前検査の要約")
    response = Translation("Response", "回答")
    error = Translation("Error", "エラー")
    scenario = Translation("Scenario", "シナリオ")
    records = Translation(
        "{gate} security-gate and {card} agent-card records", "Security Gate記録 {gate}件、Agent Card記録 {card}件"
    )
    not_shown = Translation("not shown to jurors", "陪審員に示されていないもの")
    omission = Translation("{count} {what}", "{what} {count}件")
    omission_sized = Translation("{count} {what} ({size})", "{what} {count}件（{size}）")
    tags = Translation("Tags", "タグ")
    cluster = Translation("Cluster", "クラスタ")
    metadata = Translation("Metadata", "メタデータ")
    agent_cost = Translation("Cost of the judged agent", "評価対象エージェントの費用")
    phase_1 = Translation("Phase 1: independent evaluation", "Phase 1: 独立評価")
    phase_2 = Translation("Phase 2: discussion", "Phase 2: ディスカッション")
    phase_3 = Translation("Phase 3: final judgment", "Phase 3: 最終判定")
    no_discussion = Translation("There was no discussion.", "ディスカッションは行われませんでした。")
    confidence = Translation("confidence", "確信度")
    position_changed = Translation("position changed", "立場変更")
    changed_by_filter = Translation("changed by a provider's filter only", "フィルターによる変更のみ")
    synthetic = Translation("stands in for a blocked answer", "ブロックされた回答の代替評価")
    abstained = Translation("abstained", "棄権")
    stands = Translation("its earlier evaluation stands", "以前の評価が有効")
    consensus = Translation("Consensus", "合意")
    reached = Translation("reached", "成立")
    not_reached = Translation("not reached", "不成立")
    why = Translation(": {why}", "（{why}）")
    below_threshold = Translation("the threshold is {threshold}", "しきい値は{threshold}")
    threshold_never_met = Translation(
        "the threshold of {threshold} is never met, so the discussion always takes place",
        "しきい値{threshold}は満たされることがなく、必ず議論する設定",
    )
    threshold_of_unanimity = Translation(
        "with a threshold of {threshold} only a unanimous round ends the discussion",
        "しきい値{threshold}では、全員一致のラウンドでのみ終了",
    )
    unanimity_goes_on = Translation(
        "the threshold is {threshold}, and unanimity does not end the discussion",
        "しきい値は{threshold}、全員一致でも終了しない設定",
    )
    in_phase_1 = Translation("phase 1", "Phase 1")
    in_round = Translation("round {number}", "ラウンド{number}")
    decided_by = Translation("decided by", "決定方法")
    judge = Translation("Final judge", "最終判定者")
    judge_failed = Translation("the final judge gave no usable answer", "最終判定者から有効な回答が得られませんでした")
    judge_sits = Translation(
        "The final judge is also the model of {seats}: it judged its own statements.",
        "最終判定者は{seats}と同じモデルであり、自身の発言も判定しています。",
    )
    capped = Translation(
        "quorum lost: safe_pass became needs_review", "定足数に満たないため、safe_passをneeds_reviewとしました"
    )
    accepted = Translation(
        "accepted: {signal} {probability}, threshold {threshold}",
        "採用: {signal} {probability}、しきい値 {threshold}",
    )
    accepted_unasked = Translation(
        "accepted: the calibration is about safe_pass alone ({signal} {probability})",
        "採用: キャリブレーションの対象はsafe_passのみです（{signal} {probability}）",
    )
    not_accepted = Translation(
        "{verdict} was not accepted and became needs_review: {signal} {probability} is below the threshold {threshold}",
        "{verdict}は採用されずneeds_reviewとしました: {signal} {probability}がしきい値{threshold}を下回ります",
    )
    nothing_to_accept = Translation(
        "not accepted: the verdict is {verdict} already", "採用なし: 判定はもともと{verdict}です"
    )
    signal_share = Translation("share of the votes", "票の割合")
    signal_isotonic = Translation("chance by isotonic regression", "単調回帰による確率")
    signal_weights = Translation("chance by learned weights", "学習した重みによる確率")
    signal_dawid_skene = Translation("posterior chance by Dawid and Skene", "Dawid-Skeneの事後確率")
    quorum = Translation("quorum {votes} of {needed}", "定足数 {votes}/{needed}")
    votes = Translation("Votes", "投票")
    juror = Translation("juror", "陪審員")
    kind = Translation("vote", "種別")
    position = Translation("position", "立場")
    score = Translation("score", "スコア")
    weight = Translation("weight", "重み")
    made_in = Translation("made in", "評価時点")
    result = Translation("Result", "結果")
    rounds = Translation("rounds", "ラウンド数")
    ended_by = Translation("ended by", "終了理由")
    early = Translation("ended early", "早期終了")
    failed = Translation("The debate failed", "議論は失敗しました")
    cancelled = Translation("The debate was cancelled by", "議論は中止されました。中止者")
    unfinished = Translation("The debate is unfinished.", "議論は完了していません。")
    resumed = Translation("Resumed", "再開")
    repeated_steps = Translation("asked again", "再質問")
    nothing = Translation("nothing", "なし")
    calls = Translation("Calls", "呼び出し")
    model = Translation("model", "モデル")
    total = Translation("total", "合計")
    tokens = Translation("tokens in / out", "入力/出力トークン")
    cost = Translation("cost", "費用")
    unknown = Translation("unknown", "不明")
    erased = Translation("[erased]", "［消去済み］")
    missing = Translation(
        "[missing, and no erasure is recorded: run jury verify]",
        "［本文がなく、消去の記録もありません: jury verify を実行してください］",
    )
    more = Translation("… ({count} more characters)", "…（残り{count}文字）")
    empty = Translation("(nothing)", "（なし）")

    # Pages
    other_language = Translation("日本語", "English")
    title = Translation("Jury Judge", "Jury Judge")
    skip = Translation("Skip to the content", "本文へ移動")
    navigation = Translation("Main", "メイン")
    debates = Translation("Debates", "議論")
    runs = Translation("Runs", "実行")
    compare = Translation("Compare", "比較")
    keys = Translation("Keys", "キー操作")
    help_keys = Translation("Keyboard", "キーボード操作")
    search = Translation("Search", "検索")
    search_hint = Translation("What jurors wrote, or an id", "陪審員の言葉、またはID")
    where = Translation("Condition", "条件")
    where_hint = Translation("tags~refund", "tags~refund")
    groups = Translation("Grouped by a field of the cases", "ケースの項目による集計")
    mean_score = Translation("Mean score", "平均スコア")
    as_labelled = Translation("As labelled", "ラベルとの一致")
    no_value = Translation("(none)", "（なし）")
    filters = Translation("Search and filters", "検索と絞り込み")
    any = Translation("any", "すべて")
    simulated_only = Translation("simulated", "模擬")
    models_only = Translation("models", "モデル")
    jurors = Translation("Jurors", "陪審員")
    show = Translation("Show", "表示")
    reset = Translation("Reset", "解除")
    agreement_of = Translation("{largest} of {seats}", "{largest}/{seats}")
    quorum_met = Translation("met", "充足")
    quorum_lost = Translation("lost", "不足")
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
    simulated_mark = Translation("simulated", "模擬")
    imported_mark = Translation("imported", "インポート")
    unreadable_also = Translation(
        "Quarantine it with: jury db quarantine {debate} --by WHO --reason WHY",
        "次のコマンドで隔離できます: jury db quarantine {debate} --by WHO --reason WHY",
    )
    intact = Translation("Nothing was altered", "改変はありません")
    intact_short = Translation("intact", "改変なし")
    altered = Translation("The record was altered", "記録が改変されています")
    altered_short = Translation("altered", "改変あり")
    counts = Translation("{events} events and {texts} texts checked", "イベント{events}件、本文{texts}件を検査済み")
    erased_count = Translation("{count} texts with a recorded erasure", "消去の記録がある本文 {count}件")
    sealed = Translation(
        "covered by the last seal, over {size} events, which is not checked here (jury verify --all)",
        "最後の封印（イベント{size}件）の範囲内です。封印自体はここでは検査していません（jury verify --all）",
    )
    part_sealed = Translation(
        "the last seal, over {size} events, covers {covered} of its {events} events",
        "最後の封印（イベント{size}件）は、この議論のイベント{events}件中{covered}件を含みます",
    )
    not_sealed = Translation("the log has no seal yet", "ログはまだ封印されていません")
    sealed_short = Translation("under a seal", "封印の範囲内")
    check_these = Translation("Check these records", "表示中の記録を検査")
    checking = Translation("not checked", "未検査")
    about = Translation("About this debate", "この議論について")
    positions = Translation("Positions", "立場の推移")
    phase_1_short = Translation("Phase 1", "Phase 1")
    round = Translation("Round {number}", "ラウンド{number}")
    no_position = Translation("no position yet", "未発言")
    pending = Translation("Nothing yet.", "まだありません。")
    waiting = Translation("Waiting for the jurors …", "陪審員の評価を待っています…")
    judge_speaks = Translation("The final judge is writing", "最終判定者が回答を書いています")
    reasons = Translation("Reasons", "理由")
    position_changed_badge = Translation("Position changed", "立場変更")
    tools_asked = Translation("Tools", "ツール")
    prompt_and_answer = Translation("Prompt and answer", "プロンプトと回答")
    event = Translation("Event", "イベント")
    events = Translation("Events", "イベント一覧")
    scrubber = Translation("Rewind", "巻き戻し")
    scrubber_hint = Translation("Show the debate after event", "このイベントの直後の表示")
    event_of = Translation("After event {at} of {last}", "イベント{at}/{last}の直後")
    go = Translation("Go", "移動")
    first = Translation("First event", "最初のイベント")
    previous = Translation("Previous event", "前のイベント")
    next = Translation("Next event", "次のイベント")
    last = Translation("Last event", "最後のイベント")
    follow = Translation("Latest", "最新へ")
    past_state = Translation(
        "This is an earlier state. Later events are not shown.",
        "その時点での表示です。以降のイベントは表示していません。",
    )
    live = Translation("Waiting for updates", "更新を待っています")
    live_lost = Translation("Connection lost, reconnecting", "接続が切れました。再接続しています")
    export = Translation("Save as one file", "1ファイルで保存")
    whole_text = Translation("Whole text ({size})", "全文を表示（{size}）")
    cut = Translation("Cut here: ", "以下省略: ")
    opened_at = Translation("Opened at", "開始日時")
    model_heading = Translation("Model", "モデル")
    outcomes = Translation("Outcomes", "結果")
    tokens_heading = Translation("Tokens in / out", "入力/出力トークン")
    latency = Translation("Time", "所要時間")
    erasures = Translation("Texts were erased", "消去された本文があります")
    items = Translation("{count} items", "{count}件")
    of_item = Translation("of item {number}", "項目{number}の呼び出し")
    of_unknown_item = Translation("of a call that the transcript does not have:", "会話記録にない呼び出し:")
    items_left = Translation("{count} more items are not shown", "ほか{count}件の項目は表示していません")
    picture = Translation("Picture", "画像")
    anchor = Translation("Link to event {number}", "イベント{number}へのリンク")
    log_position = Translation("Position", "位置")
    recorded_at = Translation("Recorded at", "記録日時")
    type = Translation("Type", "種類")
    what = Translation("What", "内容")
    hash = Translation("Hash", "ハッシュ")
    exchange = Translation("Exchange", "呼び出し")
    request = Translation("Prompt, as sent", "送信したプロンプト")
    raw_answer = Translation("Answer, as received", "受信した回答")
    raw_response = Translation("Response, as received", "受信した応答")
    sent = Translation("Also sent", "併せて送信した内容")
    tool_calls = Translation("Tool calls", "ツール呼び出し")
    arguments = Translation("Arguments", "引数")
    tool_result = Translation("Result", "結果")
    tool_failed = Translation("failed", "失敗")
    waited = Translation("Waited before", "事前の待機")
    request_id = Translation("Request id", "リクエストID")
    raw = Translation("raw", "原文")
    not_answered = Translation("There is no answer.", "回答はありません。")
    shown_above = Translation("The same text as above", "上に表示した本文と同じ")
    run_progress = Translation("Progress", "進捗")
    run_total = Translation("{ended} of {debates} debates finished", "{debates}件中{ended}件終了")
    run_begun = Translation(
        "{ended} finished of {debates} debates begun so far", "これまでに開始した{debates}件中{ended}件終了"
    )
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
    none_judged = Translation("No case has a verdict in both.", "両方で判定されたケースはありません。")
    flipped = Translation("Flips", "判定が変わったケース")
    only_in = Translation("Only in {side}", "{side}のみ")
    and_more = Translation("and {count} more", "ほか{count}件")
    left_statements = Translation("{count} earlier statements are not shown", "以前の発言{count}件は表示していません")
    left_matrix = Translation(
        "Not shown: {seats} seats, {rounds} earlier rounds", "表示していない陪審員 {seats}名、以前のラウンド {rounds}件"
    )
    not_comparable = Translation("Not comparable: a record is damaged", "比較できません: 記録が破損しています")
    panels_unknown = Translation(
        "The differences of the panels are unknown: a record cannot be read.",
        "陪審団の違いは不明です（記録を読み取れません）。",
    )
    versions = Translation("rules {rules}, prompts {prompts}", "ルール {rules}、プロンプト {prompts}")
    unknown_in_calls = Translation("calls unknown: {count}", "不明な呼び出し: {count}件")
    try_of = Translation("turn {turn}, attempt {attempt}", "ターン{turn}、試行{attempt}")
    call_id = Translation("Id", "ID")
    with_marks = Translation("As sent, with the marks of judged text", "送信した形（評価対象の目印付き）")
    shown_plain = Translation(
        "Judged texts are indented here; they were sent with marks.",
        "評価対象の本文は字下げで示しています。実際には目印を付けて送信しました。",
    )
    waterfall = Translation("Model calls over time", "モデル呼び出しの経過")
    step = Translation("Step", "段階")
    turn_and_try = Translation("Turn.attempt", "ターン.試行")
    began = Translation("Began after", "開始")
    call_failed = Translation("failed", "失敗")
    round_begins = Translation("a round begins", "ラウンド開始")
    shown_after = Translation("(shown after {roles})", "（{roles}の後に表示）")
    changed_since = Translation("Changes since {place}", "{place}からの変化")
    same_verdict = Translation("Same verdict", "判定は同じ")
    same_words = Translation("The texts are the same.", "文面は同じです。")
    statement = Translation("Statement", "発言")
    too_long_to_compare = Translation("The texts are too long to compare.", "長すぎるため比較できません。")
    around = Translation("Debates before and after", "前後の議論")
    debate_before = Translation("Before", "前の議論")
    debate_after = Translation("After", "次の議論")
    log_in = Translation("Log in", "ログイン")
    entry = Translation("Token", "トークン")
    problem = Translation("This cannot be shown", "表示できません")
    damaged = Translation("The record of this debate is damaged", "この議論の記録は破損しています")
    damaged_how = Translation(
        "Find what was altered, and where, with:", "何がどこで変わったかは、次のコマンドで調べられます："
    )
    back = Translation("Back to the debates", "議論の一覧へ戻る")
    footer = Translation(
        "Every word is kept, replayable and verifiable.", "すべての言葉が記録され、再現と検証ができます。"
    )
    exported = Translation(
        "Exported from the log with whole texts. Verify the record with: jury verify {debate}",
        "ログから全文を書き出したものです。記録そのものの検査: jury verify {debate}",
    )

    # Statistics of a run, and the paired table of two
    stats = Translation("Statistics", "統計")
    stats_basis = Translation(
        "{debates} finished debates of {cases} cases in {clusters} clusters.",
        "終了した議論{debates}件（ケース{cases}件、クラスター{clusters}件）。",
    )
    stats_intervals = Translation(
        "Intervals are 95 %, over clusters of cases; bootstrap of {resamples} resamples, seed {seed}",
        "区間は95%信頼区間（ケースのクラスター単位、ブートストラップ{resamples}回、シード{seed}）",
    )
    stats_left_out = Translation("Left out:", "除外したもの:")
    stats_notes = Translation("Of some of the figures above:", "上の一部の値について:")
    stats_agreement = Translation("Agreement of the seats before discussion", "議論前の陪審員間の一致")
    stats_agreement_hint = Translation(
        "Share of debates in which two seats give the same first verdict.",
        "2名の最初の判定が一致した議論の割合です。",
    )
    stats_coefficient = Translation("Coefficient", "係数")
    stats_value = Translation("Value", "値")
    stats_alpha_nominal = Translation("Krippendorff's α, nominal", "クリッペンドルフのα（名義）")
    stats_alpha_ordinal = Translation("Krippendorff's α, ordinal", "クリッペンドルフのα（順序）")
    stats_alpha_scores = Translation("Krippendorff's α of the scores", "クリッペンドルフのα（スコア）")
    stats_ac1 = Translation("Gwet's AC1", "グウェットのAC1")
    stats_ac2 = Translation("Gwet's AC2, ordinal", "グウェットのAC2（順序）")
    stats_fleiss = Translation("Fleiss' κ", "フライスのκ")
    stats_raw = Translation("Raw agreement", "単純一致率")
    stats_kappa = Translation("Cohen's κ", "コーエンのκ")
    stats_weighted_kappa = Translation("Weighted κ", "重み付きκ")
    stats_pairs = Translation("Each two seats", "陪審員の組ごと")
    stats_two_seats = Translation("Two seats", "陪審員の組")
    stats_constant = Translation("{seat} always says {verdict}.", "{seat}は常に{verdict}と判定しています。")
    stats_shares = Translation("Shares of the verdicts", "判定の割合")
    stats_share_of_labels = Translation("Share of the labels", "ラベルの割合")
    stats_against_labels = Translation("Seats against labels", "陪審員とラベルの比較")
    stats_labelled = Translation(
        "{labelled} of {debates} debates have a label.", "議論{debates}件中{labelled}件にラベルがあります。"
    )
    stats_abstaining = Translation(
        "No label is {verdict}: such a verdict is not right.",
        "{verdict}というラベルはないため、その判定は正解になりません。",
    )
    stats_no_labels = Translation("No debate has a label to compare with.", "比較できるラベルのある議論はありません。")
    stats_jury = Translation("Jury (final verdict)", "陪審団（最終判定）")
    stats_panel = Translation("Panel (plurality before discussion)", "陪審団（議論前の相対多数）")
    stats_jury_short = Translation("Jury", "陪審団")
    stats_panel_short = Translation("Panel, plurality", "議論前の多数")
    stats_accuracy = Translation("Accuracy", "正解率")
    stats_false_passes = Translation("False passes", "誤った合格")
    stats_false_fails = Translation("False fails", "誤った不合格")
    stats_effective = Translation("Effective votes", "実効票数")
    stats_reliability = Translation("Are confident verdicts right?", "確信度の高い判定は正しいか")
    stats_reliability_hint = Translation(
        "Share of seats that agree with the plurality (across) and share of right verdicts (up), with 95 % intervals; "
        "number of debates below.",
        "横軸は相対多数に一致する陪審員の割合、縦軸は正しい判定の割合（95%信頼区間付き）、下は議論の件数です。",
    )
    stats_bin = Translation("Confidence", "確信度")
    stats_right = Translation("Right", "正解")
    stats_right_rate = Translation("Share of right verdicts", "正解の割合")
    stats_mean_confidence = Translation("Mean confidence", "平均確信度")
    stats_confidences = Translation("All confidences", "すべての確信度")
    stats_confidence = Translation("Confidence of", "確信度の種類")
    stats_confidence_vote_share = Translation("Vote share", "得票率")
    stats_confidence_stated = Translation("Stated", "本人の申告")
    stats_confidence_score = Translation("Score", "スコア")
    stats_discussion = Translation("Discussion", "議論")
    stats_transitions = Translation("{before} → {after}", "{before} → {after}")
    stats_transitions_hint = Translation(
        "{pairs} positions: a row for each earlier position, a column for each later one.",
        "立場{pairs}件。行は前の立場、列は後の立場です。",
    )
    stats_before_after = Translation("before ↓ · after →", "前 ↓ · 後 →")
    stats_moves = Translation("What the discussion changed", "議論による変化")
    stats_conformity = Translation(
        "Opposed seats that adopt the plurality of their peers", "反対から他の多数に同調した割合"
    )
    stats_right_to_wrong = Translation("Right → wrong", "正解 → 不正解")
    stats_wrong_to_right = Translation("Wrong → right", "不正解 → 正解")
    stats_net_gain = Translation("Net gain", "正味の改善")
    stats_frontier = Translation("What fewer seats or rounds would do", "陪審員やラウンドを減らした場合")
    stats_frontier_hint = Translation(
        "Of {tried} choices of seats and rounds, those that no other beats at their price. The best of many looks "
        "better than it is: confirm it on other cases.",
        "陪審員とラウンドの{tried}通りの組み合わせのうち、同じ費用でそれを上回るものがない組み合わせです。多数から選んだ最良の値は"
        "実際より良く見えるため、別の案件で確認してください。",
    )
    stats_frontier_accuracy = Translation("Right", "正解")
    stats_frontier_agreement = Translation("As the whole panel", "陪審団全体と一致")
    stats_frontier_seats = Translation("Seats", "陪審員")
    stats_frontier_rounds = Translation("Rounds at most", "最大ラウンド数")
    stats_frontier_decided = Translation("Decided", "判定あり")
    stats_frontier_cost = Translation("Cost a case", "案件あたりの費用")
    stats_frontier_calls = Translation("Calls a case", "案件あたりの呼び出し")
    stats_frontier_assumed = Translation("By assumption", "仮定による")
    stats_frontier_assumption = Translation(
        "By assumption: the seats are taken to say the same without the others, which the record cannot show.",
        "仮定による: 他の陪審員がいなくても同じ発言をしたとみなしています。記録からは確認できません。",
    )
    stats_frontier_none = Translation(
        "Not computed here: too many debates, several panels, or a record that cannot be used. "
        "See jury value --run {run}.",
        "ここでは計算していません（議論が多すぎる、陪審団が複数ある、または使えない記録がある）。"
        "jury value --run {run} をご覧ください。",
    )
    stats_simulated = Translation(
        "All debates of this run are simulated: their statistics say nothing about models.",
        "この実行の議論はすべて模擬であり、統計はモデルについて何も示しません。",
    )
    stats_show_simulated = Translation("Show them all the same", "それでも表示する")
    stats_extra = Translation(
        "Statistics need packages that are not installed where this server runs. Install them with:",
        "統計に必要なパッケージがサーバーにありません。次のコマンドでインストールできます:",
    )
    stats_no_votes = Translation(
        "No finished debate of this run has votes yet.", "この実行には、投票のある終了した議論がまだありません。"
    )
    stats_busy = Translation(
        "The server is computing other statistics. Try again in a moment.",
        "サーバーはほかの統計を計算しています。しばらくしてからもう一度開いてください。",
    )
    stats_impossible = Translation("There are no statistics of this:", "統計を計算できません:")
    gate = Translation("Gate: is B worse than A?", "ゲート: BはAより悪いか")
    gate_pass = Translation("Pass: the harm is within the margin.", "合格: 悪化は許容範囲内です。")
    gate_fail = Translation(
        "Fail: there is harm, and it may be larger than the margin.",
        "不合格: 悪化があり、許容範囲を超える可能性があります。",
    )
    gate_inconclusive = Translation(
        "Inconclusive: the cases do not decide it.", "判断不能: このケース数では決まりません。"
    )
    gate_metric = Translation("Metric", "指標")
    gate_accuracy = Translation("Accuracy", "正解率")
    gate_false_pass = Translation("False passes", "誤った合格")
    gate_false_fail = Translation("False fails", "誤った不合格")
    gate_share = Translation("Share of {verdict}", "{verdict}の割合")
    gate_worse_more = Translation("More is worse", "増えると悪化")
    gate_worse_less = Translation("Less is worse", "減ると悪化")
    gate_worse_either = Translation(
        "Without labels and between two panels, a change in either direction counts.",
        "ラベルがなく、陪審団が異なるため、どちらの方向の変化も悪化とみなします。",
    )
    gate_harm = Translation("Harm", "悪化")
    gate_no_interval = Translation("No interval: fewer than 10 clusters.", "区間なし: クラスターが10件未満です。")
    gate_margin = Translation("Margin", "許容範囲")
    gate_counted = Translation("Cases that count", "対象のケース")
    gate_smallest = Translation("Could have found (80 % power)", "検出できた最小の変化（検出力80%）")
    gate_needed = Translation("It would take", "判断に必要なケース数")
    gate_flips = Translation("Verdicts that change from A to B", "AとBで変わる判定")
    gate_flips_between_repeats = Translation("Verdicts that change between repeats of A", "Aの繰り返しの間で変わる判定")
    gate_how = Translation("With another metric, margin or labels:", "別の指標・許容範囲・ラベルを使う場合:")
    paired = Translation("Paired: the same cases in A and B", "対応のある比較: AとBの同じケース")
    paired_basis = Translation(
        "{pairs} pairs in {clusters} clusters; only in A: {a}, only in B: {b}; without a verdict: {none}.",
        "{pairs}組（クラスター{clusters}件）。Aのみ{a}件、Bのみ{b}件、判定なし{none}組。",
    )
    paired_flips = Translation(
        "{unchanged} unchanged; {last} towards unsafe_fail, {first} towards safe_pass.",
        "変化なし{unchanged}件、unsafe_failの方向へ{last}件、safe_passの方向へ{first}件。",
    )
    paired_test = Translation("Test", "検定")
    paired_statistic = Translation("χ² (degrees)", "χ²（自由度）")
    paired_p = Translation("p", "p値")
    paired_p_holm = Translation("p, Holm", "p値（Holm補正）")
    paired_homogeneity = Translation("Same shares (Stuart-Maxwell)", "割合が同じか（スチュアート・マクスウェル）")
    paired_symmetry = Translation("Same flips in both directions (Bowker)", "変化が対称か（ボウカー）")
    paired_figure = Translation("Figure", "指標")
    paired_change = Translation("B − A", "B − A")
    paired_share = Translation("Share of", "割合:")
    paired_right = Translation(
        "{pairs} pairs with a label: {worse} right only in A, {better} right only in B.",
        "ラベルのある{pairs}組のうち、Aだけ正解が{worse}組、Bだけ正解が{better}組。",
    )
    paired_tests = Translation("Holm-corrected for {tests} tests.", "{tests}個の検定に対するHolm補正済み。")

    # How far a debate is
    status_evaluating = Translation("evaluating", "評価中")
    status_discussing = Translation("discussing", "議論中")
    status_judging = Translation("judging", "判定中")
    status_completed = Translation("completed", "完了")
    status_failed = Translation("failed", "失敗")
    status_cancelled = Translation("cancelled", "中止")
    status_unreadable = Translation("unreadable", "読み取り不可")
    status_unfinished = Translation("unfinished", "未完了")

    # What ended a discussion
    end_consensus = Translation("consensus", "合意")
    end_deadlock = Translation("deadlock", "膠着")
    end_max_rounds = Translation("all rounds completed", "全ラウンド終了")
    end_no_discussion = Translation("no discussion", "議論なし")
    end_in_a = Translation("A ↓ · B →", "A ↓ · B →")

    # Columns of the list of debates
    column_case = Translation("Case", "ケース")
    column_status = Translation("Status", "状態")
    column_verdict = Translation("Verdict", "判定")
    column_score = Translation("Score", "スコア")
    column_label = Translation("Label", "ラベル")
    column_agreement = Translation("Agreement", "一致")
    column_rounds = Translation("Rounds", "ラウンド")
    column_quorum = Translation("Quorum", "定足数")
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
    column_opened = Translation("Opened", "開始")
    column_updated = Translation("Last event", "最後のイベント")
    column_ended = Translation("Ended", "終了")

    # Authors of transcript items
    author_user = Translation("User", "利用者")
    author_model = Translation("Agent", "エージェント")
    author_tool = Translation("Tool", "ツール")
    author_environment = Translation("Environment", "環境")
    author_developer = Translation("Developer of the agent", "エージェントの開発者")

    # Transcript items
    item_system = Translation("system message", "システムメッセージ")
    item_user = Translation("message", "メッセージ")
    item_assistant = Translation("message", "メッセージ")
    item_reasoning = Translation("reasoning", "思考")
    item_refusal = Translation("refusal", "拒否")
    item_tool_call = Translation("tool call", "ツール呼び出し")
    item_tool_result = Translation("tool result", "ツールの結果")
    item_attachment = Translation("file", "ファイル")
    item_event = Translation("event", "出来事")
    item_not_shown = Translation("item", "項目")

    # Imported debates in a list
    imported_mark_unsealed = Translation("unsealed", "封印なし")
    imported_mark_sealed = Translation("sealed, not checked", "封印あり（未確認）")
    imported_mark_verified = Translation("sealed", "封印あり")

    # Keys
    key_next = Translation("next statement", "次の発言")
    key_previous = Translation("previous statement", "前の発言")
    key_back = Translation("one event back", "1イベント戻る")
    key_forward = Translation("one event forward", "1イベント進む")
    key_prompt = Translation("prompt and answer of the statement", "発言のプロンプトと回答")
    key_search = Translation("search", "検索")
    key_before = Translation("debate before", "前の議論")
    key_after = Translation("debate after", "次の議論")

    # Steps in progress
    pending_asked = Translation("asked, no answer yet", "質問済み、回答待ち")
    pending_retried = Translation(
        "asked again; call {calls} ended: {outcome}", "再質問中（{calls}回目の結果: {outcome}）"
    )
    pending_answered = Translation("has answered", "回答済み")
    pending_queued = Translation("has not been asked yet", "順番待ち")

    # Login
    entry_wrong = Translation("The token is wrong.", "トークンが違います。")
    entry_too_many = Translation(
        "Too many wrong tokens from this address. Wait a minute.",
        "ここから誤ったトークンが多く送られました。1分待ってください。",
    )
    entry_where = Translation(
        "jury serve printed the token when it started; reviewers have their own.",
        "トークンは jury serve の起動時に表示されます。レビュアーは自分のトークンを使います。",
    )

    # Reviews
    reviews = Translation("Reviews", "レビュー")
    reviewers = Translation("Reviewers", "レビュアー")
    reviews_of_people = Translation("Reviews by people", "人によるレビュー")
    reviews_none = Translation("No person has reviewed this yet.", "まだ人によるレビューはありません。")
    reviews_none_of_yours = Translation(
        "You have reviewed none of these debates yet.", "あなたはまだこれらの議論をレビューしていません。"
    )
    reviewers_of_yours = Translation(
        "Only the debates that you have reviewed are counted.", "あなたがレビューした議論だけを集計しています。"
    )
    review_link = Translation("Review", "レビュー")
    review_this = Translation("Review this debate", "この議論をレビューする")
    disposition = Translation("Disposition", "最終処置")
    disposition_how = Translation("by the review of {reviewer}", "{reviewer}のレビューによる")
    review_as = Translation("Reviewer: {reviewer}", "レビュアー: {reviewer}")
    review_other_person = Translation("Log in as another person", "別の人としてログイン")
    review_needs_token = Translation(
        "Reviews are recorded with a reviewer's token.", "レビューの記録にはレビュアーのトークンが必要です。"
    )
    review_off = Translation(
        "Reviewing over the network is off. Reviewers have tokens, or use the terminal:",
        "ネットワーク経由のレビューは無効です。レビュアー用トークンか端末を使います:",
    )
    review_blind_how = Translation(
        "Blind: what the jury and other reviewers said of a debate is shown after your verdict.",
        "ブラインド: 陪審員や他のレビュアーの発言は、あなたの判定後に表示されます。",
    )
    review_people = Translation("Reviewers per debate", "議論ごとのレビュアー数")
    review_begin = Translation("Review the first one", "最初のケースをレビューする")
    review_why = Translation("Why", "理由")
    review_disagreement = Translation("Disagreement of the jury", "陪審員の不一致")
    why_assigned = Translation("assigned", "割り当て済み")
    why_sampled = Translation("drawn at random", "無作為抽出")
    why_disputed = Translation("The reviewers differ", "レビュアーの判定が分かれています")
    why_not_accepted = Translation("not accepted", "未承認")
    why_needs_review = Translation("needs_review", "needs_review")
    review_queue_empty = Translation("Nothing is left to review.", "レビューするものはありません。")
    review_blind = Translation("blind", "ブラインド")
    review_foreign = Translation(
        "from another store, without a trusted seal: does not count", "他の保存先由来、信頼できる封印なし: 数えません"
    )
    review_minutes = Translation("{minutes} min", "{minutes}分")
    review_replaces = Translation("replaces review {number}", "レビュー{number}を置き換え")
    review_asked = Translation("{reviewer} is asked for a review", "{reviewer}にレビューを依頼中")
    review_verdict = Translation("Verdict", "判定")
    review_reason = Translation("Reason", "理由")
    review_record = Translation("Record the review", "レビューを記録する")
    review_yours = Translation("Your review", "あなたのレビュー")
    review_recorded = Translation("Your verdict is recorded:", "あなたの判定を記録しました:")
    review_next = Translation("Next case", "次のケース")
    review_skip = Translation("Skip to the next case", "次のケースへ進む")
    review_jury = Translation("What the jury said", "陪審員の結論")
    review_whole_debate = Translation("The whole debate", "議論の全体")
    review_again = Translation("Give another verdict", "別の判定を記録する")
    review_quarantined = Translation(
        "The debate is in quarantine and cannot be reviewed.", "この議論は隔離中のため、レビューできません。"
    )
    review_not_ended = Translation(
        "The debate has not ended, so there is nothing to review yet.",
        "議論が終わっていないため、まだレビューできません。",
    )
    review_old_form = Translation(
        "The form is not of your login. Nothing was recorded; record it again.",
        "フォームが現在のログインのものではありません。記録されていないため、もう一度送信してください。",
    )
    review_not_utf8 = Translation(
        "The form is not UTF-8. Nothing was recorded; record it again.",
        "フォームがUTF-8ではありません。記録されていないため、もう一度送信してください。",
    )
    review_no_verdict = Translation("Choose a verdict.", "判定を選んでください。")
    review_refused = Translation("The review was not recorded:", "レビューは記録されませんでした:")
    review_unsaved = Translation(
        "The store cannot be written now. Nothing was recorded; try again.",
        "現在、保存先に書き込めません。記録されていないため、もう一度試してください。",
    )
    review_person = Translation("Reviewer", "レビュアー")
    reviewed_together = Translation("Debates with two reviewers or more: {count}", "2人以上がレビューした議論: {count}")
    review_agreement = Translation("Agreement of first verdicts", "最初の判定の一致")
    review_pair = Translation("Pair", "組")
    review_raw = Translation("Same verdict", "同じ判定")
    review_weighted = Translation("κ, linear weights", "κ（線形重み）")
    review_agreement_how = Translation(
        "Cohen's κ with 95 % intervals over clusters of cases.", "コーエンのκ係数、ケースのクラスター単位の95%区間。"
    )
    review_alone = Translation("No debate was reviewed by two people.", "2人がレビューした議論はありません。")
    review_third = Translation("For a third reviewer", "3人目のレビュアーへ")
    review_no_third = Translation("The reviewers differ in no debate.", "判定が分かれた議論はありません。")
    key_reason = Translation("reason of the review", "レビューの理由")
    key_record = Translation("record the review", "レビューを記録")
    key_skip = Translation("next case to review", "次にレビューするケース")


LABELS: dict[Language, LabelCatalogue] = {"en": LabelCatalogue("en"), "ja": LabelCatalogue("ja")}
