"""What every page has, the login, and errors."""

from jury_views.translation import TranslatedLabels, Translation


class SiteLabels(TranslatedLabels):
    """What every page has, the login, and errors."""

    other_language = Translation("日本語", "English")
    title = Translation("Jury Judge", "Jury Judge")
    skip = Translation("Skip to the content", "本文へ移動")
    navigation = Translation("Main", "メイン")
    debates = Translation("Debates", "議論")
    runs = Translation("Runs", "実行")
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
