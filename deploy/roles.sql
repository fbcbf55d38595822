-- The roles of a store on PostgreSQL, four logins, and their rights: docs/postgresql.md says what each may do.
--
-- Run it after `jury db upgrade`, each time, as a superuser or as the owner of the database and the store's tables who
-- may create roles:
--
--     psql -X -f roles.sql postgresql://postgres@db.example.com/jury
--
-- It is one transaction, and corrects what differs. `-v prefix=app` names the logins app_owner_login …; without it the
-- names begin with that of the database. A new login has no password: give it one with psql's \password.

\set ON_ERROR_STOP on
\set QUIET on
\if :{?prefix}
\else
    \set prefix :DBNAME
\endif
\set owner :prefix _owner_login
\set writer :prefix _writer_login
\set reader :prefix _reader_login
\set eraser :prefix _eraser_login
\set tables 'events parts seals attestations origins streams counters projections debates debate_fields runs ballots run_leases search_texts alembic_version'

BEGIN;
SET LOCAL lock_timeout = '20s';
SET LOCAL client_min_messages = error;
SELECT current_schema() AS schema, current_user AS administrator \gset

-- The roles have the rights, the logins are members of them.
SELECT format('CREATE ROLE %I NOLOGIN', role) FROM unnest(ARRAY['jury_reader', 'jury_writer', 'jury_eraser']) AS role
 WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role) \gexec
SELECT format('CREATE ROLE %I LOGIN', login) FROM unnest(ARRAY[:'owner', :'writer', :'reader', :'eraser']) AS login
 WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = login) \gexec
REVOKE jury_reader, jury_writer, jury_eraser FROM :"owner", :"writer", :"reader", :"eraser";
GRANT jury_reader TO :"reader";
GRANT jury_writer TO :"writer", :"owner";
GRANT jury_eraser TO :"eraser", :"owner";

-- Who is no superuser must be a member of the owner to give it the tables.
SELECT format('GRANT %I TO %I', :'owner', current_user)
  FROM pg_roles WHERE rolname = current_user AND NOT rolsuper \gexec

-- Nobody else may connect or make objects, temporary tables included.
REVOKE CONNECT, TEMPORARY ON DATABASE :"DBNAME" FROM PUBLIC;
GRANT CONNECT ON DATABASE :"DBNAME" TO :"owner", :"writer", :"reader", :"eraser", :"administrator";
REVOKE CREATE ON SCHEMA :"schema" FROM PUBLIC;
GRANT USAGE, CREATE ON SCHEMA :"schema" TO :"owner";
GRANT USAGE ON SCHEMA :"schema" TO jury_reader, jury_writer, jury_eraser;

-- Only the owner may change tables, triggers and functions.
SELECT format('ALTER TABLE %s OWNER TO %I', oid::regclass, :'owner') FROM pg_class
 WHERE relnamespace = current_schema()::regnamespace AND relname = ANY (string_to_array(:'tables', ' ')) \gexec
SELECT format('ALTER FUNCTION %s OWNER TO %I', oid::regprocedure, :'owner') FROM pg_proc
 WHERE pronamespace = current_schema()::regnamespace AND proname LIKE 'jury\_%' \gexec

-- What others have of the tables goes first. Rights on columns go with those on their table.
SELECT format('REVOKE ALL ON %s FROM PUBLIC, jury_reader, jury_writer, jury_eraser', oid::regclass) FROM pg_class
 WHERE relnamespace = current_schema()::regnamespace AND relname = ANY (string_to_array(:'tables', ' ')) \gexec
SELECT format('GRANT SELECT ON %s TO jury_reader, jury_writer, jury_eraser', oid::regclass) FROM pg_class
 WHERE relnamespace = current_schema()::regnamespace AND relname = ANY (string_to_array(:'tables', ' ')) \gexec
GRANT INSERT ON events, parts, seals, attestations, origins, streams TO jury_writer, jury_eraser;
GRANT UPDATE (version, epoch, hash) ON streams TO jury_writer, jury_eraser;
GRANT UPDATE (value) ON counters TO jury_writer, jury_eraser;
GRANT UPDATE (position) ON projections TO jury_writer, jury_eraser;
GRANT INSERT, UPDATE, DELETE ON debates, runs, ballots TO jury_writer, jury_eraser;
GRANT INSERT, DELETE ON debate_fields, search_texts TO jury_writer, jury_eraser;
GRANT INSERT, UPDATE (calls_at_most, cost_at_most) ON run_leases TO jury_writer, jury_eraser;
GRANT DELETE ON parts TO jury_eraser;
COMMIT;
