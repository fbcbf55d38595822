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
    "juror_evaluated": "評価",
    "juror_abstained": "棄権",
    "seats_not_asked": "質問の省略",
    "round_started": "ラウンド開始",
    "statement_made": "発言",
    "consensus_checked": "合意の確認",
    "judgment_rendered": "最終判定",
    "debate_completed": "議論の完了",
    "debate_failed": "議論の失敗",
    "debate_cancelled": "議論の中止",
    "coordinator_resumed": "再開",
    "debate_forked": "分岐",
    "debate_imported": "取り込み",
    "debate_quarantined": "隔離",
    "debate_released": "隔離の解除",
    "scores_export_begun": "スコア書き出しの開始",
    "scores_exported": "スコアの書き出し",
    "texts_erased": "本文の消去",
    "exchange_recorded": "モデル呼び出し",
    "human_reviewed": "人による判定",
    "review_assigned": "判定の依頼",
    "review_withdrawn": "判定の取り消し",
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
    "completed": "完了",
    "failed": "失敗",
    "cancelled": "中止",
    "unfinished": "未完了",
}


def term(word: object, language: Language) -> str:
    """The name of a stored word; other words are shown as stored."""
    stored = str(word)
    return _JAPANESE.get(stored, stored) if language == "ja" else stored
