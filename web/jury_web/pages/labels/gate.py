"""The gate between two runs, and their paired table."""

from jury_views.translation import TranslatedLabels, Translation


class GateLabels(TranslatedLabels):
    """The gate between two runs, and their paired table."""

    gate = Translation("Gate: is B worse than A?", "ゲート: BはAより悪いか")
    gate_counts_outcomes = Translation(
        "The gate counts what the labels come to.", "ゲートは、判定語に対応する結果の区分を数えます。"
    )
    gate_how = Translation("With another metric, margin or labels:", "別の指標・許容範囲・ラベルを使う場合:")
    paired = Translation("Paired: the same cases in A and B", "対応のある比較: AとBの同じケース")
