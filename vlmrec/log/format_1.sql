-- Format 1 of the vlmrec run log: the whole of what a log holds besides its rows. Frozen once released.
-- `vlmrec verify` compares a log's schema with this file, statement by statement. docs/log.md has the reasons.

CREATE TABLE log (
  format INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('run', 'derived', 'probe', 'labels')),
  uuid TEXT NOT NULL,
  created TEXT NOT NULL,
  parent_uuid TEXT,
  parent_head TEXT,
  requires TEXT NOT NULL
) STRICT;

CREATE TABLE blobs (
  sha256 TEXT PRIMARY KEY NOT NULL,
  media_type TEXT NOT NULL,
  body BLOB NOT NULL
) STRICT;

CREATE TABLE events (
  seq INTEGER PRIMARY KEY NOT NULL,
  id TEXT NOT NULL UNIQUE,
  type TEXT NOT NULL,
  version INTEGER NOT NULL,
  time TEXT NOT NULL,
  subject TEXT,
  correlation TEXT,
  causation TEXT,
  data TEXT NOT NULL,
  hash TEXT NOT NULL
) STRICT;

CREATE INDEX events_by_subject ON events (subject, seq);

CREATE INDEX events_by_type ON events (type, seq);

CREATE TRIGGER log_no_second_row BEFORE INSERT ON log WHEN EXISTS (SELECT 1 FROM log)
BEGIN SELECT RAISE(ABORT, 'append-only: the log is described once'); END;

CREATE TRIGGER log_no_update BEFORE UPDATE ON log
BEGIN SELECT RAISE(ABORT, 'append-only: log takes no UPDATE'); END;

CREATE TRIGGER log_no_delete BEFORE DELETE ON log
BEGIN SELECT RAISE(ABORT, 'append-only: log takes no DELETE'); END;

CREATE TRIGGER blobs_no_second_body BEFORE INSERT ON blobs WHEN EXISTS (SELECT 1 FROM blobs WHERE sha256 = NEW.sha256)
BEGIN SELECT RAISE(ABORT, 'append-only: this blob exists'); END;

CREATE TRIGGER blobs_no_update BEFORE UPDATE ON blobs
BEGIN SELECT RAISE(ABORT, 'append-only: blobs takes no UPDATE'); END;

CREATE TRIGGER blobs_no_delete BEFORE DELETE ON blobs
BEGIN SELECT RAISE(ABORT, 'append-only: blobs takes no DELETE'); END;

CREATE TRIGGER events_in_sequence BEFORE INSERT ON events
WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM events)
BEGIN SELECT RAISE(ABORT, 'append-only: seq is not the next'); END;

CREATE TRIGGER events_no_second_id BEFORE INSERT ON events WHEN EXISTS (SELECT 1 FROM events WHERE id = NEW.id)
BEGIN SELECT RAISE(ABORT, 'append-only: this event id exists'); END;

CREATE TRIGGER events_no_update BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'append-only: events takes no UPDATE'); END;

CREATE TRIGGER events_no_delete BEFORE DELETE ON events
BEGIN SELECT RAISE(ABORT, 'append-only: events takes no DELETE'); END;
