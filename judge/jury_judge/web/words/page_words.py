"""What the pages are labelled with, beyond the words of a shown debate (`views.words`).

Ids, verdicts and models are shown as they are stored, in any language; closed sets as `views.terms` calls them.
"""

from typing import NamedTuple


class StatusWords(NamedTuple):
    """How far a debate is, as the lists say it."""

    evaluating: str
    discussing: str
    judging: str
    completed: str
    failed: str
    cancelled: str
    unreadable: str
    unfinished: str


class ImportWords(NamedTuple):
    """How far it is shown where an imported debate comes from."""

    unsealed: str
    sealed: str
    vouched: str


class OriginWords(NamedTuple):
    """Who authored an item of a transcript."""

    user: str
    model: str
    tool: str
    environment: str
    developer: str


class ItemWords(NamedTuple):
    """What an item of a transcript is."""

    system: str
    user: str
    assistant: str
    reasoning: str
    refusal: str
    tool_call: str
    tool_result: str
    attachment: str
    event: str
    not_shown: str


class EndWords(NamedTuple):
    """What ended a discussion."""

    consensus: str
    deadlock: str
    max_rounds: str
    no_discussion: str


class ColumnWords(NamedTuple):
    """The columns of the list of debates, by the names that the command and addresses have for them."""

    case: str
    status: str
    verdict: str
    score: str
    label: str
    agreement: str
    rounds: str
    quorum: str
    integrity: str
    method: str
    models: str
    calls: str
    input_tokens: str
    output_tokens: str
    cost: str
    agent_cost: str
    not_shown: str
    run: str
    opened: str
    updated: str
    ended: str


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
    key_before: str
    key_after: str
    statuses: StatusWords
    ends: EndWords
    search: str
    search_hint: str
    where: str
    where_hint: str
    groups: str
    mean_score: str
    as_labelled: str
    no_value: str
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
    column: ColumnWords
    columns: str
    more_filters: str
    sort: str
    ascending: str
    descending: str
    first_page: str
    next_page: str
    min_cost: str
    max_cost: str
    add_up: str
    total_debates: str
    total_cost: str
    total_tokens: str
    found_in: str
    unsearched: str
    none_found: str
    none_beyond: str
    none_yet: str
    shown_range: str
    simulated_mark: str
    imported_mark: str
    imported_ways: ImportWords
    unreadable_also: str
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
    items: str
    origins: OriginWords
    item_kinds: ItemWords
    of_item: str
    of_unknown_item: str
    items_left: str
    picture: str
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
    run_begun: str
    run_open: str
    run_ahead: str
    run_over: str
    verdicts: str
    scores: str
    in_numbers: str
    flips: str
    statements: str
    changes: str
    blocked_answers: str
    stale_positions: str
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
    not_comparable: str
    panels_unknown: str
    versions: str
    unknown_in_calls: str
    try_of: str
    call_id: str
    with_marks: str
    shown_plain: str
    waterfall: str
    step: str
    turn_and_try: str
    began: str
    call_failed: str
    round_begins: str
    awaited_asked: str
    awaited_retried: str
    awaited_answered: str
    awaited_queued: str
    held_back_by: str
    changed_since: str
    same_verdict: str
    same_words: str
    statement: str
    too_long_to_compare: str
    around: str
    debate_before: str
    debate_after: str
    log_in: str
    entry: str
    entry_wrong: str
    entry_too_many: str
    entry_where: str
    problem: str
    damaged: str
    damaged_how: str
    back: str
    footer: str
    exported: str
