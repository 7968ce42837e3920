import { createHash } from 'node:crypto'
import { addressLength, type BlockRows, hashLength } from '../../index/record/encodeBlock.ts'
import { addressBytes } from '../../index/record/hexBytes.ts'
import { firstTransactionId } from '../../index/record/transactionId.ts'
import type { DeepHistoryCache, DeepRecord } from '../../model/deepHistory.ts'
import type { Address, BlockRef, Hash } from '../../model/evm.ts'
import type { TraceMode } from '../../model/traceMode.ts'
import { NodeContradictionError } from '../../platform/errors.ts'
import type { EvmSource } from '../blocks/evmSource.ts'
import type { FoundBlock } from './DownwardSearch.ts'
import { hashesIn, type Searches } from './searches.ts'

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
  /** Advances the search that has come less far where nothing found is left, and keeps some of what was found. */
  async function step(searches: Searches, signal: AbortSignal): Promise<void> {
    searches.found ??= await look(searches, signal)
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
    const records = direct && (await Promise.all(portion.map(block => readBlock(block, address, signal))))
    await cache.save(address, anchor, {
      ...{ from, below, candidates: portion.flatMap(({ candidates }) => candidates) },
      ...(records && { records: records.flat() })
    })
    searches.below = from
    searches.found = left.length === 0 ? undefined : { bottom, blocks: left }
  }

  /** @returns `undefined`: the searches have not been through any blocks together yet. */
  async function look({ logs, direct, below }: Searches, signal: AbortSignal): Promise<Searches['found']> {
    const isLogs = direct === undefined || logs.from >= direct.from
    const isDirect = direct !== undefined && direct.from >= logs.from
    await Promise.all([isLogs && logs.advance(signal), isDirect && direct.advance(signal)])
    const bottom = Math.max(logs.from, direct?.from ?? 0)
    if (bottom >= below) return undefined
    return { bottom, blocks: merge(logs.take(bottom), direct?.take(bottom) ?? []) }
  }

  async function readBlock(
    { number, hashes }: FoundBlock,
    address: Address,
    signal: AbortSignal
  ): Promise<readonly DeepRecord[]> {
    if (hashes.length === 0) return []
    const rows = await source.block(number, signal)
    requireNamed(rows, hashes)
    return recordsOf(rows, address)
  }

  return { step }
}

/** @throws {NodeContradictionError} a transaction was named that is not in its block. */
function requireNamed(rows: BlockRows, named: readonly Hash[]): void {
  const there = new Set(hashesIn(rows))
  const strange = named.find(hash => !there.has(hash))
  if (strange === undefined) return
  const { number } = rows.ref
  const problem = `block ${number}: it has no transaction ${strange}, which the node names there`
  throw new NodeContradictionError(problem, { number })
}

/** Each block once, newest first. */
function merge(one: readonly FoundBlock[], other: readonly FoundBlock[]): readonly FoundBlock[] {
  const blocks = new Map<number, FoundBlock>()
  for (const block of [...one, ...other]) {
    const known = blocks.get(block.number)
    blocks.set(block.number, {
      number: block.number,
      hashes: [...(known?.hashes ?? []), ...block.hashes],
      candidates: [...(known?.candidates ?? []), ...block.candidates]
    })
  }
  return [...blocks.values()].sort((a, b) => b.number - a.number)
}

/** The transactions of a block that an account is a party of, as an index keeps them. */
function recordsOf(rows: BlockRows, address: Address): readonly DeepRecord[] {
  const wanted = addressBytes(address)
  const first = firstTransactionId(rows.ref.number)
  const found: DeepRecord[] = []
  for (const [place, index] of rows.indexes.entries()) {
    if (!isParty(rows, place, wanted)) continue
    found.push({
      id: first + index,
      hash: rows.hashes.subarray(place * hashLength, (place + 1) * hashLength),
      bytes: rows.records.subarray(rows.recordEnds[place - 1] ?? 0, rows.recordEnds[place])
    })
  }
  return found
}

function isParty({ parties, partyEnds }: BlockRows, place: number, wanted: Buffer): boolean {
  for (let party = partyEnds[place - 1] ?? 0; party < (partyEnds[place] ?? 0); party++) {
    const start = party * addressLength
    if (wanted.equals(parties.subarray(start, start + addressLength))) return true
  }
  return false
}
