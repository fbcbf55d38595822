"""The transcript of a case."""

from jury_views.translation import TranslatedLabels, Translation


class TranscriptLabels(TranslatedLabels):
    """The transcript of a case."""

    items = Translation("{count} items", "{count}件")
    of_item = Translation("of item {number}", "項目{number}の呼び出し")
    of_unknown_item = Translation("of a call that the transcript does not have:", "会話記録にない呼び出し:")
    of_unclear_item = Translation(
        "of one of several calls; the record does not say which", "複数の呼び出しのいずれか(どれかは記録からは不明)"
    )
    items_left = Translation("{count} more items are not shown", "ほか{count}件の項目は表示していません")
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
