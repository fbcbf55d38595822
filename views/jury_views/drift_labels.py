"""The words of drift checks, in both languages."""

from jury_views.translation import TranslatedLabels, Translation


class DriftLabels(TranslatedLabels):
    """Drift checks: baselines, what a check came to, how a judge changed."""

    drift = Translation("Drift checks", "ドリフト検査")
    drift_none_there = Translation(
        "No baseline is recorded. Make one from labelled cases:",
        "ベースラインはまだありません。ラベル付きケースから作成します:",
    )
    drift_verdict_none = Translation("none", "ドリフトなし")
    drift_verdict_judge = Translation("judge", "審査側の変化")
    drift_verdict_agent_or_traffic = Translation(
        "agent or traffic, as far as the anchors show", "アンカーから分かる限り、エージェントまたは入力の変化"
    )
    drift_verdict_not_decided = Translation("not decided yet", "まだ判断できません")
    drift_kind_milder = Translation("milder", "甘くなった")
    drift_kind_stricter = Translation("stricter", "厳しくなった")
    drift_kind_farther = Translation("farther from the labels", "ラベルから遠ざかった")
    drift_kind_nearer = Translation("nearer to the labels", "ラベルに近づいた")
    drift_kind_balanced = Translation("changed both ways", "両方向に変化した")
    drift_kind_silent = Translation("more often without a verdict", "判定なしが増えた")
    drift_kind_answering = Translation("less often without a verdict", "判定なしが減った")
    drift_coin_direction = Translation("stricter", "厳しくなった")
    drift_coin_distance = Translation("farther from the label", "ラベルから遠ざかった")
    drift_coin_odd = Translation("the odd one of three", "3回のうち今回だけ異なる")
    drift_coin_silence = Translation("now without a verdict", "今回は判定なし")
    drift_name_jury = Translation("jury", "陪審団")
    drift_name_stream = Translation("stream", "ストリーム")
    drift_seat = Translation("seat {name}", "席 {name}")
    drift_final_judge = Translation("final judge", "最終判定者")
    drift_since = Translation("{kinds} since about check {number}", "検査{number}ごろから{kinds}")
    drift_changed_model = Translation(
        "{seat}: another model answered: {now}; in the baseline {before}",
        "{seat}: 別のモデルが応答: {now}（ベースラインでは{before}）",
    )
    drift_changed_fingerprint = Translation(
        "{seat}: another fingerprint: {now}; in the baseline {before}",
        "{seat}: 別のフィンガープリント: {now}（ベースラインでは{before}）",
    )
    drift_baseline = Translation("Baseline", "ベースライン")
    drift_anchors = Translation("Anchors", "アンカー")
    drift_draws = Translation("Draws of each", "各アンカーの回数")
    drift_left = Translation("Checks left", "残りの検査回数")
    drift_last = Translation("Last check", "最後の検査")
    drift_check = Translation("Check", "検査")
    drift_checks = Translation("Checks", "検査一覧")
    drift_ended = Translation("Ended", "終了")
    drift_pairs = Translation("Pairs", "組")
    drift_found = Translation("Found", "結果")
    drift_e = Translation("Evidence (E)", "証拠（E値）")
    drift_alarm_from = Translation("Alarm from", "警報の値")
    drift_watched = Translation("Watched", "監視対象")
    drift_discordant = Translation("Differ", "不一致")
    drift_open = Translation("goes on", "実行中")
    drift_abandoned = Translation("abandoned: debates were cancelled", "中止: 議論が取り消されました")
    drift_curve = Translation("Evidence by check", "検査ごとの証拠")
    drift_curve_hint = Translation(
        "E of the jury after each check, on a logarithmic scale. The dashed line is the alarm: without drift E ever "
        "reaches it with a chance of at most {alpha}.",
        "各検査後の陪審団のE値（対数目盛）。破線は警報の値で、ドリフトがなければ、E値が一度でもこれに達する確率は{alpha}以下です。",
    )
    drift_anchors_changed = Translation("Anchors with another verdict than usual", "普段と判定が異なるアンカー")
    drift_usual = Translation("Usual", "普段")
    drift_now = Translation("Now", "今回")
    drift_never = Translation("never checked", "未検査")
    drift_ago_days = Translation("{days} days ago", "{days}日前")
    drift_ago_day = Translation("1 day ago", "1日前")
    drift_ago_today = Translation("today", "今日")
    drift_last_line = Translation("last drift check {ago}: {found}", "最後のドリフト検査 {ago}: {found}")
    drift_no_check = Translation("no drift check", "ドリフト検査なし")
    drift_calibrated_line = Translation("calibrated {ago}", "校正 {ago}")
