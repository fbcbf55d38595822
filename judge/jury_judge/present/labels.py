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
    imported_vouched = Translation(
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
    loss = Translation("{count} {what}", "{what} {count}件")
    loss_sized = Translation("{count} {what} ({size})", "{what} {count}件（{size}）")
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
    asked_again = Translation("asked again", "再質問")
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
    imported_mark_vouched = Translation("sealed", "封印あり")

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
        "jury serve printed the token when it started.", "トークンは jury serve の起動時に表示されます。"
    )


LABELS: dict[Language, LabelCatalogue] = {"en": LabelCatalogue("en"), "ja": LabelCatalogue("ja")}
