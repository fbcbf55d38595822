"""Labels of every page, of reviews and of the state of records; and all labels, by the language of the reader."""

from typing import get_args

from jury_events.panel import Language
from jury_events.verdict import REVIEW
from jury_views.debate_labels import DebateLabels, EvidenceLabels
from jury_views.statistics_words import StatisticsLabels
from jury_views.terms import TranslatedLabels, Translation
from jury_web.pages.debate_labels import (
    CitedItemLabels,
    DebatePageLabels,
    EventsLabels,
    ExchangeLabels,
    ItemStripLabels,
    TranscriptLabels,
)
from jury_web.pages.run_labels import CompareLabels, GateLabels, ListLabels, RunLabels


class SiteLabels(TranslatedLabels):
    """What every page has, the login, and errors."""

    other_language = Translation("日本語", "English")
    title = Translation("Jury Judge", "Jury Judge")
    skip = Translation("Skip to the content", "本文へ移動")
    navigation = Translation("Main", "メイン")
    debates = Translation("Debates", "議論")
    runs = Translation("Runs", "実行")
    drift = Translation("Drift checks", "ドリフト検査")
    drift_none_there = Translation(
        "No baseline is recorded. Make one from labelled cases:",
        "ベースラインはまだありません。ラベル付きケースから作成します:",
    )
    compare = Translation("Compare", "比較")
    keys = Translation("Keys", "キー操作")
    help_keys = Translation("Keyboard", "キーボード操作")
    log_in = Translation("Log in", "ログイン")
    entry = Translation("Token", "トークン")
    problem = Translation("This cannot be shown", "表示できません")
    damaged = Translation("The record of this debate is damaged", "この議論の記録は破損しています")
    damaged_how = Translation(
        "Find what was altered, and where, with:", "何がどこで変わったかは、次のコマンドで調べられます："
    )
    no_page = Translation("There is no page at this address.", "このアドレスにページはありません。")
    after_your_verdict = Translation(
        "You see what the jury said of a debate after your own verdict on it, and no other page.",
        "陪審団の意見は、ご自身の判定の後にその議論についてのみ表示されます。",
    )
    review_this_debate = Translation("Review this debate", "この議論をレビューする")
    back_to_reviews = Translation("To the reviews", "レビューの一覧へ")
    back = Translation("Back to the debates", "議論の一覧へ戻る")
    footer = Translation(
        "Every word is kept, replayable and verifiable.", "すべての言葉が記録され、再現と検証ができます。"
    )
    exported = Translation(
        "Exported from the log with whole texts. Verify the record with: jury verify {debate}",
        "ログから全文を書き出したものです。記録そのものの検査: jury verify {debate}",
    )
    key_next = Translation("next statement", "次の発言")
    key_previous = Translation("previous statement", "前の発言")
    key_back = Translation("one event back", "1イベント戻る")
    key_forward = Translation("one event forward", "1イベント進む")
    key_prompt = Translation("prompt and answer of the statement", "発言のプロンプトと回答")
    key_search = Translation("search", "検索")
    key_before = Translation("debate before", "前の議論")
    key_after = Translation("debate after", "次の議論")
    entry_wrong = Translation("The token is wrong.", "トークンが違います。")
    entry_too_many = Translation(
        "Too many wrong tokens from this address. Wait a minute.",
        "ここから誤ったトークンが多く送られました。1分待ってください。",
    )
    entry_where = Translation(
        "jury serve printed the token when it started; reviewers have their own.",
        "トークンは jury serve の起動時に表示されます。レビュアーは自分のトークンを使います。",
    )


class IntegrityLabels(TranslatedLabels):
    """Whether a record is intact and sealed, and where it came from."""

    simulated_mark = Translation("simulated", "模擬")
    imported_mark = Translation("imported", "インポート")
    unreadable_also = Translation(
        "Quarantine it with: jury db quarantine {debate} --by WHO --reason WHY",
        "次のコマンドで隔離できます: jury db quarantine {debate} --by WHO --reason WHY",
    )
    intact = Translation("Nothing was altered", "改変はありません")
    intact_short = Translation("intact", "改変なし")
    altered = Translation("The record was altered", "記録が改変されています")
    altered_short = Translation("altered", "改変あり")
    counts = Translation("{events} events and {texts} texts checked", "イベント{events}件、本文{texts}件を検査済み")
    erased_count = Translation("{count} texts with a recorded erasure", "消去の記録がある本文 {count}件")
    sealed = Translation(
        "covered by the last seal, over {size} events, which is not checked here (jury verify --all)",
        "最後の封印（イベント{size}件）の範囲内です。封印自体はここでは検査していません（jury verify --all）",
    )
    part_sealed = Translation(
        "the last seal, over {size} events, covers {covered} of its {events} events",
        "最後の封印（イベント{size}件）は、この議論のイベント{events}件中{covered}件を含みます",
    )
    not_sealed = Translation("the log has no seal yet", "ログはまだ封印されていません")
    sealed_short = Translation("under a seal", "封印の範囲内")
    imported_mark_unsealed = Translation("unsealed", "封印なし")
    imported_mark_sealed = Translation("sealed, not checked", "封印あり（未確認）")
    imported_mark_verified = Translation("sealed", "封印あり")


