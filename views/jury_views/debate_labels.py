"""Labels of a debate, in the terminal and on pages."""

from typing import get_args

from jury_events.panel import Language
from jury_events.verdict import PASS, REVIEW
from jury_views.terms import TranslatedLabels, Translation


class DebateLabels(TranslatedLabels):
    """A debate: its case, what each juror said, its judgment, its calls."""

    debate = Translation("Debate", "議論")
    case = Translation("Case", "ケース")
    run = Translation("Run", "実行")
    panel = Translation("Panel", "陪審団")
    scale = Translation("Scale", "判定尺度")
    origin = Translation("Forked from", "分岐元")
    stage = Translation("Stage", "段")
    first_stage = Translation("{number} of {of}", "{of}段中の{number}段目")
    later_stage = Translation("{number} of {of}, after {before}", "{of}段中の{number}段目（前の段: {before}）")
    audit_stage = Translation(
        "{number} of {of}: audit of {before}, whose verdict stands",
        "{of}段中の{number}段目: {before}の監査（元の判定が有効）",
    )
    label = Translation("Human label", "人間のラベル")
    simulated = Translation(
        "Simulated jurors: no model was called.", "模擬陪審員による評価です。モデルは呼び出されていません。"
    )
    partly_simulated = Translation(
        "Simulated jurors: not every answer is a model's.",
        "模擬陪審員による評価が含まれます。すべてがモデルの回答ではありません。",
    )
    replaced = Translation(
        "No seat evaluated, and the case was judged again: {successor} counts in its place.",
        "評価した陪審員がなく、ケースは改めて審理されました。代わりに{successor}が数えられます。",
    )
    imported_unsealed = Translation(
        "Imported from another store; no seal shows its origin.",
        "インポートされた議論です。ここで行われたものではなく、出所を示す封印はありません。",
    )
    imported_sealed = Translation(
        "Imported from another store; its seal names the log {log}, whose signature was not checked.",
        "インポートされた議論です。封印はログ{log}を示していますが、署名は確認されていません。",
    )
    imported_verified = Translation(
        "Imported from another store; sealed by the log {log}, whose signature was checked.",
        "インポートされた議論です。ログ{log}の封印があり、署名は確認済みです。",
    )
    later_events_possible = Translation(
        "Completeness is not proven: the store it comes from may have recorded more since, such as a review or its "
        "withdrawal. A cassette exported with --seal-key, and its key, prove it up to the export.",
        "網羅性は証明されていません。出所の保存先には、レビューやその取り消しなど、その後の記録がある可能性があります。"
        "--seal-key付きで書き出されたカセットとその鍵があれば、書き出し時点までの網羅性が証明されます。",
    )
    later_events_as_of = Translation(
        "Complete as of {at}, signed by {key}; what its store recorded afterwards is not here.",
        "{at}の時点のすべてのイベントが含まれます（{key}の署名を確認済み）。それ以後の記録は含まれません。",
    )
    later_events_mark = Translation("completeness not proven", "網羅性は未証明")
    later_events_mark_as_of = Translation("complete as of {at}", "{at}の時点で完全")
    quarantined = Translation("In quarantine: {reason}", "隔離中: {reason}")
    no_model = Translation("simulated", "模擬")
    no_reasons = Translation("a decision model: probabilities, no reasons", "判定モデル：確率のみで、理由は述べない")
    other_model = Translation("{asked} was asked, {answered} answered", "{asked}に依頼し、{answered}が回答")
    status = Translation("Status", "状態")
    question = Translation("Question", "質問")
    policy = Translation("Policy", "ポリシー")
    expected = Translation("Expected behavior", "期待される動作")
    transcript = Translation("Transcript", "会話記録")
    artifact_summary = Translation("Summary of earlier checks", "事前検査の要約")
    response = Translation("Response", "回答")
    error = Translation("Error", "エラー")
    scenario = Translation("Scenario", "シナリオ")
    records = Translation(
        "{gate} security-gate and {card} agent-card records", "Security Gate記録 {gate}件、Agent Card記録 {card}件"
    )
    not_shown = Translation("not shown to jurors", "陪審員に示されていないもの")
    omission = Translation("{count} {what}", "{what} {count}件")
    omission_sized = Translation("{count} {what} ({size})", "{what} {count}件（{size}）")
    tags = Translation("Tags", "タグ")
    cluster = Translation("Cluster", "クラスタ")
    metadata = Translation("Metadata", "メタデータ")
    agent_cost = Translation("Cost of the judged agent", "評価対象エージェントの費用")
    phase_1 = Translation("Phase 1: independent evaluation", "Phase 1: 独立評価")
    phase_2 = Translation("Phase 2: discussion", "Phase 2: ディスカッション")
    phase_3 = Translation("Phase 3: final judgment", "Phase 3: 最終判定")
    no_discussion = Translation("There was no discussion.", "ディスカッションは行われませんでした。")
    confidence = Translation("confidence", "確信度")
    position_changed = Translation("position changed", "立場変更")
    not_seated = Translation(
        "not seated, as of the judged agent's model family: {seats}",
        "評価対象エージェントと同系列のモデルのため除外した席: {seats}",
    )
    reasoning_shown = Translation("the agent's reasoning is shown", "エージェントの思考を表示")
    with_reasoning = Translation("with the reasoning", "思考を見た後")
    reasoning_changed = Translation(
        "the agent's reasoning changed {changes}", "エージェントの思考による変更: {changes}"
    )
    reasoning_changed_nothing = Translation(
        "the agent's reasoning changed no vote", "エージェントの思考による変更はなし"
    )
    changed_by_filter = Translation("changed by a provider's filter only", "フィルターによる変更のみ")
    synthetic = Translation("stands in for a blocked answer", "ブロックされた回答の代替評価")
    synthetic_without_parts = Translation("stands in for a pass that does not count", "算入しない可の回答の代替評価")
    abstained = Translation("abstained", "棄権")
    not_asked = Translation(
        "not asked: {seats}. Whatever they answer, what is decided stays {settled}",
        "未質問: {seats}。どう答えても決定は{settled}のまま",
    )
    read_windows = Translation(
        "read {read} of {total} items in {parts} parts ({percent} %)",
        "{total}項目中{read}項目を{parts}部に分けて読了（{percent} %）",
    )
    read_tools = Translation(
        "read {read} of {total} items by tools ({percent} %)", "{total}項目中{read}項目を道具で読了（{percent} %）"
    )
    read_cited = Translation(
        "read the {read} of {total} items that jurors cite ({percent} %)",
        "{total}項目中、陪審員が挙げた{read}項目を読了（{percent} %）",
    )
    not_read = Translation("not read: items {items}", "未読の項目: {items}")
    findings_left_out = Translation(
        "findings that its last call had no room for: {count}", "最後の呼び出しに入らなかった所見: {count}件"
    )
    answered_on_less = Translation(
        "answered {verdict}; it read less than the panel wants",
        "回答は{verdict}。ただし陪審団が求める割合を読んでいない",
    )
    answered_without_parts = Translation(
        "answered {verdict}, which does not count without these parts",
        "回答は{verdict}。ただしこれらの部分を読んでいないため算入しない",
    )
    parts_not_read = Translation(
        "parts that were refused or never answered usably: {parts}", "拒否されたか有効な回答のなかった部分: {parts}"
    )
    stands = Translation("its earlier evaluation stands", "以前の評価が有効")
    consensus = Translation("Consensus", "合意")
    reached = Translation("reached", "成立")
    not_reached = Translation("not reached", "不成立")
    why = Translation(": {why}", "（{why}）")
    below_threshold = Translation("{percent} % must agree", "{percent}%以上の一致が必要")
    always_discussed = Translation("this panel always discusses", "必ず議論する設定")
    unanimous_rounds_end = Translation(
        "only a unanimous round ends the discussion", "全員一致のラウンドでのみ終了する設定"
    )
    unanimity_goes_on = Translation("unanimity does not end the discussion of this panel", "全員一致でも終了しない設定")
    in_phase_1 = Translation("phase 1", "Phase 1")
    in_round = Translation("round {number}", "ラウンド{number}")
    decided_by = Translation("decided by", "決定方法")
    judge = Translation("Final judge", "最終判定者")
    judge_failed = Translation("the final judge gave no usable answer", "最終判定者から有効な回答が得られませんでした")
    judge_sits = Translation(
        "The final judge is also the model of {seats}: it judged its own statements.",
        "最終判定者は{seats}と同じモデルであり、自身の発言も判定しています。",
    )
    outcome_only = Translation(
        "The votes agree on the outcome, and on no label.",
        "票は結果の区分では一致しましたが、どの判定語でも過半数に達していません。",
    )
    undecided = Translation(
        "Undecided: the votes agree neither on a label nor on an outcome, so it needs review.",
        "決定に至りませんでした。判定語でも結果の区分でも一致しないため、確認が必要です。",
    )
    shortfall = Translation(
        "Too few points for the critical criterion {criterion}: {points}, at least {least} are needed; {cap} at best.",
        "重要な基準{criterion}の得点が足りません。{points}点（{least}点以上が必要）のため、最良でも{cap}です。",
    )
    capped = Translation(
        f"quorum lost: {PASS} became {REVIEW} (capped)",
        f"定足数に満たないため、{PASS}を{REVIEW}としました（上限の適用）",
    )
    capped_by_silence = Translation(
        f"{{silent}} of {{seats}} seats gave no evaluation of their own; with these counted as {REVIEW} the votes do "
        f"not pass: {PASS} became {REVIEW} (capped)",
        f"{{seats}}席のうち{{silent}}席に自身の評価がなく、それらを{REVIEW}として数えると合格に達しないため、{PASS}を{REVIEW}としました（上限の適用）",
    )
    capped_by_parts = Translation(
        f"some votes count half, or have no label, and with what they leave open counted as {REVIEW} the votes do not "
        f"pass: {PASS} became {REVIEW} (capped)",
        f"半分だけ数える票、または判定語のない票があり、その残りを{REVIEW}として数えると合格に達しないため、{PASS}を{REVIEW}としました（上限の適用）",
    )
    capped_scenarios = Translation(
        f"{PASS} became {REVIEW} (capped) in the scenarios {{scenarios}}",
        f"シナリオ{{scenarios}}でも、{PASS}を{REVIEW}としました（上限の適用）",
    )
    judge_alone = Translation(
        "{silent} of {seats} seats gave no evaluation of their own; the final judge's verdict is not capped for that",
        "{seats}席のうち{silent}席に自身の評価がありませんが、最終判定者の判定には上限を適用しません",
    )
    stale_votes = Translation(
        "earlier evaluations of seats that gave no answer later, which count as any other vote: {stale}",
        "票のうち{stale}票は、後のラウンドで回答のなかった席の以前の評価です。他の票と同じように数えます",
    )
    accepted = Translation(
        "accepted: {signal} {probability}, threshold {threshold}",
        "採用: {signal} {probability}、しきい値 {threshold}",
    )
    accepted_unasked = Translation(
        f"accepted: the calibration is about {PASS} alone ({{signal}} {{probability}})",
        f"採用: キャリブレーションの対象は{PASS}のみです（{{signal}} {{probability}}）",
    )
    not_accepted = Translation(
        f"{{verdict}} was not accepted and became {REVIEW}: {{signal}} {{probability}} is below the "
        "threshold {threshold}",
        f"{{verdict}}は採用されず{REVIEW}としました: {{signal}} {{probability}}がしきい値{{threshold}}を下回ります",
    )
    nothing_to_accept = Translation(
        "not accepted: the verdict is {verdict} already", "採用なし: 判定はもともと{verdict}です"
    )
    outcome_not_accepted = Translation(
        f"{{verdict}} was not accepted and became {REVIEW}: this calibration accepts no {{verdict}}",
        f"{{verdict}}は採用されず{REVIEW}としました: このキャリブレーションは{{verdict}}を採用しません",
    )
    signal_share = Translation("share of the votes", "票の割合")
    signal_isotonic = Translation("chance by isotonic regression", "単調回帰による確率")
    signal_weights = Translation("chance by learned weights", "学習した重みによる確率")
    signal_dawid_skene = Translation("posterior chance by Dawid and Skene", "Dawid-Skeneの事後確率")
    signal_votes_step = Translation(
        "agreement on the verdict and the decisive item", "判定と決め手の項目についての一致度"
    )
    signal_probability = Translation("mean probability of the verdict", "判定の平均確率")
    quorum = Translation("quorum {votes} of {needed}", "定足数 {votes}/{needed}")
    votes = Translation("Votes", "投票")
    reason = Translation("Why", "理由")
    no_reason_no_evaluation = Translation("no seat gave an evaluation", "評価した陪審員がいません")
    no_reason_decision_model = Translation(
        "a decision model gives probabilities, no reasons", "判定モデルは確率のみを示し、理由は述べません"
    )
    no_reason_erased = Translation("the text of the reason was erased", "理由の本文は消去されました")
    no_reason_missing = Translation(
        "the text of the reason is missing, and no erasure is recorded: run jury verify",
        "理由の本文がなく、消去の記録もありません: jury verify を実行してください",
    )
    went_wrong_by_judge = Translation(
        "Where it went wrong: item {number} (named by the final judge)", "誤りの箇所: 項目{number}（最終判定者が指摘）"
    )
    went_wrong = Translation(
        "Where it went wrong: item {number} (named by {named} of {seats} seats)",
        "誤りの箇所: 項目{number}（{seats}席中{named}席が指摘）",
    )
    differed = Translation(
        "in phase 1 {differing} of {seats} seats differed", "Phase 1では{seats}席中{differing}席が異なる立場"
    )
    changed_their_mind = Translation("changed position (←): {names}", "立場を変えた陪審員（←）: {names}")
    whole_debate = Translation(
        "all that was said: jury show {id} --full (also --evidence, --prompts, --events)",
        "全文: jury show {id} --full（ほかに --evidence、--prompts、--events）",
    )
    juror = Translation("juror", "陪審員")
    kind = Translation("vote", "種別")
    position = Translation("position", "立場")
    score = Translation("score", "スコア")
    weight = Translation("weight", "重み")
    made_in = Translation("made in", "評価時点")
    result = Translation("Result", "結果")
    rounds = Translation("rounds", "ラウンド数")
    ended_by = Translation("ended by", "終了理由")
    early = Translation("ended early", "早期終了")
    failed = Translation("The debate failed", "議論は失敗しました")
    cancelled = Translation("The debate was cancelled by", "議論は中止されました。中止者")
    unfinished = Translation("The debate is unfinished.", "議論は完了していません。")
    resumed = Translation("Resumed", "再開")
    repeated_steps = Translation("asked again", "再質問")
    nothing = Translation("nothing", "なし")
    calls = Translation("Calls", "呼び出し")
    model = Translation("model", "モデル")
    total = Translation("total", "合計")
    tokens = Translation("tokens in / out", "入力/出力トークン")
    cost = Translation("cost", "費用")
    caches = Translation(
        "prompt caches: {read} tokens read ({share} of those sent), {written} written",
        "プロンプトキャッシュ: 読み取り {read} トークン（送信分の{share}）、書き込み {written} トークン",
    )
    without_caches = Translation(
        "; without them the cost would be {cost} (list prices of {day})",
        "。キャッシュなしの費用: {cost}（{day}時点の定価）",
    )
    stripped = Translation("taken off the answers of {model}: {names}", "{model}の回答から取り除いたもの: {names}")
    unknown = Translation("unknown", "不明")
    erased = Translation("[erased]", "［消去済み］")
    missing = Translation(
        "[missing, and no erasure is recorded: run jury verify]",
        "［本文がなく、消去の記録もありません: jury verify を実行してください］",
    )
    more = Translation("… ({count} more characters)", "…（残り{count}文字）")
    empty = Translation("(nothing)", "（なし）")


