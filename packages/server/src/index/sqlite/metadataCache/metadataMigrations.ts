import type { Migration } from '../../shared/checkMigrations.ts'

/** Every step from an empty file to today's schema of the metadata cache, by the rules of the index's own. */
export const metadataMigrations: readonly Migration[] = [
  {
    version: 1,
    name: 'metadata cache',
    sql: `
      -- key: SHA-256 of the address. kind: 1 content address, 2 URL. Times in milliseconds. The body is last, so that
      -- the rest can be read without it.
      CREATE TABLE document (
        id INTEGER PRIMARY KEY,
        key BLOB NOT NULL UNIQUE,
        kind INTEGER NOT NULL,
        used_at INTEGER NOT NULL,
        weight INTEGER NOT NULL,
        fetched_at INTEGER,
        is_proven INTEGER NOT NULL,
        failures INTEGER NOT NULL,
        failed_at INTEGER,
        body BLOB
      ) STRICT;
      CREATE INDEX document_used ON document (kind, used_at);

      -- Kept by the triggers, so that nobody has to add up a large table
      CREATE TABLE usage (kind INTEGER PRIMARY KEY, weight INTEGER NOT NULL) STRICT;
      INSERT INTO usage VALUES (1, 0), (2, 0);
      CREATE TRIGGER document_added AFTER INSERT ON document BEGIN
        UPDATE usage SET weight = weight + new.weight WHERE kind = new.kind;
      END;
      CREATE TRIGGER document_changed AFTER UPDATE OF weight ON document BEGIN
        UPDATE usage SET weight = weight + new.weight - old.weight WHERE kind = new.kind;
      END;
      CREATE TRIGGER document_removed AFTER DELETE ON document BEGIN
        UPDATE usage SET weight = weight - old.weight WHERE kind = old.kind;
      END;
    `
  }
]
