"""What the pages are labelled with, in both languages, beyond the words of a shown debate (`views.words`).

Ids, verdicts, models and reasons of failures are shown as they are stored, in any language.
"""

from typing import NamedTuple

from jury_events.panel import Language


class StatusWords(NamedTuple):
    """How far a debate is, as the lists say it."""

    evaluating: str
    discussing: str
    judging: str
    completed: str
    failed: str
    cancelled: str
    unfinished: str


class EndWords(NamedTuple):
    """What ended a discussion."""

    consensus: str
    deadlock: str
    max_rounds: str
    no_discussion: str


class PageWords(NamedTuple):
    """Every label of the pages; those with braces are filled in by the templates."""

    other_language: str
    title: str
    skip: str
    navigation: str
    debates: str
    runs: str
    compare: str
    help: str
    help_keys: str
    key_next: str
    key_previous: str
    key_back: str
    key_forward: str
    key_prompt: str
    key_search: str
    statuses: StatusWords
    ends: EndWords
    search: str
    search_hint: str
    filters: str
    verdict: str
    any: str
    simulated_only: str
    models_only: str
    jurors: str
    show: str
    reset: str
    case: str
    score: str
    agreement: str
    agreement_of: str
    rounds: str
    quorum: str
    quorum_met: str
    quorum_lost: str
    opened: str
    run: str
    newest: str
    older: str
    none_found: str
    none_yet: str
    shown_range: str
    simulated_mark: str
    integrity: str
    intact: str
    intact_short: str
    altered: str
    altered_short: str
    counts: str
    erased_count: str
    sealed: str
    part_sealed: str
    not_sealed: str
    sealed_short: str
    check_these: str
    checking: str
    about: str
    positions: str
    phase_1: str
    round: str
    no_position: str
    result: str
    pending: str
    waiting: str
    judge_speaks: str
    reasons: str
    position_changed: str
    tools_asked: str
    prompt_and_answer: str
    event: str
    events: str
    scrubber: str
    scrubber_hint: str
    event_of: str
    go: str
    first: str
    previous: str
    next: str
    last: str
    follow: str
    wound_back: str
    live: str
    live_lost: str
    export: str
    whole_text: str
    cut: str
    method: str
    models: str
    opened_at: str
    calls: str
    model: str
    outcomes: str
    tokens: str
    cost: str
    unknown: str
    latency: str
    erasures: str
    scenario: str
    messages: str
    anchor: str
    position: str
    recorded_at: str
    type: str
    what: str
    hash: str
    exchange: str
    request: str
    raw_answer: str
    raw_response: str
    sent: str
    error: str
    tool_calls: str
    arguments: str
    tool_result: str
    tool_failed: str
    waited: str
    request_id: str
    raw: str
    not_answered: str
    shown_above: str
    run_progress: str
    run_total: str
    run_open: str
    verdicts: str
    scores: str
    in_numbers: str
    flips: str
    statements: str
    changes: str
    cost_so_far: str
    cost_nothing: str
    cost_unknown: str
    of_latest: str
    number: str
    share: str
    debates_of_run: str
    first_at: str
    last_at: str
    no_runs: str
    compare_hint: str
    kind: str
    compare_a: str
    compare_b: str
    same_case: str
    other_case: str
    case_erased: str
    differs: str
    panels: str
    panels_same: str
    field: str
    seat: str
    final_judge: str
    abstained: str
    stale: str
    synthetic: str
    both_judged: str
    none_judged: str
    end_in_a: str
    flipped: str
    only_in: str
    and_more: str
    left_statements: str
    left_matrix: str
    debate: str
    log_in: str
    entry: str
    entry_wrong: str
    entry_where: str
    problem: str
    damaged: str
    damaged_how: str
    back: str
    footer: str
    exported: str


