"""Items of a case that jurors quote."""

from jury_views.translation import TranslatedLabels, Translation


class CitedItemLabels(TranslatedLabels):
    """Items of a case that jurors quote."""

    quoted_for = Translation("quoted for the agent by", "エージェントに有利として引用")
    quoted_against = Translation("quoted against the agent by", "エージェントに不利として引用")
    quoted_context = Translation("quoted as context by", "背景として引用")
    decisive_for = Translation("Decisive for", "決め手と指定")
    quoted_further_on = Translation("Quoted further on:", "省略部分からの引用:")
