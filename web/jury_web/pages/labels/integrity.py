"""Whether a record is intact and sealed, and where it came from."""

from jury_views.translation import TranslatedLabels, Translation


class IntegrityLabels(TranslatedLabels):
    """Whether a record is intact and sealed, and where it came from."""

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
    imported_mark_unsealed = Translation("unsealed", "封印なし")
    imported_mark_sealed = Translation("sealed, not checked", "封印あり（未確認）")
    imported_mark_verified = Translation("sealed", "封印あり")
