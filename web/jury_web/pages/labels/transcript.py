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
    items_folded = Translation("Items {first}–{last}", "項目{first}〜{last}")
    items_page = Translation("Open these items on a page", "これらの項目のページを開く")
    items_before = Translation("Items before", "前の項目")
    items_after = Translation("Items after", "次の項目")
    items_search = Translation("Search the transcript", "会話記録を検索")
    items_go = Translation("Go to item", "項目へ移動")
    items_with = Translation("Items with “{words}”", "「{words}」を含む項目")
    items_without = Translation("No item from here on has this text.", "ここから先に該当する項目はありません。")
    items_further = Translation("More items with this text", "該当する項目の続き")
    back_to_case = Translation("The whole case", "事例全体")
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
