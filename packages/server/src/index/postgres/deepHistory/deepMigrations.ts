import type { Migration } from '../../shared/checkMigrations.ts'

/** The schema that holds what lies below the indexes of all chains; nothing else is in it. */
export const deepSchema = 'chain_data_deep'

/** Every step from an empty schema to today's of the deep history cache, by the rules of the index's own. */
export const deepMigrations: readonly Migration[] = [
  {
    version: 1,
    name: 'deep history cache',
    sql: `
      -- Everything from records_from and candidates_from up to the anchor, the first block of the index, is known.
      -- Ids are never used again, so that a reader notices when its account has left and come back.
      CREATE TABLE account (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        chain bigint NOT NULL,
        address bytea NOT NULL,
        anchor_number bigint NOT NULL,
        anchor_hash bytea NOT NULL,
        records_from bigint NOT NULL,
        candidates_from bigint NOT NULL,
        used_at bigint NOT NULL,
        weight bigint NOT NULL,
        UNIQUE (chain, address)
      );
      CREATE INDEX account_used ON account (chain, used_at, id);
      CREATE TABLE record (
        account bigint NOT NULL, tx bigint NOT NULL, hash bytea NOT NULL, rec bytea NOT NULL,
        PRIMARY KEY (account, tx)
      );
      CREATE INDEX record_hash ON record USING hash (hash);
      CREATE TABLE candidate (account bigint NOT NULL, held bytea NOT NULL, PRIMARY KEY (account, held));

      -- Accounts that have left; their rows are removed some at a time.
      CREATE TABLE dropped (account bigint PRIMARY KEY);
      -- Kept by the trigger, so that nobody has to add up a large table. Whoever writes holds a lock of the chain's cache.
      CREATE TABLE usage (chain bigint PRIMARY KEY, weight bigint NOT NULL);
      CREATE FUNCTION weigh_account() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
      BEGIN
        IF TG_OP = 'DELETE' THEN
          INSERT INTO dropped VALUES (OLD.id);
          UPDATE usage SET weight = weight - OLD.weight WHERE chain = OLD.chain;
        ELSIF TG_OP = 'UPDATE' THEN
          UPDATE usage SET weight = weight + NEW.weight - OLD.weight WHERE chain = NEW.chain;
        ELSE
          INSERT INTO usage AS kept VALUES (NEW.chain, NEW.weight)
            ON CONFLICT (chain) DO UPDATE SET weight = kept.weight + NEW.weight;
        END IF;
        RETURN NULL;
      END
      $$;
      CREATE TRIGGER account_weighed AFTER INSERT OR DELETE OR UPDATE OF weight ON account
        FOR EACH ROW EXECUTE FUNCTION weigh_account();
    `
  }
]
