"""The gate between two runs, and their paired table."""

from jury_views.translation import TranslatedLabels, Translation


class GateLabels(TranslatedLabels):
    """The gate between two runs, and their paired table."""

    gate = Translation("Gate: is B worse than A?", "ゲート: BはAより悪いか")
    gate_pass = Translation("Pass: the harm is within the margin.", "合格: 悪化は許容範囲内です。")
    gate_fail = Translation(
        "Fail: there is harm, and it may be larger than the margin.",
        "不合格: 悪化があり、許容範囲を超える可能性があります。",
    )
    gate_inconclusive = Translation(
        "Inconclusive: the cases do not decide it.", "判断不能: このケース数では決まりません。"
    )
    gate_metric = Translation("Metric", "指標")
    gate_accuracy = Translation("Accuracy", "正解率")
    gate_false_pass = Translation("False passes", "誤った合格")
    gate_false_fail = Translation("False fails", "誤った不合格")
    gate_share = Translation("Share of {verdict}", "{verdict}の割合")
    gate_worse_more = Translation("More is worse", "増えると悪化")
    gate_worse_less = Translation("Less is worse", "減ると悪化")
    gate_worse_either = Translation(
        "Without labels and between two panels, a change in either direction counts.",
        "ラベルがなく、陪審団が異なるため、どちらの方向の変化も悪化とみなします。",
    )
    gate_harm = Translation("Harm", "悪化")
    gate_no_interval = Translation("No interval: fewer than 10 clusters.", "区間なし: クラスターが10件未満です。")
    gate_margin = Translation("Margin", "許容範囲")
    gate_counted = Translation("Cases that count", "対象のケース")
    gate_smallest = Translation("Could have found (80 % power)", "検出できた最小の変化（検出力80%）")
    gate_without_evaluation = Translation("Pairs without an evaluation", "評価のない組")
    gate_for_every_value = Translation(
        "decided only if it is for whatever these could be", "これらの値が何であっても同じ場合だけ判断します"
    )
    gate_needed = Translation("It would take", "判断に必要なケース数")
    gate_flips = Translation("Verdicts that change from A to B", "AとBで変わる判定")
    gate_flips_between_repeats = Translation("Verdicts that change between repeats of A", "Aの繰り返しの間で変わる判定")
    gate_counts_outcomes = Translation(
        "The gate counts what the labels come to.", "ゲートは、判定語に対応する結果の区分を数えます。"
    )
    gate_how = Translation("With another metric, margin or labels:", "別の指標・許容範囲・ラベルを使う場合:")
    paired = Translation("Paired: the same cases in A and B", "対応のある比較: AとBの同じケース")
    paired_basis = Translation(
        "{pairs} pairs in {clusters} clusters; only in A: {a}, only in B: {b}; without a verdict: {none}.",
        "{pairs}組（クラスター{clusters}件）。Aのみ{a}件、Bのみ{b}件、判定なし{none}組。",
    )
    paired_flips = Translation(
        "{unchanged} unchanged; {last} towards {worst}, {first} towards {best}.",
        "変化なし{unchanged}件、{worst}の方向へ{last}件、{best}の方向へ{first}件。",
    )
    paired_test = Translation("Test", "検定")
    paired_statistic = Translation("χ² (degrees)", "χ²（自由度）")
    paired_p = Translation("p", "p値")
    paired_p_holm = Translation("p, Holm", "p値（Holm補正）")
    paired_homogeneity = Translation("Same shares (Stuart-Maxwell)", "割合が同じか（スチュアート・マクスウェル）")
    paired_symmetry = Translation("Same flips in both directions (Bowker)", "変化が対称か（ボウカー）")
    paired_figure = Translation("Figure", "指標")
    paired_change = Translation("B − A", "B − A")
    paired_share = Translation("Share of", "割合:")
    paired_right = Translation(
        "{pairs} pairs with a label: {worse} right only in A, {better} right only in B.",
        "ラベルのある{pairs}組のうち、Aだけ正解が{worse}組、Bだけ正解が{better}組。",
    )
    paired_tests = Translation("Holm-corrected for {tests} tests.", "{tests}個の検定に対するHolm補正済み。")
