"""The page of the events of a debate."""

from jury_views.translation import TranslatedLabels, Translation


class EventsLabels(TranslatedLabels):
    """The page of the events of a debate."""

    log_position = Translation("Position", "位置")
    recorded_at = Translation("Recorded at", "記録日時")
    type = Translation("Type", "種類")
    what = Translation("What", "内容")
    hash = Translation("Hash", "ハッシュ")
