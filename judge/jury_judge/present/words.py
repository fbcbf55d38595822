"""The labels of a shown debate, in English and Japanese."""

from typing import NamedTuple

from jury_events.panel import Language


class Words(NamedTuple):
    """Headings and labels. Ids, verdicts and models are shown as they are stored, in any language; see `terms`."""

    language: Language
    debate: str
    case: str
    run: str
    panel: str
    origin: str
    label: str
    simulated: str
    partly_simulated: str
    imported_unsealed: str
    imported_sealed: str
    imported_vouched: str
    quarantined: str
    no_model: str
    other_model: str
    status: str
    question: str
    policy: str
    expected: str
    transcript: str
    artifact_summary: str
    response: str
    error: str
    scenario: str
    records: str
    not_shown: str
    loss: str
    loss_sized: str
    tags: str
    cluster: str
    metadata: str
    agent_cost: str
    phase_1: str
    phase_2: str
    phase_3: str
    no_discussion: str
    confidence: str
    position_changed: str
    changed_by_filter: str
    synthetic: str
    abstained: str
    stands: str
    consensus: str
    reached: str
    not_reached: str
    why: str
    below_threshold: str
    threshold_never_met: str
    threshold_of_unanimity: str
    unanimity_goes_on: str
    in_phase_1: str
    in_round: str
    decided_by: str
    judge: str
    judge_failed: str
    judge_sits: str
    capped: str
    quorum: str
    votes: str
    juror: str
    kind: str
    position: str
    score: str
    weight: str
    made_in: str
    result: str
    rounds: str
    ended_by: str
    early: str
    failed: str
    cancelled: str
    unfinished: str
    resumed: str
    asked_again: str
    nothing: str
    calls: str
    model: str
    total: str
    tokens: str
    cost: str
    unknown: str
    erased: str
    missing: str
    more: str
    empty: str


_EN = Words(
    language="en",
    debate="Debate",
    case="Case",
    run="Run",
    panel="Panel",
    origin="Forked from",
    label="Human label",
    simulated="Simulated jurors: no model was called.",
    partly_simulated="Simulated jurors: not every answer is a model's.",
    imported_unsealed="Imported, not held here; no seal shows where it comes from.",
    imported_sealed="Imported, not held here; its seal names the log {log}, whose signature was not checked.",
    imported_vouched="Imported, not held here; sealed by the log {log}, whose signature was checked.",
    quarantined="In quarantine: {reason}",
    no_model="simulated",
    other_model="{asked} was asked, {answered} answered",
    status="Status",
    question="Question",
    policy="Policy",
    expected="Expected behavior",
    transcript="Transcript",
    artifact_summary="Summary of earlier checks",
    response="Response",
    error="Error",
    scenario="Scenario",
    records="{gate} security-gate and {card} agent-card records",
    not_shown="not shown to jurors",
    loss="{count} {what}",
    loss_sized="{count} {what} ({size})",
    tags="Tags",
    cluster="Cluster",
    metadata="Metadata",
    agent_cost="Cost of the judged agent",
    phase_1="Phase 1: independent evaluation",
    phase_2="Phase 2: discussion",
    phase_3="Phase 3: final judgment",
    no_discussion="There was no discussion.",
    confidence="confidence",
    position_changed="position changed",
    changed_by_filter="changed by a provider's filter only",
    synthetic="stands in for a blocked answer",
    abstained="abstained",
    stands="its earlier evaluation stands",
    consensus="Consensus",
    reached="reached",
    not_reached="not reached",
    why=": {why}",
    below_threshold="the threshold is {threshold}",
    threshold_never_met="the threshold of {threshold} is never met, so the discussion always takes place",
    threshold_of_unanimity="with a threshold of {threshold} only a unanimous round ends the discussion",
    unanimity_goes_on="the threshold is {threshold}, and unanimity does not end the discussion",
    in_phase_1="phase 1",
    in_round="round {number}",
    decided_by="decided by",
    judge="Final judge",
    judge_sits="The final judge is also the model of {seats}: it judged its own statements.",
    judge_failed="the final judge gave no usable answer",
    capped="quorum lost: safe_pass became needs_review",
    quorum="quorum {held} of {needed}",
    votes="Votes",
    juror="juror",
    kind="vote",
    position="position",
    score="score",
    weight="weight",
    made_in="made in",
    result="Result",
    rounds="rounds",
    ended_by="ended by",
    early="ended early",
    failed="The debate failed",
    cancelled="The debate was cancelled by",
    unfinished="The debate is unfinished.",
    resumed="Resumed",
    asked_again="asked again",
    nothing="nothing",
    calls="Calls",
    model="model",
    total="total",
    tokens="tokens in / out",
    cost="cost",
    unknown="unknown",
    erased="[erased]",
    missing="[missing, and no erasure is recorded: run jury verify]",
    more="… ({count} more characters)",
    empty="(nothing)",
)

