import { readServerFacts, type ServerFacts } from '../../index/postgres/serverFacts.ts'
import { StoreError } from '../../platform/errors.ts'
import type { Config } from '../config/config.ts'
import { looksAtOnce } from '../indexer/watchWriters.ts'
import { type Finding, failure, ok, warning, warnUnless } from './findings.ts'

/** Beside `storeConnections`: those of the metadata cache. */
const otherConnections = 2
/** A replica that is further behind is passed over for the primary by most answers. */
const muchLogBytes = 64 * 1024 ** 2
const createAdvice =
  'grant it: GRANT CREATE ON DATABASE ... TO ..., or make the schemas yourself with this user as their owner'

/**
 * Checks that a PostgreSQL suits as the store: reachable, new enough, the rights of its user, and settings that risk the
 * index or are too small. Nothing is written.
 *
 * @param url - never in a finding: it may hold a password.
 */
export async function checkPostgres(config: Config, url: string): Promise<readonly Finding[]> {
  return judgeFacts(config, url, facts => [
    serverFinding(facts),
    shapeFinding(facts),
    config.indexing ? writeFinding(facts) : readFinding(facts),
    ...durabilityFindings(facts),
    connectionFinding(facts, wantedConnections(config)),
    // Several servers may share a database, so none of this is wrong.
    ...chainIdsOf(config).map(chainId =>
      ok(
        `writer ${chainId}`,
        facts.written.includes(chainId) ? 'a running server writes this index' : 'nobody writes this index'
      )
    )
  ])
}

/** Checks that a read replica of the store is one, and how far it is behind. */
export async function checkReplica(
  config: Config,
  primaryUrl: string,
  url: string
): Promise<readonly Finding[]> {
  return judgeFacts(config, url, async facts => [
    serverFinding(facts),
    readFinding(facts),
    await followingFinding(facts, config, primaryUrl),
    connectionFinding(facts, config.storeConnections)
  ])
}

async function judgeFacts(
  config: Config,
  url: string,
  judge: (facts: ServerFacts) => readonly Finding[] | Promise<readonly Finding[]>
): Promise<readonly Finding[]> {
  try {
    return await judge(await readServerFacts(url, chainIdsOf(config)))
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    const advice = error.retryable
      ? 'check that it runs, its address, and what stands between (pg_hba.conf, firewalls)'
      : 'check its version, the name of the database, and name, password and rights of the user'
    return [failure('database', error.message, advice)]
  }
}

function chainIdsOf({ chains }: Config): readonly number[] {
  return chains.evm.map(({ chainId }) => chainId)
}

function serverFinding({ version, encoding }: ServerFacts): Finding {
  const advice = 'make the database with ENCODING UTF8: problems of nodes may hold any text'
  return warnUnless(encoding === 'UTF8', 'database', `PostgreSQL ${version}, encoding ${encoding}`, advice)
}

/** Which shape of a database it is: plain, or one of Citus, and where each chain is. */
function shapeFinding({ citus }: ServerFacts): Finding {
  const check = 'shape'
  if (citus === undefined) return ok(check, 'plain PostgreSQL: every chain is on this machine')
  const { version, isCoordinator, shardsBySchema, nodes, placed } = citus
  if (!isCoordinator) {
    const advice = 'set store to the coordinator: only there do servers see the lock of the leader'
    return failure(check, `a worker of Citus ${version}`, advice)
  }
  const places = placed.map(({ schema, node }) => `${schema} on ${node}`)
  const found = `Citus ${version} ${shardsBySchema ? 'with' : 'without'} schema sharding, ${nodes} nodes that take schemas; ${places.join(', ') || 'no chain is on one of them'}`
  const advice = shardsBySchema
    ? "for new chains: SELECT citus_add_node('<host>', 5432)"
    : 'for new chains: ALTER ROLE <user> SET citus.enable_schema_based_sharding = on'
  return warnUnless(shardsBySchema && nodes > 0, check, found, advice)
}

function writeFinding(facts: ServerFacts): Finding {
  const check = 'rights'
  if (facts.isReplica) {
    const advice = 'set store to the primary, or indexing to false'
    return failure(check, 'it is a read replica: nothing can be indexed into it', advice)
  }
  if (facts.notWritable.length > 0) {
    const found = `the user may not write the schemas ${facts.notWritable.join(', ')}`
    return failure(check, found, 'use the user who owns them')
  }
  // Where all schemas are there already, nothing has to be made.
  if (!facts.mayCreate) return warning(check, 'the user may not make schemas', createAdvice)
  return ok(check, 'the user may make and write the schemas')
}

function readFinding({ notReadable }: ServerFacts): Finding {
  const check = 'rights'
  if (notReadable.length === 0) return ok(check, 'the user may read the schemas')
  const found = `the user may not read the schemas ${notReadable.join(', ')}`
  return failure(check, found, 'grant USAGE on them, and SELECT on all tables in them')
}

function durabilityFindings(facts: ServerFacts): readonly Finding[] {
  const check = 'durability'
  const risks = [
    facts.fsync !== 'on' &&
      warning(check, 'fsync is off: a crash of the machine may leave the database broken', 'set fsync = on'),
    facts.fullPageWrites !== 'on' &&
      warning(
        check,
        'full_page_writes is off: a crash of the machine may leave half pages',
        'set full_page_writes = on, unless the file system writes whole pages'
      ),
    facts.synchronousCommit === 'off' &&
      warning(
        check,
        'synchronous_commit is off: a crash costs the newest blocks, which are fetched again',
        'nothing where that is meant; callers may see the index go back once'
      ),
    facts.dataChecksums !== 'on' &&
      warning(
        check,
        'data_checksums is off: PostgreSQL does not notice a damaged page',
        'stop the database and run pg_checksums --enable'
      )
  ].filter(risk => risk !== false)
  return risks.length > 0 ? risks : [ok(check, 'fsync, full_page_writes and data_checksums are on')]
}

function wantedConnections({ storeConnections, indexing, chains }: Config): number {
  return storeConnections + otherConnections + (indexing ? chains.evm.length : looksAtOnce)
}

function connectionFinding({ mostConnections, takenConnections }: ServerFacts, wanted: number): Finding {
  const found = `this server opens up to ${wanted}; ${takenConnections} of ${mostConnections} are taken`
  const advice = 'raise max_connections, or lower storeConnections; where a server runs, some are its own'
  return warnUnless(wanted <= mostConnections - takenConnections, 'connections', found, advice)
}

async function followingFinding(facts: ServerFacts, config: Config, primaryUrl: string): Promise<Finding> {
  const check = 'replication'
  if (!facts.isReplica) {
    const advice = 'after a fail-over set store to it; else take it out: it may hold something else'
    return warning(check, 'it takes writes, so it is no replica', advice)
  }
  const primary = await readServerFacts(primaryUrl, chainIdsOf(config)).catch(() => undefined)
  if (primary === undefined) {
    const found = 'the primary does not answer, so nobody knows how far it is'
    return { check, state: 'warning', found }
  }
  const ids = [facts.systemIdentifier, primary.systemIdentifier]
  if (ids[0] !== ids[1] && !ids.includes(undefined)) {
    const advice = 'take it out: answers would come from another database'
    return failure(check, 'it follows another primary than the one in store', advice)
  }
  // Asked after the replica: what was written between the two counts as behind.
  const behind = Math.max(0, primary.logPosition - facts.logPosition)
  const found = `${Math.ceil(behind / 1024)} KiB of the write-ahead log behind`
  const advice = 'the primary answers meanwhile: look for a slow disk or network, or long queries on it'
  return warnUnless(behind <= muchLogBytes, check, found, advice)
}
