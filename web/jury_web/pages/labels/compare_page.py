"""The page that compares two debates or two runs."""

from jury_views.translation import TranslatedLabels, Translation


class CompareLabels(TranslatedLabels):
    """The page that compares two debates or two runs."""

    compare_hint = Translation("Two debates, or two runs, by their ids", "2つの議論、または2つの実行のID")
    kind_heading = Translation("Kind", "種類")
    compare_a = Translation("A", "A")
    compare_b = Translation("B", "B")
    same_case = Translation("Both judge the same case.", "同じケースを判定しています。")
    other_case = Translation("They do not judge the same case.", "同じケースではありません。")
    case_erased = Translation(
        "It is unknown whether they judge the same case: a text was erased or cannot be read.",
        "同じケースかどうかは不明です（本文が消去されているか、読み取れません）。",
    )
    differs = Translation("differs", "相違")
    panels = Translation("Panels", "陪審団")
    panels_same = Translation("The panels are the same.", "陪審団は同じです。")
    field = Translation("Field", "項目")
    seat = Translation("Seat", "陪審員")
    stale = Translation("abstained, earlier position stands", "棄権（以前の立場が有効）")
    both_judged = Translation(
        "Same verdict in {agreed} of {judged} cases judged by both ({share}); mean score difference: {difference}.",
        "両方で判定された{judged}件のうち{agreed}件（{share}）で判定が一致。スコアの差は平均{difference}点。",
    )
    both_judged_labels = Translation(
        "Same label in {agreed} of {judged} cases judged by both ({share}); mean score difference: {difference}.",
        "両方で判定された{judged}件のうち{agreed}件（{share}）で判定語が一致。スコアの差は平均{difference}点。",
    )
    compared_without_evaluation = Translation(
        "Without an evaluation in A or B: {count}, where neither agreement nor scores count.",
        "AまたはBに評価がないケース: {count}件（一致とスコアの計算から除外）。",
    )
    count_heading = Translation("Count", "数える対象")
    count_labels = Translation("labels", "判定語")
    count_outcomes = Translation("outcomes", "結果の区分")
    counted_labels = Translation(
        "Labels of the scale {scale} ({digest}) are counted.", "判定尺度{scale}（{digest}）の判定語を数えています。"
    )
    counted_outcomes = Translation(
        "What the labels of the scale {scale} ({digest}) come to is counted.",
        "判定尺度{scale}（{digest}）の判定語に対応する結果の区分を数えています。",
    )
    scales_differ = Translation(
        "The runs are judged in different scales: their outcomes are counted, and no label.",
        "2つの実行の判定尺度が異なるため、判定語ではなく結果の区分を数えています。",
    )
    none_judged = Translation("No case has a verdict in both.", "両方で判定されたケースはありません。")
    flipped = Translation("Flips", "判定が変わったケース")
    only_in = Translation("Only in {side}", "{side}のみ")
    and_more = Translation("and {count} more", "ほか{count}件")
    not_comparable = Translation("Not comparable: a record is damaged", "比較できません: 記録が破損しています")
    panels_unknown = Translation(
        "The differences of the panels are unknown: a record cannot be read.",
        "陪審団の違いは不明です（記録を読み取れません）。",
    )
    end_consensus = Translation("consensus", "合意")
    end_deadlock = Translation("deadlock", "膠着")
    end_max_rounds = Translation("all rounds completed", "全ラウンド終了")
    end_no_discussion = Translation("no discussion", "議論なし")
    end_in_a = Translation("A ↓ · B →", "A ↓ · B →")