_JA = Words(
    language="ja",
    debate="議論",
    case="ケース",
    run="実行",
    panel="陪審団",
    origin="分岐元",
    label="人間のラベル",
    simulated="模擬陪審員による評価です。モデルは呼び出されていません。",
    partly_simulated="模擬陪審員による評価が含まれます。すべてがモデルの回答ではありません。",
    imported_unsealed="インポートされた議論です。ここで行われたものではなく、出所を示す封印はありません。",
    imported_sealed="インポートされた議論です。封印はログ{log}を示していますが、署名は確認されていません。",
    imported_vouched="インポートされた議論です。ログ{log}の封印があり、署名は確認済みです。",
    quarantined="隔離中: {reason}",
    no_model="模擬",
    other_model="{asked}に依頼し、{answered}が回答",
    status="状態",
    question="質問",
    policy="ポリシー",
    expected="期待される動作",
    transcript="会話記録",
    artifact_summary="事前検査の要約",
    response="回答",
    error="エラー",
    scenario="シナリオ",
    records="Security Gate記録 {gate}件、Agent Card記録 {card}件",
    not_shown="陪審員に示されていないもの",
    loss="{what} {count}件",
    loss_sized="{what} {count}件（{size}）",
    tags="タグ",
    cluster="クラスタ",
    metadata="メタデータ",
    agent_cost="評価対象エージェントの費用",
    phase_1="Phase 1: 独立評価",
    phase_2="Phase 2: ディスカッション",
    phase_3="Phase 3: 最終判定",
    no_discussion="ディスカッションは行われませんでした。",
    confidence="確信度",
    position_changed="立場変更",
    changed_by_filter="フィルターによる変更のみ",
    synthetic="ブロックされた回答の代替評価",
    abstained="棄権",
    stands="以前の評価が有効",
    consensus="合意",
    reached="成立",
    not_reached="不成立",
    why="（{why}）",
    below_threshold="しきい値は{threshold}",
    threshold_never_met="しきい値{threshold}は満たされることがなく、必ず議論する設定",
    threshold_of_unanimity="しきい値{threshold}では、全員一致のラウンドでのみ終了",
    unanimity_goes_on="しきい値は{threshold}、全員一致でも終了しない設定",
    in_phase_1="Phase 1",
    in_round="ラウンド{number}",
    decided_by="決定方法",
    judge="最終判定者",
    judge_sits="最終判定者は{seats}と同じモデルであり、自身の発言も判定しています。",
    judge_failed="最終判定者から有効な回答が得られませんでした",
    capped="定足数に満たないため、safe_passをneeds_reviewとしました",
    quorum="定足数 {held}/{needed}",
    votes="投票",
    juror="陪審員",
    kind="種別",
    position="立場",
    score="スコア",
    weight="重み",
    made_in="評価時点",
    result="結果",
    rounds="ラウンド数",
    ended_by="終了理由",
    early="早期終了",
    failed="議論は失敗しました",
    cancelled="議論は中止されました。中止者",
    unfinished="議論は完了していません。",
    resumed="再開",
    asked_again="再質問",
    nothing="なし",
    calls="呼び出し",
    model="モデル",
    total="合計",
    tokens="入力/出力トークン",
    cost="費用",
    unknown="不明",
    erased="［消去済み］",
    missing="［本文がなく、消去の記録もありません: jury verify を実行してください］",
    more="…（残り{count}文字）",
    empty="（なし）",
)

WORDS: dict[Language, Words] = {"en": _EN, "ja": _JA}
