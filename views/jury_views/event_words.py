"""The texts of the list of events, in English and Japanese."""

from typing import NamedTuple

from jury_events.panel import Language


class EventWords(NamedTuple):
    """Sentences with blanks; what fills them is a term, an id or a number. `columns`: headings of a table."""

    columns: tuple[str, str, str]
    neutral: str
    changed: str
    changed_by_filter: str
    not_asked: str
    abstained: str
    stands: str
    round_follows: str
    over: str
    speakers: str
    judged: str
    completed: str
    opened: str
    begun: str
    forked: str
    repeated_steps: str
    nothing: str
    erased: str
    cancelled: str
    replaced: str
    called: str
    tokens: str
    simulated: str
    in_batch: str
    reviewed: str
    reviewed_item: str
    blind: str
    sampled: str
    assigned: str
    withdrawn: str


EVENT_WORDS: dict[Language, EventWords] = {
    "en": EventWords(
        columns=("event", "recorded at", "id"),
        neutral=", blocked: neutral",
        changed=", position changed",
        changed_by_filter=", changed by a provider's filter only",
        not_asked="not asked: {seats}; whatever they answer, it stays {settled}",
        abstained="abstained: {reason}",
        stands="; its earlier evaluation stands",
        round_follows="a round follows",
        over="discussion over: {reason}",
        speakers="speakers: {speakers}",
        judged="{verdict} {score} by {decider}",
        completed="{verdict} {score} after {rounds}: {reason}",
        opened="panel {panel}, {seats} seats, rules {rules}",
        begun="jurors may be asked from now on",
        forked="branches off {origin} after event {version}; steps reused: {steps}",
        repeated_steps="asked again: {steps}",
        nothing="nothing",
        erased="{texts} of {scope}, by {by}: {reason}",
        cancelled="by {by}",
        replaced="by {by}: {successor} judges the case again",
        called="called {tools}",
        tokens="{count} tokens",
        simulated="simulated",
        in_batch="in a batch",
        reviewed="{verdict} by {reviewer}",
        reviewed_item=", decisive item {number}",
        blind=", blind",
        sampled=", drawn at random",
        assigned="{by} asks {reviewer}",
        withdrawn="{number} withdrawn by {by}",
    ),
    "ja": EventWords(
        columns=("イベント", "記録日時", "ID"),
        neutral="、ブロックされたため中立の評価で代替",
        changed="、立場変更",
        changed_by_filter="、フィルターによる変更のみ",
        not_asked="未質問: {seats}。どう答えても{settled}のまま",
        abstained="棄権: {reason}",
        stands="（以前の評価が有効）",
        round_follows="次のラウンドへ",
        over="議論終了: {reason}",
        speakers="発言順: {speakers}",
        judged="{verdict} {score}（{decider}）",
        completed="{verdict} {score}、{rounds}、{reason}",
        opened="陪審団 {panel}、{seats}名、ルール {rules}",
        begun="ここから陪審員への質問が可能",
        forked="{origin} のイベント{version}から分岐、再利用した手順 {steps}件",
        repeated_steps="再質問: {steps}",
        nothing="なし",
        erased="{scope}の{texts}、{by}: {reason}",
        cancelled="中止者: {by}",
        replaced="依頼者: {by}。{successor}が改めて審理",
        called="ツール {tools}",
        tokens="{count}トークン",
        simulated="模擬",
        in_batch="バッチ処理",
        reviewed="{verdict}（{reviewer}）",
        reviewed_item="、決め手の項目{number}",
        blind="、陪審団の意見を見ずに判定",
        sampled="、無作為抽出",
        assigned="{by}が{reviewer}に依頼",
        withdrawn="{number}を{by}が取り消し",
    ),
}
