"""Labels of quotations and decisive items, in the terminal and on pages."""

from typing import get_args

from jury_events.panel import Language
from jury_views.translation import TranslatedLabels, Translation


class EvidenceLabels(TranslatedLabels):
    """What jurors quote, what the checks found, which items they call decisive."""

    evidence = Translation("Quotations", "引用")
    evidence_not_asked = Translation(
        "The jurors of this debate were not asked for quotations.", "この議論では、陪審員に引用を求めていません。"
    )
    evidence_none = Translation("No quotation", "引用なし")
    item = Translation("item {number}", "項目{number}")
    item_of_seat = Translation("{seat} on item {number}", "項目{number}についての{seat}の発言")
    no_such_item = Translation("item {number}, which does not exist", "項目{number}（存在しません）")
    result_verified = Translation("verified", "一致")
    result_normalised = Translation("normalised", "表記の差を除き一致")
    result_elsewhere = Translation("elsewhere", "別の場所")
    result_elsewhere_in = Translation("elsewhere, in item {number}", "別の場所: 項目{number}")
    result_not_found = Translation("not found", "該当なし")
    says_for = Translation("for the agent", "エージェントに有利")
    says_against = Translation("against the agent", "エージェントに不利")
    says_context = Translation("context", "背景")
    unsupported = Translation("without support: no quotation stands", "裏付けなし: 一致する引用がありません")
    decisive = Translation("Where it went wrong", "最初に誤りが起きた項目")
    decisive_item = Translation("decisive item", "決め手の項目")
    decisive_named = Translation("{named} of {seats} name it", "{seats}名中{named}名が指定")
    decisive_agree = Translation("All who name an item name the same one.", "指定された項目は一致しています。")
    decisive_differ = Translation("The jurors name different items.", "指定された項目が陪審員により異なります。")
    decisive_none = Translation("No item was named.", "指定された項目はありません。")
    decisive_unnamed = Translation("not a pass, and no item named: {seats}", "合格以外で項目の指定なし: {seats}")
    label_names = Translation("Named by the label", "ラベルによる指定")
    label_message = Translation("message {number}, counted from 0", "メッセージ{number}（0始まり）")
    label_agent = Translation("at fault: {agent}", "誤りの主体: {agent}")
    label_no_item = Translation("No item of the case is of this message.", "このメッセージに対応する項目はありません。")
    label_more_items = Translation("and {count} more", "ほか{count}件")
    unreadable = Translation("[cannot be read: run jury verify]", "［読み取れません: jury verify を実行してください］")


EVIDENCE_LABELS: dict[Language, EvidenceLabels] = {
    language: EvidenceLabels(language) for language in get_args(Language)
}
