import type { StoreLocation } from '@chain-data/index'
import { ConfigError } from '../../platform/errors.ts'

/** An index that is gone with the process; the caller gives it a temporary folder. */
export interface MemoryStore {
  readonly kind: 'memory'
}

const expected = 'expected sqlite:<folder>, sqlite::memory: or postgres://<user>@<host>/<database>'
const expectedReplica = 'expected postgres://<user>@<host>/<database>'

/**
 * Reads the settings `store` and `storeReplicas`.
 * @throws {ConfigError} one is none of the known forms. The message names the scheme only: what follows it may hold a
 *   password.
 */
export function parseStoreUrl(url: string, replicaUrls: readonly string[] = []): StoreLocation | MemoryStore {
  const location = parseLocation(url)
  if (location.kind === 'postgres' && replicaUrls.length > 0) {
    return {
      ...location,
      replicaUrls: replicaUrls.map(replica => requirePostgresUrl(replica, 'storeReplicas'))
    }
  }
  if (replicaUrls.length > 0) {
    throw new ConfigError(
      `storeReplicas has ${replicaUrls.length} URLs, and store is no PostgreSQL; expected an empty list`
    )
  }
  return location
}

/** What a configuration says of stores. */
interface StoreSettings {
  readonly store: string
  readonly chains: { readonly evm: readonly { readonly chainId: number; readonly store: string | null }[] }
}

/**
 * Returns where the index of a chain is written: in a store of its own, or in that of the whole configuration, which has all
 * that belongs to no chain, too. Replicas are left out.
 * @throws {ConfigError} it cannot be understood.
 */
export function storeOf({ store, chains }: StoreSettings, chainId: number): StoreLocation | MemoryStore {
  return parseStoreUrl(chains.evm.find(chain => chain.chainId === chainId)?.store ?? store)
}

function parseLocation(url: string): StoreLocation | MemoryStore {
  if (url === 'sqlite::memory:') return { kind: 'memory' }
  if (url.startsWith('sqlite:')) return parseSqliteUrl(url.slice('sqlite:'.length))
  if (isPostgres(url)) return { kind: 'postgres', url: requirePostgresUrl(url, 'store') }
  const scheme = /^[a-zA-Z][a-zA-Z0-9+.-]*(?=:)/.exec(url)?.[0]
  const seen = scheme === undefined ? 'a value without a scheme' : `the scheme "${scheme.slice(0, 32)}"`
  throw new ConfigError(`store: ${seen} is not known; ${expected}`)
}

function parseSqliteUrl(folder: string): StoreLocation {
  if (folder === '') throw new ConfigError(`store: "sqlite:" names no folder; ${expected}`)
  if (folder.startsWith('//')) {
    throw new ConfigError(
      `store: "sqlite:${folder}" looks like a URL; write the folder right after the colon, as in sqlite:./chain-data`
    )
  }
  if (folder.startsWith(':')) throw new ConfigError(`store: "sqlite:${folder}" is not known; ${expected}`)
  return { kind: 'sqlite', folder }
}

function isPostgres(url: string): boolean {
  return /^postgres(ql)?:\/\//.test(url)
}

function requirePostgresUrl(url: string, key: 'store' | 'storeReplicas'): string {
  const parsed = isPostgres(url) && URL.canParse(url) ? new URL(url) : undefined
  if (parsed === undefined || parsed.pathname.length < 2) {
    throw new ConfigError(
      `${key}: the postgres URL names no host or no database; ${key === 'store' ? expected : expectedReplica}`
    )
  }
  return url
}
