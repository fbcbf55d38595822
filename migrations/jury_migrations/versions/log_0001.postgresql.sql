CREATE TABLE attestations (
    digest BYTEA NOT NULL,
    tree_size BIGINT NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    content BYTEA NOT NULL,
    kept_at BIGINT NOT NULL,
    CONSTRAINT attestations_pkey PRIMARY KEY (digest)
)
;
CREATE TABLE ballots (
    debate_id TEXT COLLATE "C" NOT NULL,
    panel TEXT COLLATE "C",
    votes TEXT,
    CONSTRAINT ballots_pkey PRIMARY KEY (debate_id)
)
;
CREATE TABLE counters (
    name TEXT COLLATE "C" NOT NULL,
    value BIGINT NOT NULL,
    CONSTRAINT counters_pkey PRIMARY KEY (name)
)
;
CREATE TABLE debate_fields (
    position BIGINT NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    value TEXT COLLATE "C" NOT NULL,
    CONSTRAINT debate_fields_pkey PRIMARY KEY (position, name, value)
)
;
CREATE INDEX debate_fields_value ON debate_fields (name, value, position)
;
CREATE TABLE debates (
    debate_id TEXT COLLATE "C" NOT NULL,
    position BIGINT NOT NULL,
    run_id TEXT COLLATE "C",
    case_id TEXT COLLATE "C" NOT NULL,
    status TEXT COLLATE "C" NOT NULL,
    waiting BOOLEAN NOT NULL,
    rounds INTEGER NOT NULL,
    method TEXT COLLATE "C" NOT NULL,
    simulated BOOLEAN NOT NULL,
    label TEXT COLLATE "C",
    cluster TEXT COLLATE "C",
    tags TEXT NOT NULL,
    metadata TEXT NOT NULL,
    agent_cost FLOAT,
    models TEXT,
    inherited_steps TEXT,
    not_shown INTEGER NOT NULL,
    case_part BYTEA NOT NULL,
    opened_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    begun_at BIGINT,
    ended_at BIGINT,
    final_verdict TEXT COLLATE "C",
    final_label TEXT COLLATE "C",
    final_score INTEGER,
    total_rounds INTEGER,
    early_termination BOOLEAN,
    end_reason TEXT COLLATE "C",
    decided_by TEXT COLLATE "C",
    quorum_met BOOLEAN,
    accepted BOOLEAN,
    partly_read TEXT,
    sides TEXT COLLATE "C",
    agreement FLOAT,
    stage INTEGER,
    stages INTEGER,
    aside TEXT COLLATE "C",
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
    imported TEXT COLLATE "C",
    imported_from TEXT COLLATE "C",
    quarantined TEXT COLLATE "C",
    human_verdict TEXT COLLATE "C",
    reviews TEXT,
    assignments TEXT,
    problem TEXT COLLATE "C",
    CONSTRAINT debates_pkey PRIMARY KEY (debate_id)
)
;
CREATE INDEX debates_begun ON debates (position) WHERE NOT waiting
;
CREATE UNIQUE INDEX debates_position ON debates (position)
;
CREATE INDEX debates_run ON debates (run_id, position)
;
CREATE INDEX debates_run_aside ON debates (run_id, position) WHERE aside IS NOT NULL
;
CREATE INDEX debates_run_begun ON debates (run_id, position) WHERE NOT waiting
;
CREATE INDEX debates_run_imported ON debates (run_id, position) WHERE imported IS NOT NULL
;
CREATE INDEX debates_run_unfinished ON debates (run_id, position) WHERE ended_at IS NULL AND NOT waiting
;
CREATE INDEX debates_run_unreadable ON debates (run_id, position) WHERE problem IS NOT NULL
;
CREATE INDEX debates_unfinished ON debates (position) WHERE ended_at IS NULL AND NOT waiting
;
CREATE INDEX debates_waiting ON debates (run_id, position, aside, quarantined) WHERE waiting
;
CREATE TABLE events (
    position BIGINT NOT NULL,
    stream TEXT COLLATE "C" NOT NULL,
    version INTEGER NOT NULL,
    event_id TEXT COLLATE "C" NOT NULL,
    type TEXT COLLATE "C" NOT NULL,
    schema INTEGER NOT NULL,
    recorded_at BIGINT NOT NULL,
    body BYTEA NOT NULL,
    hash BYTEA NOT NULL,
    CONSTRAINT events_pkey PRIMARY KEY (position),
    CONSTRAINT events_stream_version UNIQUE (stream, version),
    CONSTRAINT events_stream_event_id UNIQUE (stream, event_id)
)
;
CREATE TABLE origins (
    debate_id TEXT COLLATE "C" NOT NULL,
    seal BYTEA NOT NULL,
    CONSTRAINT origins_pkey PRIMARY KEY (debate_id)
)
;
CREATE TABLE parts (
    debate_id TEXT COLLATE "C" NOT NULL,
    digest BYTEA NOT NULL,
    salt BYTEA NOT NULL,
    content BYTEA NOT NULL,
    CONSTRAINT parts_pkey PRIMARY KEY (debate_id, digest)
)
;
CREATE TABLE projections (
    name TEXT COLLATE "C" NOT NULL,
    position BIGINT NOT NULL,
    CONSTRAINT projections_pkey PRIMARY KEY (name)
)
;
CREATE TABLE run_leases (
    run_id TEXT COLLATE "C" NOT NULL,
    calls_at_most BIGINT,
    cost_at_most FLOAT,
    CONSTRAINT run_leases_pkey PRIMARY KEY (run_id)
)
;
CREATE TABLE runs (
    run_id TEXT COLLATE "C" NOT NULL,
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
    tree_size BIGINT NOT NULL,
    root BYTEA NOT NULL,
    frontier BYTEA NOT NULL,
    note BYTEA NOT NULL,
    sealed_at BIGINT NOT NULL,
    CONSTRAINT seals_pkey PRIMARY KEY (tree_size)
)
;
CREATE TABLE search_texts (
    position BIGINT NOT NULL,
    debate BIGINT NOT NULL,
    terms TEXT NOT NULL,
    CONSTRAINT search_texts_pkey PRIMARY KEY (position)
)
;
CREATE INDEX search_texts_debate ON search_texts (debate)
;
CREATE TABLE streams (
    stream TEXT COLLATE "C" NOT NULL,
    version INTEGER NOT NULL,
    epoch BIGINT NOT NULL,
    hash BYTEA NOT NULL,
    CONSTRAINT streams_pkey PRIMARY KEY (stream)
)
;
CREATE INDEX search_index ON search_texts USING gin (array_to_tsvector(string_to_array(terms, ' ')))
;
INSERT INTO counters (name, value) VALUES ('position', 0), ('epoch', 0)
;
INSERT INTO projections (name, position) VALUES ('lists', 0), ('search', 0)
;
CREATE FUNCTION jury_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE EXCEPTION '% are append-only: % refused', TG_TABLE_NAME, TG_OP USING ERRCODE = 'insufficient_privilege'; END$$
;
DO $$ BEGIN EXECUTE format('ALTER FUNCTION jury_refuse_change() SET search_path = %I, pg_temp', current_schema()); END $$
;
CREATE FUNCTION jury_refuse_unrecorded_erasure() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN IF EXISTS (SELECT 1 FROM events WHERE stream = 'debate/' || OLD.debate_id AND type = 'texts_erased' OR stream = 'batches/' || OLD.debate_id AND type = 'batch_texts_erased') THEN RETURN OLD; END IF; RAISE EXCEPTION 'parts are append-only: DELETE refused, no erasure of % is recorded', OLD.debate_id USING ERRCODE = 'insufficient_privilege'; END$$
;
DO $$ BEGIN EXECUTE format('ALTER FUNCTION jury_refuse_unrecorded_erasure() SET search_path = %I, pg_temp', current_schema()); END $$
;
CREATE FUNCTION jury_refuse_other_head() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN IF (TG_OP = 'INSERT' OR NEW.stream = OLD.stream AND NEW.version >= OLD.version AND NEW.epoch >= OLD.epoch) AND (NEW.version, NEW.hash) = (SELECT version, hash FROM events WHERE stream = NEW.stream ORDER BY version DESC LIMIT 1) THEN RETURN NEW; END IF; RAISE EXCEPTION 'streams: % refused, the head of a stream is its last event, and neither its version nor its epoch goes back', TG_OP USING ERRCODE = 'insufficient_privilege'; END$$
;
DO $$ BEGIN EXECUTE format('ALTER FUNCTION jury_refuse_other_head() SET search_path = %I, pg_temp', current_schema()); END $$
;
CREATE FUNCTION jury_refuse_other_count() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN IF (CASE WHEN NEW.name <> OLD.name THEN FALSE WHEN OLD.name = 'epoch' THEN NEW.value = OLD.value + 1 WHEN NEW.value > OLD.value THEN NEW.value = (SELECT max(position) FROM events) AND NEW.value = (SELECT position FROM events WHERE position > OLD.value ORDER BY position LIMIT 1 OFFSET NEW.value - OLD.value - 1) END) THEN RETURN NEW; END IF; RAISE EXCEPTION 'counters: % refused, the position is that of the last event, without a gap, and the epoch grows by one', TG_OP USING ERRCODE = 'insufficient_privilege'; END$$
;
DO $$ BEGIN EXECUTE format('ALTER FUNCTION jury_refuse_other_count() SET search_path = %I, pg_temp', current_schema()); END $$
;
CREATE TRIGGER events_refuse_change BEFORE UPDATE OR DELETE ON events FOR EACH ROW EXECUTE FUNCTION jury_refuse_change()
;
ALTER TABLE events ENABLE ALWAYS TRIGGER events_refuse_change
;
CREATE TRIGGER seals_refuse_change BEFORE UPDATE OR DELETE ON seals FOR EACH ROW EXECUTE FUNCTION jury_refuse_change()
;
ALTER TABLE seals ENABLE ALWAYS TRIGGER seals_refuse_change
;
CREATE TRIGGER origins_refuse_change BEFORE UPDATE OR DELETE ON origins FOR EACH ROW EXECUTE FUNCTION jury_refuse_change()
;
ALTER TABLE origins ENABLE ALWAYS TRIGGER origins_refuse_change
;
CREATE TRIGGER attestations_refuse_change BEFORE UPDATE OR DELETE ON attestations FOR EACH ROW EXECUTE FUNCTION jury_refuse_change()
;
ALTER TABLE attestations ENABLE ALWAYS TRIGGER attestations_refuse_change
;
CREATE TRIGGER events_refuse_truncate BEFORE TRUNCATE ON events FOR EACH STATEMENT EXECUTE FUNCTION jury_refuse_change()
;
ALTER TABLE events ENABLE ALWAYS TRIGGER events_refuse_truncate
;
CREATE TRIGGER parts_refuse_truncate BEFORE TRUNCATE ON parts FOR EACH STATEMENT EXECUTE FUNCTION jury_refuse_change()
;
ALTER TABLE parts ENABLE ALWAYS TRIGGER parts_refuse_truncate
;
CREATE TRIGGER seals_refuse_truncate BEFORE TRUNCATE ON seals FOR EACH STATEMENT EXECUTE FUNCTION jury_refuse_change()
;
ALTER TABLE seals ENABLE ALWAYS TRIGGER seals_refuse_truncate
;
CREATE TRIGGER origins_refuse_truncate BEFORE TRUNCATE ON origins FOR EACH STATEMENT EXECUTE FUNCTION jury_refuse_change()
;
ALTER TABLE origins ENABLE ALWAYS TRIGGER origins_refuse_truncate
;
CREATE TRIGGER attestations_refuse_truncate BEFORE TRUNCATE ON attestations FOR EACH STATEMENT EXECUTE FUNCTION jury_refuse_change()
;
ALTER TABLE attestations ENABLE ALWAYS TRIGGER attestations_refuse_truncate
;
CREATE TRIGGER streams_refuse_truncate BEFORE TRUNCATE ON streams FOR EACH STATEMENT EXECUTE FUNCTION jury_refuse_change()
;
ALTER TABLE streams ENABLE ALWAYS TRIGGER streams_refuse_truncate
;
CREATE TRIGGER counters_refuse_truncate BEFORE TRUNCATE ON counters FOR EACH STATEMENT EXECUTE FUNCTION jury_refuse_change()
;
ALTER TABLE counters ENABLE ALWAYS TRIGGER counters_refuse_truncate
;
CREATE TRIGGER parts_refuse_update BEFORE UPDATE ON parts FOR EACH ROW EXECUTE FUNCTION jury_refuse_change()
;
ALTER TABLE parts ENABLE ALWAYS TRIGGER parts_refuse_update
;
CREATE TRIGGER parts_refuse_delete BEFORE DELETE ON parts FOR EACH ROW EXECUTE FUNCTION jury_refuse_unrecorded_erasure()
;
ALTER TABLE parts ENABLE ALWAYS TRIGGER parts_refuse_delete
;
CREATE TRIGGER streams_refuse_delete BEFORE DELETE ON streams FOR EACH ROW EXECUTE FUNCTION jury_refuse_change()
;
ALTER TABLE streams ENABLE ALWAYS TRIGGER streams_refuse_delete
;
CREATE TRIGGER streams_refuse_other BEFORE INSERT OR UPDATE ON streams FOR EACH ROW EXECUTE FUNCTION jury_refuse_other_head()
;
ALTER TABLE streams ENABLE ALWAYS TRIGGER streams_refuse_other
;
CREATE TRIGGER counters_refuse_change BEFORE INSERT OR DELETE ON counters FOR EACH ROW EXECUTE FUNCTION jury_refuse_change()
;
ALTER TABLE counters ENABLE ALWAYS TRIGGER counters_refuse_change
;
CREATE TRIGGER counters_refuse_other BEFORE UPDATE ON counters FOR EACH ROW EXECUTE FUNCTION jury_refuse_other_count()
;
ALTER TABLE counters ENABLE ALWAYS TRIGGER counters_refuse_other
;
ALTER TABLE parts ALTER COLUMN content SET STATISTICS 0
;
ALTER TABLE search_texts ALTER COLUMN terms SET STATISTICS 0
;
ALTER INDEX search_index ALTER COLUMN 1 SET STATISTICS 0
;
