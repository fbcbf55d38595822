CREATE TABLE attestations (
    digest BLOB NOT NULL,
    tree_size BIGINT NOT NULL,
    kind TEXT NOT NULL,
    content BLOB NOT NULL,
    kept_at BIGINT NOT NULL,
    CONSTRAINT attestations_pkey PRIMARY KEY (digest)
)
;
CREATE TABLE ballots (
    debate_id TEXT NOT NULL,
    panel TEXT,
    votes TEXT,
    CONSTRAINT ballots_pkey PRIMARY KEY (debate_id)
)
;
CREATE TABLE counters (
    name TEXT NOT NULL,
    value BIGINT NOT NULL,
    CONSTRAINT counters_pkey PRIMARY KEY (name)
)
;
CREATE TABLE debate_fields (
    position BIGINT NOT NULL,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    CONSTRAINT debate_fields_pkey PRIMARY KEY (position, name, value)
)
;
CREATE INDEX debate_fields_value ON debate_fields (name, value, position)
;
CREATE TABLE debates (
    debate_id TEXT NOT NULL,
    position BIGINT NOT NULL,
    run_id TEXT,
    case_id TEXT NOT NULL,
    status TEXT NOT NULL,
    waiting BOOLEAN NOT NULL,
    rounds INTEGER NOT NULL,
    method TEXT NOT NULL,
    simulated BOOLEAN NOT NULL,
    label TEXT,
    cluster TEXT,
    tags TEXT NOT NULL,
    metadata TEXT NOT NULL,
    agent_cost FLOAT,
    models TEXT,
    inherited_steps TEXT,
    not_shown INTEGER NOT NULL,
    case_part BLOB NOT NULL,
    opened_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    begun_at BIGINT,
    ended_at BIGINT,
    final_verdict TEXT,
    final_label TEXT,
    final_score INTEGER,
    total_rounds INTEGER,
    early_termination BOOLEAN,
    end_reason TEXT,
    decided_by TEXT,
    quorum_met BOOLEAN,
    accepted BOOLEAN,
    partly_read TEXT,
    sides TEXT,
    agreement FLOAT,
    stage INTEGER,
    stages INTEGER,
    aside TEXT,
    calls INTEGER NOT NULL,
    input_tokens BIGINT NOT NULL,
    output_tokens BIGINT NOT NULL,
    cached_input_tokens BIGINT,
    cache_write_tokens BIGINT,
    cached_calls TEXT,
    cost FLOAT,
    evidence TEXT,
    evidence_values INTEGER,
    asked_again INTEGER NOT NULL,
    imported TEXT,
    imported_from TEXT,
    quarantined TEXT,
    human_verdict TEXT,
    reviews TEXT,
    assignments TEXT,
    problem TEXT,
    CONSTRAINT debates_pkey PRIMARY KEY (debate_id)
)
;
CREATE INDEX debates_begun ON debates (position) WHERE waiting = 0
;
CREATE UNIQUE INDEX debates_position ON debates (position)
;
CREATE INDEX debates_run ON debates (run_id, position)
;
CREATE INDEX debates_run_aside ON debates (run_id, position) WHERE aside IS NOT NULL
;
CREATE INDEX debates_run_begun ON debates (run_id, position) WHERE waiting = 0
;
CREATE INDEX debates_run_imported ON debates (run_id, position) WHERE imported IS NOT NULL
;
CREATE INDEX debates_run_unfinished ON debates (run_id, position) WHERE ended_at IS NULL AND waiting = 0
;
CREATE INDEX debates_run_unreadable ON debates (run_id, position) WHERE problem IS NOT NULL
;
CREATE INDEX debates_unfinished ON debates (position) WHERE ended_at IS NULL AND waiting = 0
;
CREATE INDEX debates_waiting ON debates (run_id, position, aside, quarantined) WHERE waiting = 1
;
CREATE TABLE events (
    position INTEGER NOT NULL,
    stream TEXT NOT NULL,
    version INTEGER NOT NULL,
    event_id TEXT NOT NULL,
    type TEXT NOT NULL,
    schema INTEGER NOT NULL,
    recorded_at BIGINT NOT NULL,
    body BLOB NOT NULL,
    hash BLOB NOT NULL,
    CONSTRAINT events_pkey PRIMARY KEY (position),
    CONSTRAINT events_stream_version UNIQUE (stream, version),
    CONSTRAINT events_stream_event_id UNIQUE (stream, event_id)
)
;
CREATE TABLE origins (
    debate_id TEXT NOT NULL,
    seal BLOB NOT NULL,
    CONSTRAINT origins_pkey PRIMARY KEY (debate_id)
)
;
CREATE TABLE parts (
    debate_id TEXT NOT NULL,
    digest BLOB NOT NULL,
    salt BLOB NOT NULL,
    content BLOB NOT NULL,
    CONSTRAINT parts_pkey PRIMARY KEY (debate_id, digest)
)
;
CREATE TABLE projections (
    name TEXT NOT NULL,
    position BIGINT NOT NULL,
    CONSTRAINT projections_pkey PRIMARY KEY (name)
)
;
CREATE TABLE run_leases (
    run_id TEXT NOT NULL,
    calls_at_most BIGINT,
    cost_at_most FLOAT,
    CONSTRAINT run_leases_pkey PRIMARY KEY (run_id)
)
;
CREATE TABLE runs (
    run_id TEXT NOT NULL,
    position BIGINT NOT NULL,
    debates INTEGER NOT NULL,
    waiting INTEGER NOT NULL,
    completed INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    cancelled INTEGER NOT NULL,
    safe_pass INTEGER NOT NULL,
    needs_review INTEGER NOT NULL,
    unsafe_fail INTEGER NOT NULL,
    first_at BIGINT NOT NULL,
    begun_at BIGINT,
    last_at BIGINT NOT NULL,
    cancelled_by TEXT,
    cases INTEGER,
    CONSTRAINT runs_pkey PRIMARY KEY (run_id)
)
;
CREATE TABLE seals (
    tree_size INTEGER NOT NULL,
    root BLOB NOT NULL,
    frontier BLOB NOT NULL,
    note BLOB NOT NULL,
    sealed_at BIGINT NOT NULL,
    CONSTRAINT seals_pkey PRIMARY KEY (tree_size)
)
;
CREATE TABLE search_texts (
    position INTEGER NOT NULL,
    debate BIGINT NOT NULL,
    terms TEXT NOT NULL,
    CONSTRAINT search_texts_pkey PRIMARY KEY (position)
)
;
CREATE INDEX search_texts_debate ON search_texts (debate)
;
CREATE TABLE streams (
    stream TEXT NOT NULL,
    version INTEGER NOT NULL,
    epoch BIGINT NOT NULL,
    hash BLOB NOT NULL,
    CONSTRAINT streams_pkey PRIMARY KEY (stream)
)
;
CREATE VIRTUAL TABLE search_index USING fts5(terms, content='search_texts', content_rowid='position', tokenize="ascii tokenchars '_'", detail=none, columnsize=0)
;
INSERT INTO counters (name, value) VALUES ('position', 0), ('epoch', 0)
;
INSERT INTO projections (name, position) VALUES ('lists', 0), ('search', 0)
;
CREATE TRIGGER events_refuse_update BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'events are append-only: UPDATE refused'); END
;
CREATE TRIGGER events_refuse_delete BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'events are append-only: DELETE refused'); END
;
CREATE TRIGGER events_refuse_replace BEFORE INSERT ON events WHEN EXISTS (SELECT 1 FROM events WHERE position = NEW.position) OR EXISTS (SELECT 1 FROM events WHERE stream = NEW.stream AND version = NEW.version) OR EXISTS (SELECT 1 FROM events WHERE stream = NEW.stream AND event_id = NEW.event_id) BEGIN SELECT RAISE(ABORT, 'events are append-only: this event is stored already'); END
;
CREATE TRIGGER parts_refuse_update BEFORE UPDATE ON parts BEGIN SELECT RAISE(ABORT, 'parts are append-only: UPDATE refused'); END
;
CREATE TRIGGER parts_refuse_delete BEFORE DELETE ON parts WHEN NOT EXISTS (SELECT 1 FROM events WHERE stream = 'debate/' || OLD.debate_id AND type = 'texts_erased' OR stream = 'batches/' || OLD.debate_id AND type = 'batch_texts_erased') BEGIN SELECT RAISE(ABORT, 'parts are append-only: DELETE refused'); END
;
CREATE TRIGGER parts_refuse_replace BEFORE INSERT ON parts WHEN EXISTS (SELECT 1 FROM parts WHERE debate_id = NEW.debate_id AND digest = NEW.digest) BEGIN SELECT RAISE(ABORT, 'parts are append-only: this part is stored already'); END
;
CREATE TRIGGER seals_refuse_update BEFORE UPDATE ON seals BEGIN SELECT RAISE(ABORT, 'seals are append-only: UPDATE refused'); END
;
CREATE TRIGGER seals_refuse_delete BEFORE DELETE ON seals BEGIN SELECT RAISE(ABORT, 'seals are append-only: DELETE refused'); END
;
CREATE TRIGGER seals_refuse_replace BEFORE INSERT ON seals WHEN EXISTS (SELECT 1 FROM seals WHERE tree_size = NEW.tree_size) BEGIN SELECT RAISE(ABORT, 'seals are append-only: this seal is stored already'); END
;
CREATE TRIGGER origins_refuse_update BEFORE UPDATE ON origins BEGIN SELECT RAISE(ABORT, 'origins are append-only: UPDATE refused'); END
;
CREATE TRIGGER origins_refuse_delete BEFORE DELETE ON origins BEGIN SELECT RAISE(ABORT, 'origins are append-only: DELETE refused'); END
;
CREATE TRIGGER origins_refuse_replace BEFORE INSERT ON origins WHEN EXISTS (SELECT 1 FROM origins WHERE debate_id = NEW.debate_id) BEGIN SELECT RAISE(ABORT, 'origins are append-only: this origin is stored already'); END
;
CREATE TRIGGER attestations_refuse_update BEFORE UPDATE ON attestations BEGIN SELECT RAISE(ABORT, 'attestations are append-only: UPDATE refused'); END
;
CREATE TRIGGER attestations_refuse_delete BEFORE DELETE ON attestations BEGIN SELECT RAISE(ABORT, 'attestations are append-only: DELETE refused'); END
;
CREATE TRIGGER attestations_refuse_replace BEFORE INSERT ON attestations WHEN EXISTS (SELECT 1 FROM attestations WHERE digest = NEW.digest) BEGIN SELECT RAISE(ABORT, 'attestations are append-only: this attestation is stored already'); END
;
CREATE TRIGGER streams_refuse_delete BEFORE DELETE ON streams BEGIN SELECT RAISE(ABORT, 'streams are append-only: DELETE refused'); END
;
CREATE TRIGGER streams_refuse_replace BEFORE INSERT ON streams WHEN EXISTS (SELECT 1 FROM streams WHERE stream = NEW.stream) BEGIN SELECT RAISE(ABORT, 'streams are append-only: this head is stored already'); END
;
CREATE TRIGGER streams_refuse_stray BEFORE INSERT ON streams WHEN ((NEW.version, NEW.hash) = (SELECT version, hash FROM events WHERE stream = NEW.stream ORDER BY version DESC LIMIT 1)) IS NOT TRUE BEGIN SELECT RAISE(ABORT, 'streams: the head of a stream is its last event, and neither its version nor its epoch goes back'); END
;
CREATE TRIGGER streams_refuse_update BEFORE UPDATE ON streams WHEN (NEW.stream = OLD.stream AND NEW.version >= OLD.version AND NEW.epoch >= OLD.epoch AND (NEW.version, NEW.hash) = (SELECT version, hash FROM events WHERE stream = NEW.stream ORDER BY version DESC LIMIT 1)) IS NOT TRUE BEGIN SELECT RAISE(ABORT, 'streams: the head of a stream is its last event, and neither its version nor its epoch goes back'); END
;
CREATE TRIGGER counters_refuse_insert BEFORE INSERT ON counters BEGIN SELECT RAISE(ABORT, 'counters are append-only: INSERT refused'); END
;
CREATE TRIGGER counters_refuse_delete BEFORE DELETE ON counters BEGIN SELECT RAISE(ABORT, 'counters are append-only: DELETE refused'); END
;
CREATE TRIGGER counters_refuse_update BEFORE UPDATE ON counters WHEN (CASE WHEN NEW.name <> OLD.name THEN FALSE WHEN OLD.name = 'epoch' THEN NEW.value = OLD.value + 1 WHEN NEW.value > OLD.value THEN NEW.value = (SELECT max(position) FROM events) AND NEW.value = (SELECT position FROM events WHERE position > OLD.value ORDER BY position LIMIT 1 OFFSET NEW.value - OLD.value - 1) END) IS NOT TRUE BEGIN SELECT RAISE(ABORT, 'counters: the position is that of the last event, without a gap, and the epoch grows by one'); END
;
