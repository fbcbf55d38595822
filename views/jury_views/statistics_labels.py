"""Labels of statistics, on the page of a run and in notebooks."""

from jury_views.translation import TranslatedLabels, Translation


class StatisticsLabels(TranslatedLabels):
    """Statistics of a run or of ballots: figures, charts, what limits them."""

    stats = Translation("Statistics", "統計")
    stats_basis = Translation(
        "{debates} finished debates of {cases} cases in {clusters} clusters.",
        "終了した議論{debates}件（ケース{cases}件、クラスター{clusters}件）。",
    )
    stats_intervals = Translation(
        "Intervals are 95 %, over clusters of cases; bootstrap of {resamples} resamples, seed {seed}",
        "区間は95%信頼区間（ケースのクラスター単位、ブートストラップ{resamples}回、シード{seed}）",
    )
    stats_scale = Translation(
        "The labels of the scale {name} ({digest}) are counted.", "尺度{name}（{digest}）のラベルを数えています。"
    )
    stats_left_out = Translation("Left out:", "除外したもの:")
    unit_debates = Translation("debates", "議論")
    unit_votes = Translation("votes", "票")
    unit_cases = Translation("cases", "ケース")
    stats_notes = Translation("Of some of the figures above:", "上の一部の値について:")
    stats_agreement = Translation("Agreement of the seats before discussion", "議論前の陪審員間の一致")
    stats_agreement_hint = Translation(
        "Share of debates in which two seats give the same first verdict.",
        "2名の最初の判定が一致した議論の割合です。",
    )
    stats_coefficient = Translation("Coefficient", "係数")
    stats_value = Translation("Value", "値")
    stats_alpha_nominal = Translation("Krippendorff's α, nominal", "クリッペンドルフのα（名義）")
    stats_alpha_ordinal = Translation("Krippendorff's α, ordinal", "クリッペンドルフのα（順序）")
    stats_alpha_scores = Translation("Krippendorff's α of the scores", "クリッペンドルフのα（スコア）")
    stats_ac1 = Translation("Gwet's AC1", "グウェットのAC1")
    stats_ac2 = Translation("Gwet's AC2, ordinal", "グウェットのAC2（順序）")
    stats_fleiss = Translation("Fleiss' κ", "フライスのκ")
    stats_raw = Translation("Raw agreement", "単純一致率")
    stats_kappa = Translation("Cohen's κ", "コーエンのκ")
    stats_weighted_kappa = Translation("Weighted κ", "重み付きκ")
    stats_pairs = Translation("Each two seats", "陪審員の組ごと")
    stats_two_seats = Translation("Two seats", "陪審員の組")
    stats_constant = Translation("{seat} always says {verdict}.", "{seat}は常に{verdict}と判定しています。")
    stats_shares = Translation("Shares of the verdicts", "判定の割合")
    stats_share_of_labels = Translation("Share of the labels", "ラベルの割合")
    stats_against_labels = Translation("Seats against labels", "陪審員とラベルの比較")
    stats_labelled = Translation(
        "{labelled} of {debates} debates have a label.", "議論{debates}件中{labelled}件にラベルがあります。"
    )
    stats_abstaining = Translation(
        "No label is {verdict}: such a verdict is not right.",
        "{verdict}というラベルはないため、その判定は正解になりません。",
    )
    stats_no_labels = Translation("No debate has a label to compare with.", "比較できるラベルのある議論はありません。")
    stats_jury = Translation("Jury (final verdict)", "陪審団（最終判定）")
    stats_panel = Translation("Panel (plurality before discussion)", "陪審団（議論前の相対多数）")
    stats_jury_short = Translation("Jury", "陪審団")
    stats_panel_short = Translation("Panel, plurality", "議論前の多数")
    stats_accuracy = Translation("Accuracy", "正解率")
    stats_false_passes = Translation("False passes", "誤った合格")
    stats_false_fails = Translation("False fails", "誤った不合格")
    stats_effective = Translation("Effective votes", "実効票数")
    stats_effective_more = Translation(
        "More than there are seats: errors are negatively correlated, so the seats correct each other more than "
        "independent ones would.",
        "陪審員数を上回っています。誤りに負の相関があり、独立な場合よりも互いを補っています。",
    )
    stats_levels = Translation("Levels ({lowest} to {highest})", "段階（{lowest}〜{highest}）")
    stats_levels_hint = Translation(
        "Levels as numbers, before discussion; above zero the difference is milder than people.",
        "段階を数値として扱います（議論前）。差が正であれば、人より甘い評価です。",
    )
    stats_level_panel = Translation("Panel (mean of the votes)", "陪審団（票の平均）")
    stats_level_labels = Translation("Labels of people", "人によるラベル")
    stats_level_mean = Translation("Mean level", "平均段階")
    stats_level_difference = Translation("Difference to the label", "ラベルとの差")
    stats_level_distance = Translation("Distance from the label", "ラベルとの差の絶対値")
    stats_level_within_one = Translation("Within one", "差が1以内")
    stats_quotations = Translation("Do quotations stand where the seats say?", "引用は示された箇所にあるか")
    stats_quotations_hint = Translation(
        "{quotations} quotations in {evaluations} evaluations of all rounds that were asked for evidence.",
        "証拠を求められた全ラウンドの評価{evaluations}件の引用{quotations}件。",
    )
    stats_quoted_verified = Translation("Verified", "一致")
    stats_quoted_normalised = Translation("But for spaces or case", "空白・大文字小文字を除き一致")
    stats_quoted_elsewhere = Translation("In another item", "別の項目にある")
    stats_quoted_not_found = Translation("Not found", "見つからない")
    stats_unsupported = Translation("Fails without support", "裏付けのない不合格")
    stats_quoted_by_judge = Translation("Final judge", "最終判定者")
    stats_quoted_by_all = Translation("All", "全体")
    stats_reading = Translation("How much was read", "記録を読んだ割合")
    stats_reading_hint = Translation(
        "Of votes before the discussion: the part of the record that they rest on, in one call or in parts.",
        "議論前の票が、記録のどれだけに基づくかを示します（一度に読んだ場合も、分割して読んだ場合も含みます）。",
    )
    stats_partly_read = Translation("Not on the whole record", "記録の一部だけに基づく票")
    stats_mean_read = Translation("Mean share read", "読んだ割合の平均")
    stats_right_of_whole = Translation("Right with the whole record", "全体に基づく票の正解率")
    stats_right_of_partly_read = Translation("Right with less", "一部だけに基づく票の正解率")
    stats_faults = Translation("Faults against labels", "ラベルと比べた誤りの発見")
    stats_faults_hint = Translation(
        "First verdicts. {faults} debates with a fault: {silent} with a correct outcome (silent), {loud} with a wrong "
        "one, {messages} with a message that the label names; {sound} without a fault.",
        "最初の判定です。誤りのある議論{faults}件（結果は正しい{silent}件、結果も誤り{loud}件、ラベルが箇所を示す{messages}件）、"
        "誤りのない議論{sound}件。",
    )
    stats_found = Translation("Found", "発見")
    stats_silent_found = Translation("Silent ones", "結果が正しい誤り")
    stats_false_alarms = Translation("False alarms", "誤報")
    stats_message_exact = Translation("Message exact", "箇所が一致")
    stats_message_near = Translation("Within one", "前後1つ以内")
    stats_message_of_all = Translation("Found and exact", "発見かつ一致")
    stats_where = Translation("Where it went wrong", "最初に誤りが起きた箇所")
    stats_where_hint = Translation(
        "Of debates in which two seats or more name one before the discussion. An item of the prompt is read as the "
        "message of the source that it comes from.",
        "議論の前に2名以上が箇所を挙げた議論についての値です。プロンプトの項目は、元のメッセージとして数えます。",
    )
    stats_where_messages = Translation("Message", "メッセージ")
    stats_where_items = Translation("Item", "項目")
    stats_where_one = Translation("All name the same", "全員が同じ箇所")
    stats_where_raw = Translation("Pairs that name the same", "同じ箇所を挙げた組")
    stats_where_corrected = Translation("Corrected for chance", "偶然を補正")
    stats_where_right = Translation("Right where a plurality names it", "相対多数が挙げた箇所の正解率")
    stats_where_pairs = Translation("Each two seats", "陪審員の組ごと")
    stats_where_pair_right = Translation("Right then", "そのうち正解")
    stats_reliability = Translation("Are confident verdicts right?", "確信度の高い判定は正しいか")
    stats_reliability_hint = Translation(
        "Share of seats that agree with the plurality (across) and share of right verdicts (up), with 95 % intervals; "
        "number of debates below.",
        "横軸は相対多数に一致する陪審員の割合、縦軸は正しい判定の割合（95%信頼区間付き）、下は議論の件数です。",
    )
    stats_bin = Translation("Confidence", "確信度")
    stats_right = Translation("Right", "正解")
    stats_right_rate = Translation("Share of right verdicts", "正解の割合")
    stats_mean_confidence = Translation("Mean confidence", "平均確信度")
    stats_confidences = Translation("All confidences", "すべての確信度")
    stats_confidence = Translation("Confidence of", "確信度の種類")
    stats_confidence_vote_share = Translation("Vote share", "得票率")
    stats_confidence_stated = Translation("Stated", "本人の申告")
    stats_confidence_score = Translation("Score", "スコア")
    stats_discussion = Translation("Discussion", "議論")
    stats_transitions = Translation("{before} → {after}", "{before} → {after}")
    stats_transitions_hint = Translation(
        "{pairs} positions: a row for each earlier position, a column for each later one.",
        "立場{pairs}件。行は前の立場、列は後の立場です。",
    )
    stats_before_after = Translation("before ↓ · after →", "前 ↓ · 後 →")
    stats_moves = Translation("What the discussion changed", "議論による変化")
    stats_conformity = Translation(
        "Opposed seats that adopt the plurality of their peers", "反対から他の多数に同調した割合"
    )
    stats_right_to_wrong = Translation("Right → wrong", "正解 → 不正解")
    stats_wrong_to_right = Translation("Wrong → right", "不正解 → 正解")
    stats_net_gain = Translation("Net gain", "正味の改善")
    stats_frontier = Translation("What fewer seats or rounds would do", "陪審員やラウンドを減らした場合")
    stats_frontier_hint = Translation(
        "Of {tried} choices of seats and rounds, those that no other beats at their price. The best of many looks "
        "better than it is: confirm it on other cases.",
        "陪審員とラウンドの{tried}通りの組み合わせのうち、同じ費用でそれを上回るものがない組み合わせです。多数から選んだ最良の値は"
        "実際より良く見えるため、別の案件で確認してください。",
    )
    stats_frontier_accuracy = Translation("Right", "正解")
    stats_frontier_agreement = Translation("As the whole panel", "陪審団全体と一致")
    stats_frontier_price_cost = Translation("Dollars a case", "案件あたりの費用（ドル）")
    stats_frontier_price_calls = Translation("Calls a case", "案件あたりの呼び出し数")
    stats_frontier_price_votes = Translation("Votes a case", "案件あたりの票数")
    stats_frontier_number = Translation("No.", "番号")
    stats_frontier_seats = Translation("Seats", "陪審員")
    stats_frontier_rounds = Translation("Rounds at most", "最大ラウンド数")
    stats_frontier_decided = Translation("Decided", "判定あり")
    stats_frontier_cost = Translation("Cost a case", "案件あたりの費用")
    stats_frontier_calls = Translation("Calls a case", "案件あたりの呼び出し")
    stats_frontier_assumed = Translation("By assumption", "仮定による")
    stats_frontier_assumption = Translation(
        "By assumption: the seats are taken to say the same without the others, which the record cannot show.",
        "仮定による: 他の陪審員がいなくても同じ発言をしたとみなしています。記録からは確認できません。",
    )
    stats_frontier_none = Translation(
        "Not computed here: too many debates, several panels, or a record that cannot be used. "
        "See jury value --run {run}.",
        "ここでは計算していません（議論が多すぎる、陪審団が複数ある、または使えない記録がある）。"
        "jury value --run {run} をご覧ください。",
    )
    stats_simulated = Translation(
        "All debates of this run are simulated: their statistics say nothing about models.",
        "この実行の議論はすべて模擬であり、統計はモデルについて何も示しません。",
    )
    stats_show_simulated = Translation("Show them all the same", "それでも表示する")
    stats_extra = Translation(
        "Statistics need packages that are not installed where this server runs. Install them with:",
        "統計に必要なパッケージがサーバーにありません。次のコマンドでインストールできます:",
    )
    stats_no_votes = Translation(
        "No finished debate of this run has votes yet.", "この実行には、投票のある終了した議論がまだありません。"
    )
    stats_busy = Translation(
        "The server is computing other statistics. Try again in a moment.",
        "サーバーはほかの統計を計算しています。しばらくしてからもう一度開いてください。",
    )
    stats_impossible = Translation("There are no statistics of this:", "統計を計算できません:")