class ReviewPageLabels(TranslatedLabels):
    """The pages of reviews by people."""

    reviews = Translation("Reviews", "レビュー")
    reviewers = Translation("Reviewers", "レビュアー")
    reviews_of_people = Translation("Reviews by people", "人によるレビュー")
    reviews_none = Translation("No person has reviewed this yet.", "まだ人によるレビューはありません。")
    reviews_none_of_yours = Translation(
        "You have reviewed none of these debates yet.", "あなたはまだこれらの議論をレビューしていません。"
    )
    reviewers_of_yours = Translation(
        "Only the debates that you have reviewed are counted.", "あなたがレビューした議論だけを集計しています。"
    )
    review_link = Translation("Review", "レビュー")
    review_this = Translation("Review this debate", "この議論をレビューする")
    disposition = Translation("Disposition", "最終処置")
    disposition_how = Translation("by the review of {reviewer}", "{reviewer}のレビューによる")
    review_as = Translation("Reviewer: {reviewer}", "レビュアー: {reviewer}")
    review_other_person = Translation("Log in as another person", "別の人としてログイン")
    review_needs_token = Translation(
        "Reviews are recorded with a reviewer's token.", "レビューの記録にはレビュアーのトークンが必要です。"
    )
    review_off = Translation(
        "Reviewing over the network is off. Reviewers have tokens, or use the terminal:",
        "ネットワーク経由のレビューは無効です。レビュアー用トークンか端末を使います:",
    )
    review_blind_how = Translation(
        "Blind: what the jury and other reviewers said of a debate is shown after your verdict.",
        "ブラインド: 陪審員や他のレビュアーの発言は、あなたの判定後に表示されます。",
    )
    review_people = Translation("Reviewers per debate", "議論ごとのレビュアー数")
    previous_page = Translation("Previous page", "前のページ")
    review_progress = Translation("{place} of {total}", "{total}件中{place}件目")
    review_other_debates = Translation("other debates of this case: {count}", "同じケースの他の議論: {count}件")
    review_waiting = Translation("Cases that wait: {count}", "レビュー待ちのケース: {count}件")
    review_begin = Translation("Review the first one", "最初のケースをレビューする")
    review_why = Translation("Why", "理由")
    review_disagreement = Translation("Disagreement of the jury", "陪審員の不一致")
    why_assigned = Translation("assigned", "割り当て済み")
    why_sampled = Translation("drawn at random", "無作為抽出")
    why_disputed = Translation("The reviewers differ", "レビュアーの判定が分かれています")
    why_not_accepted = Translation("not accepted", "未承認")
    why_needs_review = Translation(REVIEW.value, REVIEW.value)
    why_review = Translation("review", "要確認")
    review_queue_empty = Translation("Nothing is left to review.", "レビューするものはありません。")
    review_blind = Translation("blind", "ブラインド")
    review_not_blind = Translation(
        "Not blind: you have reviewed {debate}, a debate of the same case.",
        "ブラインドではありません。同じケースのディベート {debate} をすでにレビューしています。",
    )
    review_foreign = Translation(
        "from another store, without a trusted seal: does not count", "他の保存先由来、信頼できる封印なし: 数えません"
    )
    review_minutes = Translation("{minutes} min", "{minutes}分")
    review_replaces = Translation("replaces review {number}", "レビュー{number}を置き換え")
    review_asked = Translation("{reviewer} is asked for a review", "{reviewer}にレビューを依頼中")
    review_verdict = Translation("Verdict", "判定")
    review_no_item = Translation("No item", "項目を指定しない")
    review_item_here = Translation("It went wrong here first", "最初の誤りはここ")
    review_item_how = Translation(
        "Optional, with a verdict that is no pass: mark the item in the case.",
        "任意（合格以外の判定のとき）: ケースの項目に印を付けます。",
    )
    review_item_number = Translation("An item that is not shown, by its number", "表示されていない項目の番号")
    review_items_of_people = Translation("Decisive for reviewers", "レビュアーが決め手と指定")
    review_pass_with_item = Translation(
        "A pass names no item: choose “No item”, or another verdict.",
        "合格の場合は項目を指定できません。「項目を指定しない」か別の判定を選んでください。",
    )
    review_no_such_item = Translation("The number of the item is none.", "項目の番号が正しくありません。")
    review_reason = Translation("Reason", "理由")
    review_record = Translation("Record the review", "レビューを記録する")
    review_yours = Translation("Your review", "あなたのレビュー")
    review_recorded = Translation("Your verdict is recorded:", "あなたの判定を記録しました:")
    review_next = Translation("Next case", "次のケース")
    review_skip = Translation("Skip to the next case", "次のケースへ進む")
    review_jury = Translation("What the jury said", "陪審員の結論")
    review_whole_debate = Translation("The whole debate", "議論の全体")
    review_again = Translation("Give another verdict", "別の判定を記録する")
    review_quarantined = Translation(
        "The debate is in quarantine and cannot be reviewed.", "この議論は隔離中のため、レビューできません。"
    )
    review_not_ended = Translation(
        "The debate has not ended, so there is nothing to review yet.",
        "議論が終わっていないため、まだレビューできません。",
    )
    review_old_form = Translation(
        "The form is not of your login. Nothing was recorded; record it again.",
        "フォームが現在のログインのものではありません。記録されていないため、もう一度送信してください。",
    )
    review_not_utf8 = Translation(
        "The form is not UTF-8. Nothing was recorded; record it again.",
        "フォームがUTF-8ではありません。記録されていないため、もう一度送信してください。",
    )
    review_no_verdict = Translation("Choose a verdict.", "判定を選んでください。")
    review_refused = Translation("The review was not recorded:", "レビューは記録されませんでした:")
    review_unsaved = Translation(
        "The store cannot be written now. Nothing was recorded; try again.",
        "現在、保存先に書き込めません。記録されていないため、もう一度試してください。",
    )
    review_person = Translation("Reviewer", "レビュアー")
    reviewed_together = Translation("Debates with two reviewers or more: {count}", "2人以上がレビューした議論: {count}")
    review_agreement = Translation("Agreement of first verdicts", "最初の判定の一致")
    review_by_labels = Translation("By the labels {labels}", "判定語ごと: {labels}")
    review_pair = Translation("Pair", "組")
    review_raw = Translation("Same verdict", "同じ判定")
    review_weighted = Translation("κ, linear weights", "κ（線形重み）")
    review_agreement_how = Translation(
        "Cohen's κ with 95 % intervals over clusters of cases.", "コーエンのκ係数、ケースのクラスター単位の95%区間。"
    )
    review_alone = Translation("No debate was reviewed by two people.", "2人がレビューした議論はありません。")
    review_same_item_people = Translation(
        "Same decisive item: {same} of {compared} pairs of reviewers that name one.",
        "同じ決め手の項目: 両者が指定したレビュアーの{compared}組中{same}組。",
    )
    review_same_item_jury = Translation(
        "Same decisive item as the jury: {same} of {compared} reviews that name one.",
        "陪審員と同じ決め手の項目: 指定した{compared}件のレビュー中{same}件。",
    )
    review_third = Translation("For a third reviewer", "3人目のレビュアーへ")
    review_no_third = Translation("The reviewers differ in no debate.", "判定が分かれた議論はありません。")
    key_next_item = Translation("next item", "次の項目")
    key_previous_item = Translation("previous item", "前の項目")
    key_decisive = Translation("it went wrong here first, or not", "最初の誤りの印を付ける・外す")
    key_reason = Translation("reason of the review", "レビューの理由")
    key_record = Translation("record the review", "レビューを記録")
    key_skip = Translation("next case to review", "次にレビューするケース")


class PageLabels(
    DebateLabels,
    CitedItemLabels,
    CompareLabels,
    ListLabels,
    DebatePageLabels,
    EventsLabels,
    EvidenceLabels,
    ExchangeLabels,
    GateLabels,
    IntegrityLabels,
    ItemStripLabels,
    ReviewPageLabels,
    RunLabels,
    SiteLabels,
    StatisticsLabels,
    TranscriptLabels,
):
    """Every label that a template may print; no two subjects have one of the same name."""


LABELS: dict[Language, PageLabels] = {language: PageLabels(language) for language in get_args(Language)}
