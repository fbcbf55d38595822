"""Labels of the pages of one debate: the debate, its transcript, items, events and exchanges."""

from jury_views.terms import TranslatedLabels, Translation


class DebatePageLabels(TranslatedLabels):
    """The page of a debate."""

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
    opened_at = Translation("Opened at", "登録日時")
    begun_at = Translation("Begun at", "開始日時")
    model_heading = Translation("Model", "モデル")
    outcomes = Translation("Outcomes", "結果")
    tokens_heading = Translation("Tokens in / out", "入力/出力トークン")
    cache_heading = Translation("Tokens read from / written to the cache", "キャッシュから読み取り/書き込みトークン")
    cache_miss = Translation("Why nothing was read from the cache", "キャッシュから読み取れなかった理由")
    caches_used = Translation(
        "caches: {read} read ({share}), {written} written", "キャッシュ: 読み取り {read}（{share}）、書き込み {written}"
    )
    cost_without_caches = Translation("without caches {cost}", "キャッシュなし {cost}")
    service_tier = Translation("Service tier", "サービスティア")
    latency = Translation("Time", "所要時間")
    erasures = Translation("Texts were erased", "消去された本文があります")
    anchor = Translation("Link to event {number}", "イベント{number}へのリンク")
    left_statements = Translation("{count} earlier statements are not shown", "以前の発言{count}件は表示していません")
    left_matrix = Translation(
        "Not shown: {seats} seats, {rounds} earlier rounds", "表示していない陪審員 {seats}名、以前のラウンド {rounds}件"
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
    scale_heading = Translation("Scale and criteria", "判定尺度と基準")
    scale_in_doubt = Translation("the one to choose in doubt", "迷うときに選ぶ判定語")
    scale_criteria = Translation("Criteria", "基準")
    scale_critical = Translation("critical", "重要")
    scale_cap = Translation("with fewer than {least} points {cap} at best", "{least}点未満なら最良でも{cap}")
    scale_no_points = Translation(
        "Jurors give no points: the score is that of the label.", "陪審員は採点しません。スコアは判定語から決まります。"
    )
    scale_mean = Translation("mean level {mean}", "レベルの平均 {mean}")
    pending_asked = Translation("asked, no answer yet", "質問済み、回答待ち")
    pending_retried = Translation(
        "asked again; call {calls} ended: {outcome}", "再質問中（{calls}回目の結果: {outcome}）"
    )
    pending_answered = Translation("has answered", "回答済み")
    pending_queued = Translation("has not been asked yet", "順番待ち")


class TranscriptLabels(TranslatedLabels):
    """The transcript of a case."""

    items = Translation("{count} items", "{count}件")
    of_item = Translation("of item {number}", "項目{number}の呼び出し")
    of_unknown_item = Translation("of a call that the transcript does not have:", "会話記録にない呼び出し:")
    of_unclear_item = Translation(
        "of one of several calls; the record does not say which", "複数の呼び出しのいずれか(どれかは記録からは不明)"
    )
    items_folded = Translation("Items {first}–{last}", "項目{first}〜{last}")
    items_page = Translation("Open these items on a page", "これらの項目のページを開く")
    items_before = Translation("Items before", "前の項目")
    items_after = Translation("Items after", "次の項目")
    items_search = Translation("Search the transcript", "会話記録を検索")
    items_go = Translation("Go to item", "項目へ移動")
    items_with = Translation("Items with “{words}”", "「{words}」を含む項目")
    items_without = Translation("No item from here on has this text.", "ここから先に該当する項目はありません。")
    items_further = Translation("More items with this text", "該当する項目の続き")
    picture = Translation("Picture", "画像")
    author_user = Translation("User", "利用者")
    author_model = Translation("Agent", "エージェント")
    author_tool = Translation("Tool", "ツール")
    author_environment = Translation("Environment", "環境")
    author_developer = Translation("Developer of the agent", "エージェントの開発者")
    author_unknown = Translation("Unknown role", "不明な役割")
    item_system = Translation("system message", "システムメッセージ")
    item_user = Translation("message", "メッセージ")
    item_assistant = Translation("message", "メッセージ")
    item_speaker = Translation("message", "メッセージ")
    item_reasoning = Translation("reasoning", "思考")
    item_refusal = Translation("refusal", "拒否")
    item_tool_call = Translation("tool call", "ツール呼び出し")
    item_tool_result = Translation("tool result", "ツールの結果")
    item_attachment = Translation("file", "ファイル")
    item_event = Translation("event", "出来事")
    item_not_shown = Translation("item", "項目")


class CitedItemLabels(TranslatedLabels):
    """Items of a case that jurors quote."""

    quoted_for = Translation("quoted for the agent by", "エージェントに有利として引用")
    quoted_against = Translation("quoted against the agent by", "エージェントに不利として引用")
    quoted_context = Translation("quoted as context by", "背景として引用")
    decisive_for = Translation("Decisive for", "決め手と指定")
    quoted_further_on = Translation("Quoted further on:", "省略部分からの引用:")


class ItemStripLabels(TranslatedLabels):
    """The strip of the items of a case."""

    strip = Translation("Who read and quoted which items", "陪審員ごとの読んだ項目と引用した項目")
    strip_each = Translation("{count} items a column", "1列は{count}項目")
    strip_items = Translation("items {first}–{last}", "項目{first}〜{last}")
    strip_hollow = Translation("not in the item that is named", "指定の項目に該当なし")
    strip_unread = Translation("not read", "未読")
    strip_read = Translation("read", "読んだ項目")
    strip_all_read = Translation("all", "すべて")
    strip_stand = Translation("in the item", "該当あり")
    strip_quoted = Translation("quoted items", "引用した項目")


class EventsLabels(TranslatedLabels):
    """The page of the events of a debate."""

    log_position = Translation("Position", "位置")
    recorded_at = Translation("Recorded at", "記録日時")
    type = Translation("Type", "種類")
    what = Translation("What", "内容")
    hash = Translation("Hash", "ハッシュ")


class ExchangeLabels(TranslatedLabels):
    """The page of a model call."""

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
    versions = Translation("rules {rules}, prompts {prompts}", "ルール {rules}、プロンプト {prompts}")
    unknown_in_calls = Translation("calls unknown: {count}", "不明な呼び出し: {count}件")
    window_of = Translation("window {window}", "ウィンドウ{window}")
    try_of = Translation("turn {turn}, attempt {attempt}", "ターン{turn}、試行{attempt}")
    call_id = Translation("Id", "ID")
    with_marks = Translation("As sent, with the marks of judged text", "送信した形（評価対象の目印付き）")
    shown_plain = Translation(
        "Judged texts are indented here; they were sent with marks.",
        "評価対象の本文は字下げで示しています。実際には目印を付けて送信しました。",
    )
