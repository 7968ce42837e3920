import { createHash } from 'node:crypto'
import type { Address, BlockRef, DeepHistoryCache, DeepRecord, Hash } from '@chain-data/index'
import { decodeDetailed, hashOfRecord } from '@chain-data/index/record'
import { hashesIn, recordsOf } from '../../../evm/blocks/blockRows.ts'
import type { FoundBlock } from '../../../evm/search/DownwardSearch.ts'
import type { TraceMode } from '../../../model/traceMode.ts'
import { NodeContradictionError } from '../../../platform/errors.ts'
import { CallBoundError } from './meterCalls.ts'
import { gapsOf, type Searches } from './searches.ts'

/** The rule by which a transaction is associated with an account; another rule makes what was kept before useless. */
const associationRule = 3

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
    lookUpHash: (address, hash, anchor) => cache.lookUpHash(address, hash, marked(anchor)),
    save: (address, anchor, stretch) => cache.save(address, marked(anchor), stretch),
    forget: address => cache.forget(address),
    close: () => cache.close()
  }
}

function markedHash(hash: Hash, traces: TraceMode): Hash {
  return `0x${createHash('sha256').update(`${hash} rule ${associationRule} traces ${traces}`).digest('hex')}`
}

/** Blocks that are fetched at the same time and kept together: a page reads little more than it shows. */
const blocksAtOnce = 16

/** Takes searches further down, step by step, and keeps what they find. */
export function createAccountReader(cache: Pick<DeepHistoryCache, 'save'>) {
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
      if (!(error instanceof CallBoundError)) searches.below = Number.NaN
      throw error
    }
  }

  async function keepSome(
    searches: Searches,
    { bottom, blocks }: NonNullable<Searches['found']>,
    signal: AbortSignal
  ): Promise<void> {
    const { address, anchor, below, direct, unlisted } = searches
    const all = [...blocks]
    searches.found = { bottom, blocks: all }
    const fromOf = (count: number) => (count < all.length ? (all[count - 1]?.number ?? bottom) : bottom)
    let count = direct === undefined ? all.length : Math.min(all.length, blocksAtOnce)
    let extra: readonly DeepRecord[] = []
    if (direct !== undefined) {
      const ends = unlisted?.readEnds({ from: fromOf(count), below }, signal)
      ;[count] = await Promise.all([readBlocks(searches, all, count, signal), ends])
      extra = await readUnlisted(searches, all.slice(0, count), { from: fromOf(count), below }, signal)
    }
    const portion = all.slice(0, count)
    const records = [...portion.flatMap(each => each.records ?? []), ...extra]
    const from = fromOf(count)
    await cache.save(address, anchor, {
      ...{ from, below, candidates: portion.flatMap(({ candidates }) => candidates) },
      ...(direct && { records, gaps: gapsOf(searches) })
    })
    searches.kept += records.length
    searches.below = from
    searches.found = count === all.length ? undefined : { bottom, blocks: all.slice(count) }
  }

  return { step }
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

/**
 * Reads the first blocks of a list, and notes their records there.
 * @returns how many of them were read, which are fewer when the request may make no more calls.
 */
async function readBlocks(searches: Searches, all: FoundBlock[], count: number, signal: AbortSignal) {
  const read = await Promise.allSettled(
    all.slice(0, count).map(async (block, position) => {
      all[position] = { ...block, hashes: [], records: await readBlock(block, searches, signal) }
    })
  )
  const failures = read.flatMap(each => (each.status === 'rejected' ? [each.reason] : []))
  const failed = failures.find(error => !(error instanceof CallBoundError)) ?? failures[0]
  const whole = read.findIndex(({ status }) => status === 'rejected')
  if (failed === undefined) return count
  if (whole === 0 || !(failed instanceof CallBoundError)) throw failed
  return whole
}

/** Reads the account's records in blocks of a stretch that no hint names. */
async function readUnlisted(
  { address, unlisted, blocks }: Searches,
  read: readonly FoundBlock[],
  stretch: { readonly from: number; readonly below: number },
  signal: AbortSignal
): Promise<readonly DeepRecord[]> {
  if (unlisted === undefined) return []
  const known = read.filter(({ records = [] }) => records.length > 0)
  const sent = known.flatMap(({ number, records = [] }) => sentOf(records, address).map(() => number))
  const named = new Set(known.map(({ number }) => number))
  const numbers = (await unlisted.find(stretch, sent, signal)).filter(number => !named.has(number))
  const found = await Promise.all(
    numbers.map(async number => {
      const records = unlisted.records.get(number) ?? recordsOf(await blocks.block(number, signal), address)
      unlisted.records.set(number, records)
      return records
    })
  )
  return found.flat()
}

async function readBlock(
  { number, hashes, records }: FoundBlock,
  { address, blocks }: Searches,
  signal: AbortSignal
): Promise<readonly DeepRecord[]> {
  if (records !== undefined) {
    requireNamed(
      number,
      hashes,
      records.map(({ bytes }) => hashOfRecord(bytes))
    )
    return records
  }
  if (hashes.length === 0) return []
  const rows = await blocks.block(number, signal)
  requireNamed(number, hashes, hashesIn(rows))
  return recordsOf(rows, address)
}

/** The records whose transactions an account sent. */
function sentOf(records: readonly DeepRecord[], address: Address): readonly DeepRecord[] {
  const details = decodeDetailed({
    ids: records.map(({ id }) => id),
    bytes: Buffer.concat(records.map(({ bytes }) => bytes))
  })
  return records.filter((_, position) => details[position]?.transaction.from === address)
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
