"""The names of the closed sets of the log: votes, consensus states, outcomes, reasons, kinds of events.

In English they are shown as they are stored; verdicts are in every language, since the documents have them so.
"""

from collections.abc import Mapping

from jury_events.panel import Language

_JAPANESE: Mapping[str, str] = {
    # Votes
    "own": "本人の票",
    "stale": "以前の票",
    "synthetic": "代替の票",
    "not_asked": "未質問",
    "conditional": "条件付きの票",
    "standing": "据え置きの票",
    "abstained": "棄権",
    # Consensus
    "unanimous": "全員一致",
    "majority": "多数",
    "split": "分裂",
    # Methods and who decided
    "majority_vote": "多数決",
    "weighted_average": "加重平均",
    "median": "中央値",
    "final_judge": "最終判定者",
    "no_evaluation": "評価なし",
    # Why the discussion ended
    "consensus": "合意",
    "deadlock": "膠着",
    "max_rounds": "全ラウンド終了",
    "no_discussion": "議論なし",
    # How a model call ended, and why a seat has no answer
    "answered": "回答あり",
    "blocked": "ブロック",
    "truncated": "途中で切れた回答",
    "only_reasoning": "推論だけで上限に達した回答",
    "rate_limited": "レート制限",
    "overloaded": "過負荷",
    "timeout": "タイムアウト",
    "connection": "接続失敗",
    "malformed_response": "不正な応答",
    "authentication": "認証失敗",
    "quota": "割り当て超過",
    "bad_request": "不正な要求",
    "context_too_long": "文脈長超過",
    "unparseable": "解釈できない回答",
    "tool_loop": "ツール呼び出しの繰り返し",
    "partly_read": "記録の一部が未読",
    # Why an answer was refused
    "empty": "空の回答",
    "too_large": "大きすぎる回答",
    "unsupported": "引用の裏付けなし",
    "not_utf8": "UTF-8ではない",
    "byte_order_mark": "バイト順マークあり",
    "nul": "NUL文字あり",
    "prose": "JSON以外の文章あり",
    "not_json": "JSONではない",
    "incomplete": "未完のJSON",
    "several_objects": "複数のオブジェクト",
    "not_an_object": "オブジェクトではない",
    "too_deep": "深すぎる入れ子",
    "duplicate_key": "キーの重複",
    "lone_surrogate": "孤立サロゲート",
    "not_a_number": "数値ではない",
    "huge_number": "巨大な数値",
    "unknown_field": "未知の項目",
    "missing_field": "項目の不足",
    "wrong_type": "型の誤り",
    "out_of_range": "範囲外の値",
    "unknown_verdict": "未知の判定",
    "wrong_ballot": "投票IDの誤り",
    "empty_text": "空の本文",
    "too_long": "長すぎる本文",
    "unknown_scenario": "未知のシナリオ",
    "ballot_shown": "投票IDの露出",
    "tools_over": "ツール呼び出しの上限超過",
    # Kinds of events
    "debate_opened": "議論の開始",
    "debate_begun": "審理の開始",
    "juror_evaluated": "評価",
    "juror_abstained": "棄権",
    "seats_not_asked": "質問の省略",
    "reasoning_shown": "思考の表示",
    "round_started": "ラウンド開始",
    "statement_made": "発言",
    "consensus_checked": "合意の確認",
    "judgment_rendered": "最終判定",
    "debate_completed": "議論の完了",
    "debate_failed": "議論の失敗",
    "debate_replaced": "再審理への置き換え",
    "debate_cancelled": "議論の中止",
    "coordinator_resumed": "再開",
    "debate_forked": "分岐",
    "debate_imported": "取り込み",
    "debate_quarantined": "隔離",
    "batch_prepared": "バッチの準備",
    "batch_items_listed": "バッチの項目",
    "batch_uploaded": "バッチのアップロード",
    "batch_submitted": "バッチの送信",
    "batch_mistaken": "バッチの取り違え",
    "batch_changed": "バッチの状態変更",
    "batch_cancel_requested": "バッチのキャンセル要求",
    "batch_cancel_sent": "バッチのキャンセル送信",
    "batch_missed": "バッチの結果なし",
    "batch_items_unanswered": "バッチの無回答項目",
    "batch_closed": "バッチの終了",
    "batch_texts_erased": "バッチのテキスト消去",
    "debate_released": "隔離の解除",
    "run_opened": "実行の開始",
    "cases_listed": "ケースの一覧",
    "list_completed": "一覧の完了",
    "budget_changed": "予算の変更",
    "cancel_requested": "中止の要求",
    "run_reopened": "実行の再開",
    "run_imported": "実行の取り込み",
    "run_ended": "実行の終了",
    "drift_opened": "ドリフト検査の準備",
    "draws_planned": "回数の変更",
    "draws_judged": "基準となる判定の記録",
    "check_opened": "ドリフト検査の開始",
    "check_ended": "ドリフト検査の終了",
    "check_abandoned": "ドリフト検査の中止",
    "drift_imported": "ドリフト検査の取り込み",
    "scores_export_begun": "スコア書き出しの開始",
    "scores_exported": "スコアの書き出し",
    "texts_erased": "本文の消去",
    "exchange_recorded": "モデル呼び出し",
    "human_reviewed": "人による判定",
    "review_assigned": "判定の依頼",
    "review_withdrawn": "判定の取り消し",
    "case_labelled": "ラベルの変更",
    # Streams, scopes of erasures, causes of resumptions
    "debate": "議論",
    "calls": "呼び出し",
    "review": "人による判定",
    "case": "ケース",
    "coordinator": "進行役",
    "juror": "陪審員",
    # Messages of a prompt, and origins of what is in a transcript
    "system": "システム",
    "user": "利用者",
    "assistant": "アシスタント",
    "tool": "ツール",
    "model": "モデル",
    "environment": "環境",
    "developer": "開発者",
    "unknown": "不明",
    # Items of a transcript
    "speaker": "記録上の発言者",
    "reasoning": "思考",
    "refusal": "拒否",
    "tool_call": "ツール呼び出し",
    "tool_result": "ツールの結果",
    "attachment": "添付",
    "event": "出来事",
    "not_shown": "陪審員に示されていないもの",
    # How far a debate is
    "waiting": "待機中",
    "completed": "完了",
    "failed": "失敗",
    "cancelled": "中止",
    "unfinished": "未完了",
}


def term(word: object, language: Language) -> str:
    """The name of a stored word; other words are shown as stored."""
    stored = str(word)
    return _JAPANESE.get(stored, stored) if language == "ja" else stored


class Translation:
    """One label. Both languages are arguments, so that a label without one of them is an error of types, and at import.

    `{name}` is a blank; both languages have the same ones.
    """

    def __init__(self, english: str, japanese: str) -> None:
        self.texts: dict[Language, str] = {"en": english, "ja": japanese}

    def __get__(self, labels: "TranslatedLabels", _owner: type) -> str:
        return self.texts[labels.language]


class TranslatedLabels:
    """The labels of one subject, in one language; a subclass has a `Translation` for each."""

    def __init__(self, language: Language) -> None:
        self.language = language
