import { readServerFacts, StoreError } from '@chain-data/index'
import { plural } from '../../platform/plural.ts'
import type { Config } from '../config/config.ts'
import { looksAtOnce } from '../indexer/watchWriters.ts'
import { type Findings, judge, okIf } from './findings.ts'

/** Beside `storeConnections`: those of the metadata cache. */
const otherConnections = 2
/** A replica that is further behind is passed over for the primary by most answers. */
const muchLogBytes = 64 * 1024 ** 2

/** Checks that a PostgreSQL suits as the store. Nothing is written. @param url - never in a finding: it may hold a password. */
export function checkPostgres(config: Config, url: string): Promise<Findings> {
  return orRefusal(async () => {
    const { storeConnections, indexing } = config
    const ids = chainIdsOf(config)
    const facts = await readServerFacts(url, ids)
    const { isReplica, notWritable, mayCreate, notReadable, citus } = facts
    const placed = citus?.placed.map(({ schema, node }) => `${schema} on ${node}`).join(', ')
    const nodes = `${plural(citus?.nodes ?? 0, 'node')} that take${citus?.nodes === 1 ? 's' : ''} schemas; ${placed || 'no chain is on one of them'}`
    const sharding = `Citus ${citus?.version} ${citus?.shardsBySchema ? 'with' : 'without'} schema sharding, ${nodes}`
    return [
      ...judge`
        database | ${okIf(facts.encoding === 'UTF8')} | | PostgreSQL ${facts.version}, encoding ${facts.encoding} | make the database with ENCODING UTF8: problems of nodes may hold any text
        shape | ok | ${citus === undefined} | plain PostgreSQL: every chain is on this machine
        shape | error | ${citus?.isCoordinator === false} | a worker of Citus ${citus?.version} | set store to the coordinator: only there do servers see the lock of the leader
        shape | warning | ${citus?.shardsBySchema === false} | ${sharding} | for new chains: ALTER ROLE <user> SET citus.enable_schema_based_sharding = on
        shape | ${okIf(citus?.nodes !== 0)} | | ${sharding} | for new chains: SELECT citus_add_node('<host>', 5432)
        rights | error | ${indexing && isReplica} | it is a read replica: nothing can be indexed into it | set store to the primary, or indexing to false
        rights | error | ${indexing && notWritable.length > 0} | the user may not write the schemas ${notWritable.join(', ')} | use the user who owns them
        rights | warning | ${indexing && !mayCreate} | the user may not make schemas | grant it: GRANT CREATE ON DATABASE ... TO ..., or make the schemas yourself with this user as their owner
        rights | ok | ${indexing} | the user may make and write the schemas
      `,
      ...(indexing ? [] : judgeReading(notReadable)),
      ...judge`durability | warning | ${facts.fsync !== 'on'} | fsync is off: a crash of the machine may leave the database broken | set fsync = on`,
      ...judge`durability | warning | ${facts.fullPageWrites !== 'on'} | full_page_writes is off: a crash of the machine may leave half pages | set full_page_writes = on, unless the file system writes whole pages`,
      ...judge`durability | warning | ${facts.synchronousCommit === 'off'} | synchronous_commit is off: a crash costs the newest blocks, which are fetched again | nothing where that is meant; callers may see the index go back once`,
      ...judge`durability | warning | ${facts.dataChecksums !== 'on'} | data_checksums is off: PostgreSQL does not notice a damaged page | stop the database and run pg_checksums --enable`,
      ...judgeConnections(facts, storeConnections + otherConnections + (indexing ? ids.length : looksAtOnce)),
      ...ids.flatMap(chainId => {
        const writer = facts.written.includes(chainId) ? 'a running server writes' : 'nobody writes'
        return judge`writer ${chainId} | ok | | ${writer} this index`
      })
    ]
  })
}

/** Checks that a read replica of the store is one, and how far it is behind. */
export function checkReplica(config: Config, primaryUrl: string, url: string): Promise<Findings> {
  return orRefusal(async () => {
    const replica = await readServerFacts(url, chainIdsOf(config))
    // Asked after the replica: what was written between the two counts as behind.
    const primary = await readServerFacts(primaryUrl, chainIdsOf(config)).catch(() => undefined)
    const ids = [replica.systemIdentifier, primary?.systemIdentifier]
    const behind = Math.max(0, (primary?.logPosition ?? 0) - replica.logPosition)
    return [
      ...judge`database | ok | | PostgreSQL ${replica.version}, encoding ${replica.encoding}`,
      ...judgeReading(replica.notReadable),
      ...judge`
        replication | warning | ${!replica.isReplica} | it takes writes, so it is no replica | after a fail-over set store to it; else take it out: it may hold something else
        replication | warning | ${primary === undefined} | the primary does not answer, so nobody knows how far it is
        replication | error | ${ids[0] !== ids[1] && !ids.includes(undefined)} | it follows another primary than the one in store | take it out: answers would come from another database
        replication | ${okIf(behind <= muchLogBytes)} | | ${Math.ceil(behind / 1024)} KiB of the write-ahead log behind | the primary answers meanwhile: look for a slow disk or network, or long queries on it
      `,
      ...judgeConnections(replica, config.storeConnections)
    ]
  })
}

async function orRefusal(check: () => Promise<Findings>): Promise<Findings> {
  try {
    return await check()
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    return judge`
      database | error | ${error.retryable} | ${error.message} | check that it runs, its address, and what stands between (pg_hba.conf, firewalls)
      database | error | | ${error.message} | check its version, the name of the database, and name, password and rights of the user
    `
  }
}

function chainIdsOf({ chains }: Config): readonly number[] {
  return chains.evm.map(({ chainId }) => chainId)
}

function judgeReading(notReadable: readonly string[]): Findings {
  return judge`
    rights | ok | ${notReadable.length === 0} | the user may read the schemas
    rights | error | | the user may not read the schemas ${notReadable.join(', ')} | grant USAGE on them, and SELECT on all tables in them
  `
}

function judgeConnections(facts: { mostConnections: number; takenConnections: number }, wanted: number) {
  const { mostConnections: most, takenConnections: taken } = facts
  return judge`connections | ${okIf(wanted <= most - taken)} | | this server opens up to ${wanted}; ${taken} of ${most} are taken | raise max_connections, or lower storeConnections; where a server runs, some are its own`
}
