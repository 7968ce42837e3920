import { readServerFacts, type ServerFacts } from '../../index/postgres/serverFacts.ts'
import { StoreError } from '../../platform/errors.ts'
import type { Config } from '../config/config.ts'
import { looksAtOnce } from '../indexer/watchWriters.ts'
import { type Finding, failure, ok, warning } from './findings.ts'

/** Beside `storeConnections`: the metadata cache's. */
const metadataConnections = 2
/** A replica that is further behind is passed over for the primary by most answers. */
const muchLogBytes = 64 * 1024 ** 2
const createAdvice =
  'grant it: GRANT CREATE ON DATABASE ... TO ..., or make the schemas yourself with this user as their owner'

/**
 * Whether a PostgreSQL suits as the store: reachable, new enough, the rights of its user, and settings that risk the index
 * or are too small. Nothing is written.
 *
 * @param url - never in a finding: it may hold a password.
 */
export async function checkPostgres(config: Config, url: string): Promise<readonly Finding[]> {
  return withFacts(config, url, facts => [
    serverFinding(facts),
    ...roleFindings(facts, config.indexing),
    ...durabilityFindings(facts),
    connectionFinding(facts, wantedConnections(config)),
    ...writerFindings(facts, config)
  ])
}

/** Whether a read replica of the store is one, and how far it is behind. */
export async function checkReplica(
  config: Config,
  primaryUrl: string,
  url: string
): Promise<readonly Finding[]> {
  return withFacts(config, url, async facts => [
    serverFinding(facts),
    ...readFindings(facts),
    await followingFinding(facts, config, primaryUrl),
    connectionFinding(facts, config.storeConnections)
  ])
}

async function withFacts(
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
  const found = `PostgreSQL ${version}, encoding ${encoding}`
  if (encoding === 'UTF8') return ok('database', found)
  const advice = 'make the database with ENCODING UTF8: problems of nodes may hold any text'
  return warning('database', found, advice)
}

function roleFindings(facts: ServerFacts, isIndexing: boolean): readonly Finding[] {
  if (!isIndexing) return readFindings(facts)
  const check = 'rights'
  if (facts.isReplica) {
    const advice = 'set store to the primary, or indexing to false'
    return [failure(check, 'it is a read replica: nothing can be indexed into it', advice)]
  }
  if (facts.notWritable.length > 0) {
    const found = `the user may not write the schemas ${facts.notWritable.join(', ')}`
    return [failure(check, found, 'use the user who owns them')]
  }
  if (!facts.mayCreate) {
    // Where all schemas are there already, nothing has to be made.
    return [warning(check, 'the user may not make schemas', createAdvice)]
  }
  return [ok(check, 'the user may make and write the schemas')]
}

function readFindings({ notReadable }: ServerFacts): readonly Finding[] {
  const check = 'rights'
  if (notReadable.length === 0) return [ok(check, 'the user may read the schemas')]
  const found = `the user may not read the schemas ${notReadable.join(', ')}`
  return [failure(check, found, 'grant USAGE on them, and SELECT on all tables in them')]
}

function durabilityFindings(facts: ServerFacts): readonly Finding[] {
  const check = 'durability'
  const findings: Finding[] = []
  const warn = (found: string, advice: string) => findings.push(warning(check, found, advice))
  if (facts.fsync !== 'on') {
    warn('fsync is off: a crash of the machine may leave the database broken', 'set fsync = on')
  }
  if (facts.fullPageWrites !== 'on') {
    const found = 'full_page_writes is off: a crash of the machine may leave half pages'
    warn(found, 'set full_page_writes = on, unless the file system writes whole pages')
  }
  if (facts.synchronousCommit === 'off') {
    const found = 'synchronous_commit is off: a crash costs the newest blocks, which are fetched again'
    warn(found, 'nothing where that is meant; callers may see the index go back once')
  }
  if (findings.length > 0) return findings
  return [ok(check, 'fsync and full_page_writes are on')]
}

function wantedConnections({ storeConnections, indexing, chains }: Config): number {
  return storeConnections + metadataConnections + (indexing ? chains.evm.length : looksAtOnce)
}

function connectionFinding({ mostConnections, takenConnections }: ServerFacts, wanted: number): Finding {
  const check = 'connections'
  const found = `this server opens up to ${wanted}; ${takenConnections} of ${mostConnections} are taken`
  if (wanted <= mostConnections - takenConnections) return ok(check, found)
  const advice = 'raise max_connections, or lower storeConnections; where a server runs, some are its own'
  return warning(check, found, advice)
}

/** Several servers may share a database, so none of this is wrong. */
function writerFindings({ written }: ServerFacts, config: Config): readonly Finding[] {
  return chainIdsOf(config).map(chainId =>
    ok(
      `writer ${chainId}`,
      written.includes(chainId) ? 'a running server writes this index' : 'nobody writes this index'
    )
  )
}

async function followingFinding(facts: ServerFacts, config: Config, primaryUrl: string): Promise<Finding> {
  const check = 'replication'
  if (!facts.isReplica) {
    const advice = 'after a fail-over set store to it; else take it out: it may hold something else'
    return warning(check, 'it takes writes, so it is no replica', advice)
  }
  const primary = await readServerFacts(primaryUrl, chainIdsOf(config)).catch(() => undefined)
  if (primary === undefined) {
    return warning(check, 'the primary does not answer, so nobody knows how far it is')
  }
  const ids = [facts.systemIdentifier, primary.systemIdentifier]
  if (ids[0] !== ids[1] && !ids.includes(undefined)) {
    const advice = 'take it out: answers would come from another database'
    return failure(check, 'it follows another primary than the one in store', advice)
  }
  // Asked after the replica: what was written between the two counts as behind.
  const behind = Math.max(0, primary.logPosition - facts.logPosition)
  const found = `${Math.ceil(behind / 1024)} KiB of the write-ahead log behind`
  if (behind <= muchLogBytes) return ok(check, found)
  const advice = 'the primary answers meanwhile: look for a slow disk or network, or long queries on it'
  return warning(check, found, advice)
}