_EN = PageWords(
    other_language="日本語",
    title="Jury Judge",
    skip="Skip to the content",
    navigation="Main",
    debates="Debates",
    runs="Runs",
    compare="Compare",
    help="Keys",
    help_keys="Keyboard",
    key_next="next statement",
    key_previous="previous statement",
    key_back="one event back",
    key_forward="one event forward",
    key_prompt="prompt and answer of the statement",
    key_search="search",
    statuses=StatusWords(
        evaluating="evaluating",
        discussing="discussing",
        judging="judging",
        completed="completed",
        failed="failed",
        cancelled="cancelled",
        unfinished="unfinished",
    ),
    ends=EndWords(
        consensus="consensus",
        deadlock="deadlock",
        max_rounds="all rounds held",
        no_discussion="no discussion",
    ),
    search="Search",
    search_hint="Debate or case",
    filters="Search and filters",
    verdict="Verdict",
    any="any",
    simulated_only="simulated",
    models_only="models",
    jurors="Jurors",
    show="Show",
    reset="Reset",
    case="Case",
    score="Score",
    agreement="Agreement",
    agreement_of="{largest} of {seats}",
    rounds="Rounds",
    quorum="Quorum",
    quorum_met="met",
    quorum_lost="lost",
    opened="Opened",
    run="Run",
    newest="Newest",
    older="Older",
    none_found="No debate fits.",
    none_yet="No debate yet. Hold one with: jury demo",
    shown_range="{count} debates shown, newest first.",
    simulated_mark="simulated",
    integrity="Integrity",
    intact="Nothing was altered",
    intact_short="intact",
    altered="The record was altered",
    altered_short="altered",
    counts="{events} events and {texts} texts checked",
    erased_count="{count} texts erased on record",
    sealed="covered by the seal over {size} events",
    part_sealed="the last seal, over {size} events, covers {covered} of its {events} events",
    not_sealed="the log has no seal yet",
    sealed_short="sealed",
    check_these="Check these records",
    checking="not checked",
    about="About this debate",
    positions="Positions",
    phase_1="Phase 1",
    round="Round {number}",
    no_position="not heard yet",
    result="Result",
    pending="Nothing yet.",
    waiting="Waiting for the jurors …",
    judge_speaks="The final judge is writing",
    reasons="Reasons",
    position_changed="Position changed",
    tools_asked="Tools",
    prompt_and_answer="Prompt and answer",
    event="Event",
    events="Events",
    scrubber="Wind back",
    scrubber_hint="The page as it was after event",
    event_of="After event {at} of {last}",
    go="Go",
    first="First event",
    previous="Previous event",
    next="Next event",
    last="Last event",
    follow="Latest",
    wound_back="This is how it stood then. Later events are not shown.",
    live="Following",
    live_lost="Connection lost, trying again",
    export="Save as one file",
    whole_text="Whole text ({size})",
    cut="Cut here: ",
    method="Method",
    models="Models",
    opened_at="Opened at",
    calls="Model calls",
    model="Model",
    outcomes="Outcomes",
    tokens="Tokens in / out",
    cost="Cost",
    unknown="unknown",
    latency="Time",
    erasures="Texts were erased",
    scenario="Scenario",
    messages="{count} messages",
    anchor="Link to event {number}",
    position="Position",
    recorded_at="Recorded at",
    type="Type",
    what="What",
    hash="Hash",
    exchange="Exchange",
    request="Prompt, as sent",
    raw_answer="Answer, as received",
    raw_response="Response, as received",
    sent="Also sent",
    error="Error",
    tool_calls="Tool calls",
    arguments="Arguments",
    tool_result="Result",
    tool_failed="failed",
    waited="Waited before",
    request_id="Request id",
    raw="raw",
    not_answered="There is no answer.",
    shown_above="The same text as above",
    run_progress="Progress",
    run_total="{ended} of {debates} debates over",
    run_open="open",
    verdicts="Verdicts",
    scores="Scores",
    in_numbers="In numbers",
    flips="Changed positions by round",
    statements="Statements",
    changes="Changed",
    cost_so_far="Cost, debate by debate",
    cost_nothing="Nothing was paid: the jurors are simulated, or their models are free.",
    cost_unknown="unknown in {count} debates",
    of_latest="Of the latest {count} of {total} debates.",
    number="Debates",
    share="Share",
    debates_of_run="The debates of this run",
    first_at="First opened",
    last_at="Last event",
    no_runs="No run yet. Judge cases with: jury run CASES.jsonl",
    kind="Kind",
    compare_hint="Two debates, or two runs, by their ids",
    compare_a="A",
    compare_b="B",
    same_case="Both judge the same case.",
    other_case="They do not judge the same case.",
    case_erased="Whether they judge the same case is not known: a text was erased.",
    differs="differs",
    panels="Panels",
    panels_same="The panels are the same.",
    field="Field",
    seat="Seat",
    final_judge="Final judge",
    abstained="abstained",
    stale="abstained, earlier position stands",
    synthetic="stands in for a blocked answer",
    both_judged="The same verdict in {agreed} of {judged} cases judged by both ({share}); scores differ by "
    "{difference} points on average.",
    none_judged="No case has a verdict in both.",
    end_in_a="A ↓ · B →",
    flipped="Flips",
    only_in="Only in {side}",
    and_more="and {count} more",
    left_statements="{count} earlier statements are not shown",
    left_matrix="Not shown: {seats} seats, {rounds} earlier rounds",
    debate="Debate",
    log_in="Log in",
    entry="Token",
    entry_wrong="The token is wrong.",
    entry_where="jury serve printed the token when it started.",
    problem="This cannot be shown",
    damaged="The record of this debate is damaged",
    damaged_how="Find out what was altered, and where, with:",
    back="Back to the debates",
    footer="Every word is kept, replayable and verifiable.",
    exported="Exported from the log, whole. Check the record itself with: jury verify {debate}",
)

