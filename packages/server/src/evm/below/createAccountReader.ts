import { createHash } from 'node:crypto'
import { toHex } from '../../index/record/hexBytes.ts'
import type { DeepHistoryCache, DeepRecord } from '../../model/deepHistory.ts'
import type { BlockRef, Hash } from '../../model/evm.ts'
import type { TraceMode } from '../../model/traceMode.ts'
import { NodeContradictionError } from '../../platform/errors.ts'
import type { EvmSource } from '../blocks/evmSource.ts'
import type { FoundBlock } from './search/DownwardSearch.ts'
import { recordsOf } from './search/recordsOf.ts'
import { callsPerBlock, hashesIn, type Searches } from './searches.ts'

/** The rule by which a transaction is associated with an account; another rule makes what was kept before useless. */
const associationRule = 2

/**
 * Limits the cache to what was read with this setting of `traces` and this rule of association: anything else has other parties
 * and other details, and is no more use than history older than another block.
 */
export function cacheOfMode(cache: DeepHistoryCache, traces: TraceMode): DeepHistoryCache {
  const marked = ({ number, hash }: BlockRef): BlockRef => ({ number, hash: markedHash(hash, traces) })
  return {
    known: (address, anchor) => cache.known(address, marked(anchor)),
    records: (address, anchor, part) => cache.records(address, marked(anchor), part),
    candidates: (address, anchor) => cache.candidates(address, marked(anchor)),
    lookUpHash: (hash, anchor) => cache.lookUpHash(hash, marked(anchor)),
    save: (address, anchor, stretch) => cache.save(address, marked(anchor), stretch),
    close: () => cache.close()
  }
}

function markedHash(hash: Hash, traces: TraceMode): Hash {
  return `0x${createHash('sha256').update(`${hash} rule ${associationRule} traces ${traces}`).digest('hex')}`
}

/** Blocks that are fetched at the same time and kept together: a page reads little more than it shows. */
const blocksAtOnce = 16

/** Takes searches further down, step by step, and keeps what they find. */
export function createAccountReader({
  source,
  cache
}: {
  readonly source: Pick<EvmSource, 'block'>
  readonly cache: Pick<DeepHistoryCache, 'save'>
}) {
  /**
   * Advances the search that has come less far where nothing found is left, and keeps some of what was found.
   * @param wanted - how many records are searched for.
   */
  async function step(searches: Searches, signal: AbortSignal, wanted: number): Promise<void> {
    try {
      searches.found ??= await look(searches, signal, wanted)
    } catch (error) {
      // Some of what was read is wrong, and it is not known what: all of it is read again.
      if (error instanceof NodeContradictionError) searches.below = Number.NaN
      throw error
    }
    if (searches.found === undefined) return
    try {
      await keepSome(searches, searches.found, signal)
    } catch (error) {
      // It may have been found by a node that lies: what was not kept is searched again.
      searches.below = Number.NaN
      throw error
    }
  }

  async function keepSome(
    searches: Searches,
    { bottom, blocks }: NonNullable<Searches['found']>,
    signal: AbortSignal
  ): Promise<void> {
    const { address, anchor, below, direct } = searches
    const portion = direct === undefined ? blocks : blocks.slice(0, blocksAtOnce)
    const left = blocks.slice(portion.length)
    const from = left.length === 0 ? bottom : (portion.at(-1)?.number ?? bottom)
    const records = direct && (await Promise.all(portion.map(block => readBlock(block, searches, signal))))
    await cache.save(address, anchor, {
      ...{ from, below, candidates: portion.flatMap(({ candidates }) => candidates) },
      ...(records && { records: records.flat() }),
      isFromState: searches.source === 'state'
    })
    searches.kept += records?.flat().length ?? 0
    searches.below = from
    searches.found = left.length === 0 ? undefined : { bottom, blocks: left }
  }

  /** @returns `undefined`: the searches have not been through any blocks together yet. */
  async function look(
    { logs, direct, below }: Searches,
    signal: AbortSignal,
    wanted: number
  ): Promise<Searches['found']> {
    const lowest = Math.min(direct?.from ?? 0, direct?.reach ?? Number.POSITIVE_INFINITY)
    const isLogs = logs.from > 0 && logs.from >= lowest
    const isDirect = direct !== undefined && direct.end === undefined && direct.from >= logs.from
    await Promise.all([isLogs && logs.advance(signal, wanted), isDirect && direct.advance(signal, wanted)])
    const bottom = Math.max(logs.from, direct?.from ?? 0)
    if (bottom >= below) return undefined
    return { bottom, blocks: merge(logs.take(bottom), direct?.take(bottom) ?? []) }
  }

  async function readBlock(
    { number, hashes, records }: FoundBlock,
    searches: Searches,
    signal: AbortSignal
  ): Promise<readonly DeepRecord[]> {
    if (records !== undefined) {
      requireNamed(
        number,
        hashes,
        records.map(({ hash }) => toHex(hash))
      )
      return records
    }
    if (hashes.length === 0) return []
    searches.calls += callsPerBlock
    const rows = await source.block(number, signal)
    requireNamed(number, hashes, hashesIn(rows))
    return recordsOf(rows, searches.address)
  }

  return { step }
}

/** @throws {NodeContradictionError} a transaction was named that is not there. */
function requireNamed(number: number, named: readonly Hash[], there: readonly Hash[]): void {
  const strange = named.find(hash => !there.includes(hash))
  if (strange === undefined) return
  const problem = `block ${number}: it has no transaction ${strange} of this account, which the node names there`
  throw new NodeContradictionError(problem, { number })
}

/** Each block once, newest first. */
function merge(one: readonly FoundBlock[], other: readonly FoundBlock[]): readonly FoundBlock[] {
  const blocks = new Map<number, FoundBlock>()
  for (const block of [...one, ...other]) {
    const known = blocks.get(block.number)
    blocks.set(block.number, {
      ...known,
      ...block,
      hashes: [...(known?.hashes ?? []), ...block.hashes],
      candidates: [...(known?.candidates ?? []), ...block.candidates]
    })
  }
  return [...blocks.values()].sort((a, b) => b.number - a.number)
}
