"""Items of a case that jurors quote."""

from jury_views.translation import TranslatedLabels, Translation


class CitedItemLabels(TranslatedLabels):
    """Items of a case that jurors quote."""

    cited_by = Translation("Quoted by", "引用した陪審員")
    decisive_for = Translation("Decisive for", "決め手と指定")
    quoted_further_on = Translation("Quoted further on:", "省略部分からの引用:")
    item_anchor = Translation("Link to item {number}", "項目{number}へのリンク")