_JA = PageWords(
    other_language="English",
    title="Jury Judge",
    skip="本文へ移動",
    navigation="メイン",
    debates="議論",
    runs="実行",
    compare="比較",
    help="キー操作",
    help_keys="キーボード操作",
    key_next="次の発言",
    key_previous="前の発言",
    key_back="1イベント戻る",
    key_forward="1イベント進む",
    key_prompt="発言のプロンプトと回答",
    key_search="検索",
    statuses=StatusWords(
        evaluating="評価中",
        discussing="議論中",
        judging="判定中",
        completed="完了",
        failed="失敗",
        cancelled="中止",
        unfinished="未完了",
    ),
    ends=EndWords(
        consensus="合意",
        deadlock="膠着",
        max_rounds="全ラウンド終了",
        no_discussion="議論なし",
    ),
    search="検索",
    search_hint="議論またはケースのID",
    filters="検索と絞り込み",
    verdict="判定",
    any="すべて",
    simulated_only="模擬",
    models_only="モデル",
    jurors="陪審員",
    show="表示",
    reset="解除",
    case="ケース",
    score="スコア",
    agreement="一致",
    agreement_of="{largest}/{seats}",
    rounds="ラウンド",
    quorum="定足数",
    quorum_met="充足",
    quorum_lost="不足",
    opened="開始",
    run="実行",
    newest="最新",
    older="以前の議論",
    none_found="該当する議論はありません。",
    none_yet="議論はまだありません。次のコマンドで始められます: jury demo",
    shown_range="{count}件を新しい順に表示しています。",
    simulated_mark="模擬",
    integrity="完全性",
    intact="改変はありません",
    intact_short="改変なし",
    altered="記録が改変されています",
    altered_short="改変あり",
    counts="イベント{events}件、本文{texts}件を検査済み",
    erased_count="消去の記録がある本文 {count}件",
    sealed="イベント{size}件の封印に含まれています",
    part_sealed="最後の封印（イベント{size}件）は、この議論のイベント{events}件中{covered}件を含みます",
    not_sealed="ログはまだ封印されていません",
    sealed_short="封印済み",
    check_these="表示中の記録を検査",
    checking="未検査",
    about="この議論について",
    positions="立場の推移",
    phase_1="Phase 1",
    round="ラウンド{number}",
    no_position="未発言",
    result="結果",
    pending="まだありません。",
    waiting="陪審員の評価を待っています…",
    judge_speaks="最終判定者が回答を書いています",
    reasons="理由",
    position_changed="立場変更",
    tools_asked="ツール",
    prompt_and_answer="プロンプトと回答",
    event="イベント",
    events="イベント一覧",
    scrubber="巻き戻し",
    scrubber_hint="このイベントの直後の表示",
    event_of="イベント{at}/{last}の直後",
    go="移動",
    first="最初のイベント",
    previous="前のイベント",
    next="次のイベント",
    last="最後のイベント",
    follow="最新へ",
    wound_back="その時点での表示です。以降のイベントは表示していません。",
    live="更新を待っています",
    live_lost="接続が切れました。再接続しています",
    export="1ファイルで保存",
    whole_text="全文を表示（{size}）",
    cut="以下省略: ",
    method="判定方式",
    models="モデル",
    opened_at="開始日時",
    calls="モデル呼び出し",
    model="モデル",
    outcomes="結果",
    tokens="入力/出力トークン",
    cost="費用",
    unknown="不明",
    latency="所要時間",
    erasures="消去された本文があります",
    scenario="シナリオ",
    messages="{count}件のメッセージ",
    anchor="イベント{number}へのリンク",
    position="位置",
    recorded_at="記録日時",
    type="種類",
    what="内容",
    hash="ハッシュ",
    exchange="呼び出し",
    request="送信したプロンプト",
    raw_answer="受信した回答",
    raw_response="受信した応答",
    sent="併せて送信した内容",
    error="エラー",
    tool_calls="ツール呼び出し",
    arguments="引数",
    tool_result="結果",
    tool_failed="失敗",
    waited="事前の待機",
    request_id="リクエストID",
    raw="原文",
    not_answered="回答はありません。",
    shown_above="上に表示した本文と同じ",
    run_progress="進捗",
    run_total="{debates}件中{ended}件終了",
    run_open="進行中",
    verdicts="判定の内訳",
    scores="スコアの分布",
    in_numbers="数値で表示",
    flips="ラウンド別の立場変更",
    statements="発言",
    changes="立場変更",
    cost_so_far="費用の累計",
    cost_nothing="費用はかかっていません（模擬陪審員、または無料のモデルです）。",
    cost_unknown="{count}件の議論で不明",
    of_latest="全{total}件のうち最新{count}件の集計です。",
    number="議論",
    share="割合",
    debates_of_run="この実行の議論",
    first_at="最初の開始",
    last_at="最後のイベント",
    no_runs="実行はまだありません。次のコマンドで始められます: jury run CASES.jsonl",
    kind="種類",
    compare_hint="2つの議論、または2つの実行のID",
    compare_a="A",
    compare_b="B",
    same_case="同じケースを判定しています。",
    other_case="同じケースではありません。",
    case_erased="同じケースかどうかは不明です（本文が消去されています）。",
    differs="相違",
    panels="陪審団",
    panels_same="陪審団は同じです。",
    field="項目",
    seat="陪審員",
    final_judge="最終判定者",
    abstained="棄権",
    stale="棄権（以前の立場が有効）",
    synthetic="ブロックされた回答の代替評価",
    both_judged="両方で判定された{judged}件のうち{agreed}件（{share}）で判定が一致。スコアの差は平均{difference}点。",
    none_judged="両方で判定されたケースはありません。",
    end_in_a="A ↓ · B →",
    flipped="判定が変わったケース",
    only_in="{side}のみ",
    and_more="ほか{count}件",
    left_statements="以前の発言{count}件は表示していません",
    left_matrix="表示していない陪審員 {seats}名、以前のラウンド {rounds}件",
    debate="議論",
    log_in="ログイン",
    entry="トークン",
    entry_wrong="トークンが違います。",
    entry_where="トークンは jury serve の起動時に表示されます。",
    problem="表示できません",
    damaged="この議論の記録は破損しています",
    damaged_how="何がどこで変わったかは、次のコマンドで調べられます：",
    back="議論の一覧へ戻る",
    footer="すべての言葉が記録され、再現と検証ができます。",
    exported="ログから全文を書き出したものです。記録そのものの検査: jury verify {debate}",
)

PAGE_WORDS: dict[Language, PageWords] = {"en": _EN, "ja": _JA}
