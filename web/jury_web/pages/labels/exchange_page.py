"""The page of a model call."""

from jury_views.translation import TranslatedLabels, Translation


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
