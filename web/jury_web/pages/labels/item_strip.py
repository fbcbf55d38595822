"""The strip of the items of a case on the page of a debate."""

from jury_views.translation import TranslatedLabels, Translation


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