LABELS: dict[Language, DebateLabels] = {language: DebateLabels(language) for language in get_args(Language)}


class EvidenceLabels(TranslatedLabels):
    """What jurors quote, what the checks found, which items they call decisive."""

    evidence = Translation("Quotations", "引用")
    evidence_not_asked = Translation(
        "The jurors of this debate were not asked for quotations.", "この議論では、陪審員に引用を求めていません。"
    )
    evidence_none = Translation("No quotation", "引用なし")
    item = Translation("item {number}", "項目{number}")
    item_of_seat = Translation("{seat} on item {number}", "項目{number}についての{seat}の発言")
    no_such_item = Translation("item {number}, which does not exist", "項目{number}（存在しません）")
    result_verified = Translation("verified", "一致")
    result_normalised = Translation("normalised", "表記の差を除き一致")
    result_elsewhere = Translation("elsewhere", "別の場所")
    result_elsewhere_in = Translation("elsewhere, in item {number}", "別の場所: 項目{number}")
    result_not_found = Translation("not found", "該当なし")
    says_for = Translation("for the agent", "エージェントに有利")
    says_against = Translation("against the agent", "エージェントに不利")
    says_context = Translation("context", "背景")
    unsupported = Translation("without support: no quotation stands", "裏付けなし: 一致する引用がありません")
    decisive = Translation("Where it went wrong", "最初に誤りが起きた項目")
    decisive_item = Translation("decisive item", "決め手の項目")
    decisive_named = Translation("{named} of {seats} name it", "{seats}名中{named}名が指定")
    decisive_agree = Translation("All who name an item name the same one.", "指定された項目は一致しています。")
    decisive_differ = Translation("The jurors name different items.", "指定された項目が陪審員により異なります。")
    decisive_none = Translation("No item was named.", "指定された項目はありません。")
    decisive_unnamed = Translation("not a pass, and no item named: {seats}", "合格以外で項目の指定なし: {seats}")
    label_names = Translation("Named by the label", "ラベルによる指定")
    label_message = Translation("message {number}, counted from 0", "メッセージ{number}（0始まり）")
    label_agent = Translation("at fault: {agent}", "誤りの主体: {agent}")
    label_no_item = Translation("No item of the case is of this message.", "このメッセージに対応する項目はありません。")
    label_more_items = Translation("and {count} more", "ほか{count}件")
    unreadable = Translation("[cannot be read: run jury verify]", "［読み取れません: jury verify を実行してください］")


EVIDENCE_LABELS: dict[Language, EvidenceLabels] = {
    language: EvidenceLabels(language) for language in get_args(Language)
}
