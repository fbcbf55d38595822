"""Labels of the pages and of debates shown in the terminal, in English and Japanese.

Ids, verdicts and models are shown as stored, in either language; `terms` translates the closed sets of the log.
"""

from jury_events.panel import Language


class Label:
    """One label in both languages. `{name}` is a blank."""

    def __init__(self, english: str, japanese: str) -> None:
        self._texts = {"en": english, "ja": japanese}

    def __get__(self, labels: "Labels", _owner: type) -> str:
        return self._texts[labels.language]


class Labels:
    """Every label, in one language."""

    def __init__(self, language: Language) -> None:
        self.language = language

    # A debate, in the terminal and on its page
    debate = Label("Debate", "議論")
    case = Label("Case", "ケース")
    run = Label("Run", "実行")
    panel = Label("Panel", "陪審団")
    origin = Label("Forked from", "分岐元")
    label = Label("Human label", "人間のラベル")
    simulated = Label(
        "Simulated jurors: no model was called.", "模擬陪審員による評価です。モデルは呼び出されていません。"
    )
    partly_simulated = Label(
        "Simulated jurors: not every answer is a model's.",
        "模擬陪審員による評価が含まれます。すべてがモデルの回答ではありません。",
    )
    imported_unsealed = Label(
        "Imported from another store; no seal shows its origin.",
        "インポートされた議論です。ここで行われたものではなく、出所を示す封印はありません。",
    )
    imported_sealed = Label(
        "Imported from another store; its seal names the log {log}, whose signature was not checked.",
        "インポートされた議論です。封印はログ{log}を示していますが、署名は確認されていません。",
    )
    imported_vouched = Label(
        "Imported from another store; sealed by the log {log}, whose signature was checked.",
        "インポートされた議論です。ログ{log}の封印があり、署名は確認済みです。",
    )
    quarantined = Label("In quarantine: {reason}", "隔離中: {reason}")
    no_model = Label("simulated", "模擬")
    other_model = Label("{asked} was asked, {answered} answered", "{asked}に依頼し、{answered}が回答")
    status = Label("Status", "状態")
    question = Label("Question", "質問")
    policy = Label("Policy", "ポリシー")
    expected = Label("Expected behavior", "期待される動作")
    transcript = Label("Transcript", "会話記録")
    artifact_summary = Label("Summary of earlier checks", "事前検査の要約")
    response = Label("Response", "回答")
    error = Label("Error", "エラー")
    scenario = Label("Scenario", "シナリオ")
    records = Label(
        "{gate} security-gate and {card} agent-card records", "Security Gate記録 {gate}件、Agent Card記録 {card}件"
    )
    not_shown = Label("not shown to jurors", "陪審員に示されていないもの")
    loss = Label("{count} {what}", "{what} {count}件")
    loss_sized = Label("{count} {what} ({size})", "{what} {count}件（{size}）")
    tags = Label("Tags", "タグ")
    cluster = Label("Cluster", "クラスタ")
    metadata = Label("Metadata", "メタデータ")
    agent_cost = Label("Cost of the judged agent", "評価対象エージェントの費用")
    phase_1 = Label("Phase 1: independent evaluation", "Phase 1: 独立評価")
    phase_2 = Label("Phase 2: discussion", "Phase 2: ディスカッション")
    phase_3 = Label("Phase 3: final judgment", "Phase 3: 最終判定")
    no_discussion = Label("There was no discussion.", "ディスカッションは行われませんでした。")
    confidence = Label("confidence", "確信度")
    position_changed = Label("position changed", "立場変更")
    changed_by_filter = Label("changed by a provider's filter only", "フィルターによる変更のみ")
    synthetic = Label("stands in for a blocked answer", "ブロックされた回答の代替評価")
    abstained = Label("abstained", "棄権")
    stands = Label("its earlier evaluation stands", "以前の評価が有効")
    consensus = Label("Consensus", "合意")
    reached = Label("reached", "成立")
    not_reached = Label("not reached", "不成立")
    why = Label(": {why}", "（{why}）")
    below_threshold = Label("the threshold is {threshold}", "しきい値は{threshold}")
    threshold_never_met = Label(
        "the threshold of {threshold} is never met, so the discussion always takes place",
        "しきい値{threshold}は満たされることがなく、必ず議論する設定",
    )
    threshold_of_unanimity = Label(
        "with a threshold of {threshold} only a unanimous round ends the discussion",
        "しきい値{threshold}では、全員一致のラウンドでのみ終了",
    )
    unanimity_goes_on = Label(
        "the threshold is {threshold}, and unanimity does not end the discussion",
        "しきい値は{threshold}、全員一致でも終了しない設定",
    )
    in_phase_1 = Label("phase 1", "Phase 1")
    in_round = Label("round {number}", "ラウンド{number}")
    decided_by = Label("decided by", "決定方法")
    judge = Label("Final judge", "最終判定者")
    judge_failed = Label("the final judge gave no usable answer", "最終判定者から有効な回答が得られませんでした")
    judge_sits = Label(
        "The final judge is also the model of {seats}: it judged its own statements.",
        "最終判定者は{seats}と同じモデルであり、自身の発言も判定しています。",
    )
    capped = Label(
        "quorum lost: safe_pass became needs_review", "定足数に満たないため、safe_passをneeds_reviewとしました"
    )
    quorum = Label("quorum {held} of {needed}", "定足数 {held}/{needed}")
    votes = Label("Votes", "投票")
    juror = Label("juror", "陪審員")
    kind = Label("vote", "種別")
    position = Label("position", "立場")
    score = Label("score", "スコア")
    weight = Label("weight", "重み")
    made_in = Label("made in", "評価時点")
    result = Label("Result", "結果")
    rounds = Label("rounds", "ラウンド数")
    ended_by = Label("ended by", "終了理由")
    early = Label("ended early", "早期終了")
    failed = Label("The debate failed", "議論は失敗しました")
    cancelled = Label("The debate was cancelled by", "議論は中止されました。中止者")
    unfinished = Label("The debate is unfinished.", "議論は完了していません。")
    resumed = Label("Resumed", "再開")
    asked_again = Label("asked again", "再質問")
    nothing = Label("nothing", "なし")
    calls = Label("Calls", "呼び出し")
    model = Label("model", "モデル")
    total = Label("total", "合計")
    tokens = Label("tokens in / out", "入力/出力トークン")
    cost = Label("cost", "費用")
    unknown = Label("unknown", "不明")
    erased = Label("[erased]", "［消去済み］")
    missing = Label(
        "[missing, and no erasure is recorded: run jury verify]",
        "［本文がなく、消去の記録もありません: jury verify を実行してください］",
    )
    more = Label("… ({count} more characters)", "…（残り{count}文字）")
    empty = Label("(nothing)", "（なし）")

    # Pages
    other_language = Label("日本語", "English")
    title = Label("Jury Judge", "Jury Judge")
    skip = Label("Skip to the content", "本文へ移動")
    navigation = Label("Main", "メイン")
    debates = Label("Debates", "議論")
    runs = Label("Runs", "実行")
    compare = Label("Compare", "比較")
    keys = Label("Keys", "キー操作")
    help_keys = Label("Keyboard", "キーボード操作")
    search = Label("Search", "検索")
    search_hint = Label("What jurors wrote, or an id", "陪審員の言葉、またはID")
    where = Label("Condition", "条件")
    where_hint = Label("tags~refund", "tags~refund")
    groups = Label("Grouped by a field of the cases", "ケースの項目による集計")
    mean_score = Label("Mean score", "平均スコア")
    as_labelled = Label("As labelled", "ラベルとの一致")
    no_value = Label("(none)", "（なし）")
    filters = Label("Search and filters", "検索と絞り込み")
    any = Label("any", "すべて")
    simulated_only = Label("simulated", "模擬")
    models_only = Label("models", "モデル")
    jurors = Label("Jurors", "陪審員")
    show = Label("Show", "表示")
    reset = Label("Reset", "解除")
    agreement_of = Label("{largest} of {seats}", "{largest}/{seats}")
    quorum_met = Label("met", "充足")
    quorum_lost = Label("lost", "不足")
    newest = Label("Newest", "最新")
    older = Label("Older", "以前の議論")
    columns = Label("Columns", "列")
    more_filters = Label("More filters, order, columns", "その他の条件、並び順、列")
    sort = Label("Sort by", "並び順")
    ascending = Label("smallest first", "小さい順")
    descending = Label("largest first", "大きい順")
    first_page = Label("First page", "最初のページ")
    next_page = Label("Next page", "次のページ")
    min_cost = Label("Cost from, USD", "費用の下限（USD）")
    max_cost = Label("Cost to, USD", "費用の上限（USD）")
    add_up = Label("Totals of all matching debates", "該当する議論をすべて集計")
    total_debates = Label(
        "{debates} debates, {completed} completed, {failed} failed, {cancelled} cancelled",
        "議論{debates}件（完了{completed}件、失敗{failed}件、中止{cancelled}件）",
    )
    total_cost = Label("{cost}, unknown in {unknown} debates", "{cost}、{unknown}件の議論で不明")
    total_tokens = Label(
        "{calls} model calls, {input} tokens in, {output} out",
        "モデル呼び出し{calls}件、入力{input}トークン、出力{output}トークン",
    )
    found_in = Label("Found", "該当箇所")
    unsearched = Label(
        "The last {count} events are not indexed for search yet.",
        "最新のイベント{count}件の発言は、まだ検索の対象になっていません。",
    )
    none_found = Label(
        "No matching debates. Remove a filter, or search for other words.",
        "該当する議論はありません。条件を減らすか、別の言葉で検索してください。",
    )
    none_beyond = Label("There are no more debates.", "これより先に議論はありません。")
    none_yet = Label(
        "No debates yet. Run one with: jury demo", "議論はまだありません。次のコマンドで始められます: jury demo"
    )
    shown_range = Label("{count} debates shown.", "{count}件を表示しています。")
    simulated_mark = Label("simulated", "模擬")
    imported_mark = Label("imported", "インポート")
    unreadable_also = Label(
        "Quarantine it with: jury db quarantine {debate} --by WHO --reason WHY",
        "次のコマンドで隔離できます: jury db quarantine {debate} --by WHO --reason WHY",
    )
    intact = Label("Nothing was altered", "改変はありません")
    intact_short = Label("intact", "改変なし")
    altered = Label("The record was altered", "記録が改変されています")
    altered_short = Label("altered", "改変あり")
    counts = Label("{events} events and {texts} texts checked", "イベント{events}件、本文{texts}件を検査済み")
    erased_count = Label("{count} texts with a recorded erasure", "消去の記録がある本文 {count}件")
    sealed = Label(
        "covered by the last seal, over {size} events, which is not checked here (jury verify --all)",
        "最後の封印（イベント{size}件）の範囲内です。封印自体はここでは検査していません（jury verify --all）",
    )
    part_sealed = Label(
        "the last seal, over {size} events, covers {covered} of its {events} events",
        "最後の封印（イベント{size}件）は、この議論のイベント{events}件中{covered}件を含みます",
    )
    not_sealed = Label("the log has no seal yet", "ログはまだ封印されていません")
    sealed_short = Label("covered by a seal", "封印の範囲内")
    check_these = Label("Check these records", "表示中の記録を検査")
    checking = Label("not checked", "未検査")
    about = Label("About this debate", "この議論について")
    positions = Label("Positions", "立場の推移")
    phase_1_short = Label("Phase 1", "Phase 1")
    round = Label("Round {number}", "ラウンド{number}")
    no_position = Label("no position yet", "未発言")
    pending = Label("Nothing yet.", "まだありません。")
    waiting = Label("Waiting for the jurors …", "陪審員の評価を待っています…")
    judge_speaks = Label("The final judge is writing", "最終判定者が回答を書いています")
    reasons = Label("Reasons", "理由")
    position_changed_badge = Label("Position changed", "立場変更")
    tools_asked = Label("Tools", "ツール")
    prompt_and_answer = Label("Prompt and answer", "プロンプトと回答")
    event = Label("Event", "イベント")
    events = Label("Events", "イベント一覧")
    scrubber = Label("Rewind", "巻き戻し")
    scrubber_hint = Label("Show the debate after event", "このイベントの直後の表示")
    event_of = Label("After event {at} of {last}", "イベント{at}/{last}の直後")
    go = Label("Go", "移動")
    first = Label("First event", "最初のイベント")
    previous = Label("Previous event", "前のイベント")
    next = Label("Next event", "次のイベント")
    last = Label("Last event", "最後のイベント")
    follow = Label("Latest", "最新へ")
    past_state = Label(
        "This is an earlier state. Later events are not shown.",
        "その時点での表示です。以降のイベントは表示していません。",
    )
    live = Label("Waiting for updates", "更新を待っています")
    live_lost = Label("Connection lost, reconnecting", "接続が切れました。再接続しています")
    export = Label("Save as one file", "1ファイルで保存")
    whole_text = Label("Whole text ({size})", "全文を表示（{size}）")
    cut = Label("Cut here: ", "以下省略: ")
    opened_at = Label("Opened at", "開始日時")
    model_heading = Label("Model", "モデル")
    outcomes = Label("Outcomes", "結果")
    tokens_heading = Label("Tokens in / out", "入力/出力トークン")
    latency = Label("Time", "所要時間")
    erasures = Label("Texts were erased", "消去された本文があります")
    items = Label("{count} items", "{count}件")
    of_item = Label("of item {number}", "項目{number}の呼び出し")
    of_unknown_item = Label("of a call that the transcript does not have:", "会話記録にない呼び出し:")
    items_left = Label("{count} more items are not shown", "ほか{count}件の項目は表示していません")
    picture = Label("Picture", "画像")
    anchor = Label("Link to event {number}", "イベント{number}へのリンク")
    log_position = Label("Position", "位置")
    recorded_at = Label("Recorded at", "記録日時")
    type = Label("Type", "種類")
    what = Label("What", "内容")
    hash = Label("Hash", "ハッシュ")
    exchange = Label("Exchange", "呼び出し")
    request = Label("Prompt, as sent", "送信したプロンプト")
    raw_answer = Label("Answer, as received", "受信した回答")
    raw_response = Label("Response, as received", "受信した応答")
    sent = Label("Also sent", "併せて送信した内容")
    tool_calls = Label("Tool calls", "ツール呼び出し")
    arguments = Label("Arguments", "引数")
    tool_result = Label("Result", "結果")
    tool_failed = Label("failed", "失敗")
    waited = Label("Waited before", "事前の待機")
    request_id = Label("Request id", "リクエストID")
    raw = Label("raw", "原文")
    not_answered = Label("There is no answer.", "回答はありません。")
    shown_above = Label("The same text as above", "上に表示した本文と同じ")
    run_progress = Label("Progress", "進捗")
    run_total = Label("{ended} of {debates} debates finished", "{debates}件中{ended}件終了")
    run_begun = Label(
        "{ended} finished of {debates} debates begun so far", "これまでに開始した{debates}件中{ended}件終了"
    )
    run_open = Label("open", "進行中")
    run_ahead = Label("not begun", "未開始")
    verdicts = Label("Verdicts", "判定の内訳")
    scores = Label("Scores", "スコアの分布")
    in_numbers = Label("In numbers", "数値で表示")
    flips = Label("Changed positions by round", "ラウンド別の立場変更")
    statements = Label("Own statements", "本人の発言")
    changes = Label("Changed", "立場変更")
    blocked_answers = Label("Blocked", "ブロック")
    stale_positions = Label("No answer", "無回答")
    cost_so_far = Label("Cumulative cost", "費用の累計")
    cost_nothing = Label(
        "No cost: the jurors are simulated, or their models are free.",
        "費用はかかっていません（模擬陪審員、または無料のモデルです）。",
    )
    cost_unknown = Label("unknown in {count} debates", "{count}件の議論で不明")
    of_latest = Label("Of the latest {count} of {total} debates.", "全{total}件のうち最新{count}件の集計です。")
    number = Label("Debates", "議論")
    share = Label("Share", "割合")
    debates_of_run = Label("The debates of this run", "この実行の議論")
    first_at = Label("First opened", "最初の開始")
    last_at = Label("Last event", "最後のイベント")
    no_runs = Label(
        "No run yet. Judge cases with: jury run CASES.jsonl",
        "実行はまだありません。次のコマンドで始められます: jury run CASES.jsonl",
    )
    compare_hint = Label("Two debates, or two runs, by their ids", "2つの議論、または2つの実行のID")
    kind_heading = Label("Kind", "種類")
    compare_a = Label("A", "A")
    compare_b = Label("B", "B")
    same_case = Label("Both judge the same case.", "同じケースを判定しています。")
    other_case = Label("They do not judge the same case.", "同じケースではありません。")
    case_erased = Label(
        "It is unknown whether they judge the same case: a text was erased or cannot be read.",
        "同じケースかどうかは不明です（本文が消去されているか、読み取れません）。",
    )
    differs = Label("differs", "相違")
    panels = Label("Panels", "陪審団")
    panels_same = Label("The panels are the same.", "陪審団は同じです。")
    field = Label("Field", "項目")
    seat = Label("Seat", "陪審員")
    stale = Label("abstained, earlier position stands", "棄権（以前の立場が有効）")
    both_judged = Label(
        "Same verdict in {agreed} of {judged} cases judged by both ({share}); mean score difference: {difference}.",
        "両方で判定された{judged}件のうち{agreed}件（{share}）で判定が一致。スコアの差は平均{difference}点。",
    )
    none_judged = Label("No case has a verdict in both.", "両方で判定されたケースはありません。")
    flipped = Label("Flips", "判定が変わったケース")
    only_in = Label("Only in {side}", "{side}のみ")
    and_more = Label("and {count} more", "ほか{count}件")
    left_statements = Label("{count} earlier statements are not shown", "以前の発言{count}件は表示していません")
    left_matrix = Label(
        "Not shown: {seats} seats, {rounds} earlier rounds", "表示していない陪審員 {seats}名、以前のラウンド {rounds}件"
    )
    not_comparable = Label("Not comparable: a record is damaged", "比較できません: 記録が破損しています")
    panels_unknown = Label(
        "The differences of the panels are unknown: a record cannot be read.",
        "陪審団の違いは不明です（記録を読み取れません）。",
    )
    versions = Label("rules {rules}, prompts {prompts}", "ルール {rules}、プロンプト {prompts}")
    unknown_in_calls = Label("calls unknown: {count}", "不明な呼び出し: {count}件")
    try_of = Label("turn {turn}, attempt {attempt}", "ターン{turn}、試行{attempt}")
    call_id = Label("Id", "ID")
    with_marks = Label("As sent, with the marks of judged text", "送信した形（評価対象の目印付き）")
    shown_plain = Label(
        "Judged texts are indented here; they were sent with marks.",
        "評価対象の本文は字下げで示しています。実際には目印を付けて送信しました。",
    )
    waterfall = Label("Model calls over time", "モデル呼び出しの経過")
    step = Label("Step", "段階")
    turn_and_try = Label("Turn.attempt", "ターン.試行")
    began = Label("Began after", "開始")
    call_failed = Label("failed", "失敗")
    round_begins = Label("a round begins", "ラウンド開始")
    shown_after = Label("(shown after {roles})", "（{roles}の後に表示）")
    changed_since = Label("Changes since {place}", "{place}からの変化")
    same_verdict = Label("Same verdict", "判定は同じ")
    same_words = Label("The texts are the same.", "文面は同じです。")
    statement = Label("Statement", "発言")
    too_long_to_compare = Label("The texts are too long to compare.", "長すぎるため比較できません。")
    around = Label("Debates before and after", "前後の議論")
    debate_before = Label("Before", "前の議論")
    debate_after = Label("After", "次の議論")
    log_in = Label("Log in", "ログイン")
    entry = Label("Token", "トークン")
    problem = Label("This cannot be shown", "表示できません")
    damaged = Label("The record of this debate is damaged", "この議論の記録は破損しています")
    damaged_how = Label(
        "Find what was altered, and where, with:", "何がどこで変わったかは、次のコマンドで調べられます："
    )
    back = Label("Back to the debates", "議論の一覧へ戻る")
    footer = Label("Every word is kept, replayable and verifiable.", "すべての言葉が記録され、再現と検証ができます。")
    exported = Label(
        "Exported from the log with whole texts. Verify the record with: jury verify {debate}",
        "ログから全文を書き出したものです。記録そのものの検査: jury verify {debate}",
    )

    # How far a debate is
    status_evaluating = Label("evaluating", "評価中")
    status_discussing = Label("discussing", "議論中")
    status_judging = Label("judging", "判定中")
    status_completed = Label("completed", "完了")
    status_failed = Label("failed", "失敗")
    status_cancelled = Label("cancelled", "中止")
    status_unreadable = Label("unreadable", "読み取り不可")
    status_unfinished = Label("unfinished", "未完了")

    # What ended a discussion
    end_consensus = Label("consensus", "合意")
    end_deadlock = Label("deadlock", "膠着")
    end_max_rounds = Label("all rounds completed", "全ラウンド終了")
    end_no_discussion = Label("no discussion", "議論なし")
    end_in_a = Label("A ↓ · B →", "A ↓ · B →")

    # Columns of the list of debates
    column_case = Label("Case", "ケース")
    column_status = Label("Status", "状態")
    column_verdict = Label("Verdict", "判定")
    column_score = Label("Score", "スコア")
    column_label = Label("Label", "ラベル")
    column_agreement = Label("Agreement", "一致")
    column_rounds = Label("Rounds", "ラウンド")
    column_quorum = Label("Quorum", "定足数")
    column_integrity = Label("Integrity", "完全性")
    column_method = Label("Method", "判定方式")
    column_models = Label("Models", "モデル")
    column_calls = Label("Model calls", "モデル呼び出し")
    column_input_tokens = Label("Tokens in", "入力トークン")
    column_output_tokens = Label("Tokens out", "出力トークン")
    column_cost = Label("Cost", "費用")
    column_agent_cost = Label("Cost of the agent", "エージェントの費用")
    column_not_shown = Label("Not shown to jurors", "陪審員に示されていないもの")
    column_run = Label("Run", "実行")
    column_opened = Label("Opened", "開始")
    column_updated = Label("Last event", "最後のイベント")
    column_ended = Label("Ended", "終了")

    # Authors of transcript items
    author_user = Label("User", "利用者")
    author_model = Label("Agent", "エージェント")
    author_tool = Label("Tool", "ツール")
    author_environment = Label("Environment", "環境")
    author_developer = Label("Developer of the agent", "エージェントの開発者")

    # Transcript items
    item_system = Label("system message", "システムメッセージ")
    item_user = Label("message", "メッセージ")
    item_assistant = Label("message", "メッセージ")
    item_reasoning = Label("reasoning", "思考")
    item_refusal = Label("refusal", "拒否")
    item_tool_call = Label("tool call", "ツール呼び出し")
    item_tool_result = Label("tool result", "ツールの結果")
    item_attachment = Label("file", "ファイル")
    item_event = Label("event", "出来事")
    item_not_shown = Label("item", "項目")

    # Imported debates in a list
    imported_mark_unsealed = Label("unsealed", "封印なし")
    imported_mark_sealed = Label("sealed, not checked", "封印あり（未確認）")
    imported_mark_vouched = Label("sealed", "封印あり")

    # Keys
    key_next = Label("next statement", "次の発言")
    key_previous = Label("previous statement", "前の発言")
    key_back = Label("one event back", "1イベント戻る")
    key_forward = Label("one event forward", "1イベント進む")
    key_prompt = Label("prompt and answer of the statement", "発言のプロンプトと回答")
    key_search = Label("search", "検索")
    key_before = Label("debate before", "前の議論")
    key_after = Label("debate after", "次の議論")

    # Steps in progress
    pending_asked = Label("asked, no answer yet", "質問済み、回答待ち")
    pending_retried = Label("asked again; call {calls} ended: {outcome}", "再質問中（{calls}回目の結果: {outcome}）")
    pending_answered = Label("has answered", "回答済み")
    pending_queued = Label("has not been asked yet", "順番待ち")

    # Login
    entry_wrong = Label("The token is wrong.", "トークンが違います。")
    entry_too_many = Label(
        "Too many wrong tokens from this address. Wait a minute.",
        "ここから誤ったトークンが多く送られました。1分待ってください。",
    )
    entry_where = Label(
        "jury serve printed the token when it started.", "トークンは jury serve の起動時に表示されます。"
    )


LABELS: dict[Language, Labels] = {"en": Labels("en"), "ja": Labels("ja")}
