import { createHash } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { codeOf } from '@chain-data/index'
import { backOffMs } from '../../platform/concurrency/pause.ts'
import { MetadataError } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'
import { checkUrl, readAllowHosts } from './checkUrl.ts'
import type { GuardedFetch } from './guardedFetch.ts'
import { metadataFailure } from './metadataFailure.ts'
import { parseTokenList, type TokenListEntry } from './parseTokenList.ts'
import { resolveImage } from './resolveImage.ts'
import type { Gateways } from './resolveUri.ts'

export interface TokenListsOptions {
  /** File paths or https URLs of lists in the Uniswap schema; an earlier list wins over a later one. */
  readonly sources: readonly string[]
  /** Tokens of other chains are not kept. */
  readonly chainIds: readonly number[]
  readonly guardedFetch: GuardedFetch
  readonly gateways: Gateways
  /** Hosts whose lists and logos may come over plain http. */
  readonly allowHosts?: readonly string[]
  /** Pause after a list was read until it is read again. */
  readonly refreshMs: number
  readonly logger: Logger
}

/** An ERC-20 token in the configured lists. */
interface ListedToken {
  /** Lower case. */
  readonly address: string
  /** Display text; "" where no list has one. */
  readonly name: string
  readonly symbol: string
  /** https URL or `data:image/` URI; "" where no list has a usable one. */
  readonly image: string
}

/** The configured token lists, kept fresh. */
export interface TokenLists {
  /**
   * Reads every list now, then again and again until `close`. Never rejects: a list that cannot be read is a warning,
   * and what it said before stays.
   * @returns when each list was tried once.
   */
  start(): Promise<void>
  /**
   * @param address - any case.
   * @returns absent where no list knows the token, and before `start` is done.
   */
  find(chainId: number, address: string): ListedToken | undefined
  /** All listed tokens of a chain; the same array until a list changes. */
  tokensOf(chainId: number): readonly ListedToken[]
  /** Ends the reading; what is known stays. */
  close(): void
}

/** A list is the operator's choice, so it may be larger than a stranger's document. */
const listLimits = { wireBytes: 8 * 1024 * 1024, decodedBytes: 16 * 1024 * 1024 }
const firstRetryMs = 60_000

/** A configured list. */
interface Source {
  readonly place: string
  entries: readonly TokenListEntry[]
  digest: string
  /** In a row. */
  failures: number
  timer?: NodeJS.Timeout
}

/** @throws {MetadataError} an entry of `allowHosts` is not `host:port`. */
export function createTokenLists(options: TokenListsOptions): TokenLists {
  const { guardedFetch, gateways, refreshMs, logger } = options
  const allowHosts = readAllowHosts(options.allowHosts ?? [])
  const chainIds = new Set(options.chainIds)
  const sources = options.sources.map((place): Source => ({ place, entries: [], digest: '', failures: 0 }))
  const closing = new AbortController()
  let tokens: ReadonlyMap<number, ReadonlyMap<string, ListedToken>> = new Map()
  let lists: ReadonlyMap<number, readonly ListedToken[]> = new Map()

  /** Never rejects. */
  async function refresh(source: Source): Promise<void> {
    try {
      await readInto(source)
      source.failures = 0
    } catch (error) {
      if (closing.signal.aborted) return
      source.failures++
      if (Number.isInteger(Math.log2(source.failures))) warnOf(source, error)
    }
    if (closing.signal.aborted) return
    const { failures } = source
    const waitMs =
      failures === 0 ? refreshMs : backOffMs({ firstMs: firstRetryMs, maxMs: refreshMs }, failures)
    source.timer = setTimeout(() => void refresh(source), waitMs)
  }

  async function readInto(source: Source): Promise<void> {
    const bytes = await readBytes(source.place)
    const digest = createHash('sha256').update(bytes).digest('hex')
    if (digest === source.digest) return
    const { entries, dropped } = parseTokenList(bytes, chainIds)
    source.entries = entries
    source.digest = digest
    merge()
    logger.info('Token list read', { url: source.place, count: entries.length })
    if (dropped > 0) {
      logger.warn('Entries of a token list left out', { url: source.place, count: dropped })
    }
  }

  async function readBytes(place: string): Promise<Uint8Array> {
    if (!/^https?:/i.test(place)) return readListFile(place, closing.signal)
    const { url, allowed } = checkUrl(place, allowHosts)
    if (url.protocol !== 'https:' && !allowed) {
      throw metadataFailure('SCHEME', 'Token list over http: expected https, or its host in allowHosts')
    }
    return (await guardedFetch(place, { limits: listLimits, signal: closing.signal })).body
  }

  function warnOf({ place, failures, digest }: Source, error: unknown): void {
    const message = digest === '' ? 'Token list not used' : 'Token list not refreshed'
    logger.warn(message, { url: place, attempt: failures, problem: problemOf(error) })
  }

  /** Field by field, so that a later list fills what an earlier one leaves open. */
  function merge(): void {
    const merged = new Map<number, Map<string, ListedToken>>()
    for (const entry of sources.flatMap(source => source.entries)) {
      const ofChain = merged.get(entry.chainId) ?? new Map<string, ListedToken>()
      merged.set(entry.chainId, ofChain)
      const known = ofChain.get(entry.address)
      ofChain.set(entry.address, {
        address: entry.address,
        name: known?.name || entry.name,
        symbol: known?.symbol || entry.symbol,
        image: known?.image || imageOf(entry)
      })
    }
    tokens = merged
    lists = new Map([...merged].map(([chainId, ofChain]) => [chainId, [...ofChain.values()]]))
  }

  function imageOf({ logoUri }: TokenListEntry): string {
    return logoUri === undefined ? '' : resolveImage(logoUri, { gateways, allowHosts })
  }

  return {
    async start() {
      await Promise.all(sources.map(refresh))
    },
    find: (chainId, address) => tokens.get(chainId)?.get(address.toLowerCase()),
    tokensOf: chainId => lists.get(chainId) ?? noTokens,
    close() {
      closing.abort()
      for (const { timer } of sources) clearTimeout(timer)
    }
  }
}

const noTokens: readonly ListedToken[] = []

/** @throws {MetadataError} TOO_LARGE, or CONTENT for what is no file; the system's error for one that cannot be read. */
async function readListFile(path: string, signal: AbortSignal): Promise<Uint8Array> {
  const found = await stat(path)
  // A pipe would never end, and reading it could not be stopped.
  if (!found.isFile()) throw metadataFailure('CONTENT', 'Token list is no regular file')
  if (found.size > listLimits.decodedBytes) {
    throw metadataFailure('TOO_LARGE', `Token list of ${found.size} bytes: expected at most 16 MiB`)
  }
  return readFile(path, { signal })
}

/** A file problem by its code only: the path is in the configuration anyway. */
function problemOf(error: unknown): string {
  if (error instanceof MetadataError) return error.message
  return codeOf(error) ?? 'unreadable'
}
