import { setTimeout as sleep } from 'node:timers/promises'
import { UpstreamError } from '../../platform/httpUpstream.ts'
import { chunkPlaces, piecesOf } from './multicall/chunkPlaces.ts'
import type { CallResult, ContractCall } from './multicall/contractCall.ts'
import { findWays } from './multicall/findWays.ts'
import type { AttemptResult } from './multicall/readResults.ts'
import { sendPlain } from './multicall/sendPlain.ts'
import { sendProgram } from './multicall/sendProgram.ts'
import { type FoundWay, type WayName, wayNames } from './multicall/wayMemory.ts'
import type { EvmNode } from './nodeCall.ts'
import { canaryOf, type PinnedBlock, requireCanary } from './pinBlock.ts'

/** Reads many contracts at one block of one node; the one place that sends many calls, whatever way they travel. */
export interface Multicall {
  /**
   * Asks one question about each item.
   * @param read - makes of each result what is kept of it; called once per item, in any order.
   * @returns what `read` made, in the order of the items; one hostile contract never changes another's result.
   * @throws {BlockLostError} the node no longer reads the pinned block.
   * @throws {NodeContradictionError} the node's answers cannot be true.
   * @throws {UpstreamError} the node failed.
   * @remarks Holds some megabytes of answers at a time, however many calls there are.
   */
  callAll<Item, T>(
    items: readonly Item[],
    callOf: (item: Item) => ContractCall,
    read: (result: CallResult, item: Item) => T
  ): Promise<readonly T[]>
}

export interface MulticallOptions {
  readonly node: EvmNode
  readonly block: PinnedBlock
  /** Those that may be taken; all. */
  readonly ways?: readonly WayName[] | undefined
  /** After this time one exchange is given up and its calls are sent in smaller ones; 3 s. */
  readonly exchangeTimeoutMs?: number | undefined
}

/** Exchanges under way at the same time. */
const lanes = 4
/** A second look is for the odd honest contract; a crowd of broken ones must not use up the node's time. */
const maxSecondLooks = 64
const secondLooksPerExchange = 8
/** Smaller exchanges in place of ones that took too long or were refused, for one snapshot. */
const maxPieces = 256
/** How often a way is looked at again because an exchange was refused, for one snapshot. */
const maxLooks = 8
/** Exchanges that are sent again after a reset connection or a short "come back later", for one snapshot. */
const maxPatience = 3
const firstPauseMs = 50
const longestPauseMs = 2_000

/** One set of calls that is worked off: some by one exchange, the rest by the next. */
interface Work {
  readonly calls: readonly ContractCall[]
  /** Only this way; absent: the best one. */
  readonly way?: WayName
  readonly mostPerExchange: number
  /** @param isFinal - nothing else can come out of another look. */
  settle(place: number, result: CallResult, isFinal: boolean): void
}

/** What became of one exchange. */
interface Exchanged {
  /** To be sent again, with others. */
  readonly left: readonly number[]
  /** To be sent again as these exchanges. */
  readonly pieces: readonly (readonly number[])[]
  readonly attempted: number
}

/** @see docs/decisions/0029-own-multicall.md */
export function createMulticall(options: MulticallOptions): Multicall {
  const { node, block, ways = wayNames, exchangeTimeoutMs = 3_000 } = options
  const naming = block.byHash ? 'byHash' : 'byNumber'
  let piecesLeft = maxPieces
  let patience = maxPatience
  let looksLeft = maxLooks

  async function waysOf(): Promise<readonly FoundWay[]> {
    const known = node.ways.recall(naming)
    if (known !== undefined) return known
    const found = (await inTime(shorter => findWays(shorter, block)))?.value ?? [
      { name: 'plain', gas: 5_000_000 }
    ]
    node.ways.remember(naming, found)
    return found
  }

  async function chooseWay(wanted: WayName | undefined): Promise<FoundWay> {
    const found = await waysOf()
    const plain = found.at(-1)
    const best = found.find(({ name }) => (wanted === undefined ? ways.includes(name) : name === wanted))
    const chosen = best ?? plain
    if (chosen === undefined) throw new Error('no way to read is known; expected at least plain calls')
    return chosen
  }

  /** @returns `undefined` when it took too long. @throws {UpstreamError} the node answers nothing at all. */
  async function inTime<T>(ask: (shorter: EvmNode) => Promise<T>): Promise<{ value: T } | undefined> {
    const done = await patiently(() =>
      node.within(exchangeTimeoutMs, async shorter => ({ value: await ask(shorter) }))
    )
    if (done === undefined) await requireNode()
    return done
  }

  /** A node that reads the block is well; what it did not answer was the call's fault. */
  async function requireNode(): Promise<void> {
    const outcomes = await node.within(exchangeTimeoutMs, shorter => shorter.batch([canaryOf(block)]))
    if (outcomes === undefined) throw new UpstreamError('an upstream did not answer in time', 'timedOut')
    requireCanary(outcomes[0], block)
  }

  async function patiently<T>(ask: () => Promise<T>): Promise<T> {
    for (let pauseMs = firstPauseMs; ; pauseMs *= 2) {
      try {
        return await ask()
      } catch (error) {
        if (!(error instanceof UpstreamError)) throw error
        const waitMs = error.retryAfterMs ?? pauseMs
        const mayPass = error.fault === 'unreachable' || error.fault === 'throttled'
        if (!mayPass || waitMs > longestPauseMs || patience-- <= 0) throw error
        await sleep(waitMs)
      }
    }
  }

  async function exchange(work: Work, way: FoundWay, places: readonly number[]): Promise<Exchanged> {
    const calls = places.flatMap(place => work.calls[place] ?? [])
    const size = node.ways.size.current()
    const done = await inTime(shorter => send(shorter, way, calls))
    if (done === undefined) return split(work, places, true)
    if (done.value !== undefined) return accept(work, places, done.value)
    await requireNode()
    if (way.name !== 'plain' && !(await stillWorks(way.name))) {
      node.ways.lost(naming, way.name)
      return { left: places, pieces: [], attempted: places.length }
    }
    // What is refused although it is small says nothing about sizes.
    if (places.length > node.ways.calls() / 2) node.ways.size.refused(size)
    return split(work, places, false)
  }

  function send(on: EvmNode, { name, gas }: FoundWay, calls: readonly ContractCall[]) {
    if (name === 'plain') return sendPlain(on, block, calls, gas)
    return sendProgram(on, name, block, calls, { gas, maxResultBytes: node.ways.resultBytes() })
  }

  async function stillWorks(name: WayName): Promise<boolean> {
    if (looksLeft-- <= 0) return true
    const found = await inTime(shorter => findWays(shorter, block))
    return found?.value.some(way => way.name === name) ?? false
  }

  function accept(work: Work, places: readonly number[], results: readonly AttemptResult[]): Exchanged {
    const left: number[] = []
    places.forEach((place, i) => {
      const result = results[i]
      if (result !== undefined) {
        const isFinal = result.kind === 'tooLong'
        work.settle(place, isFinal ? { kind: 'failed' } : result, isFinal)
      } else if (i === 0) {
        // The first one is always attempted: this node gives it no more gas than it had.
        work.settle(place, { kind: 'failed' }, false)
      } else {
        left.push(place)
      }
    })
    return { left, pieces: [], attempted: places.length - left.length }
  }

  /** @param isSlow - it took too long, rather than being refused. */
  function split(work: Work, places: readonly number[], isSlow: boolean): Exchanged {
    const pieces = piecesOf(places)
    if (pieces.length > 1 && pieces.length <= piecesLeft) {
      piecesLeft -= pieces.length
      return { left: [], pieces, attempted: places.length }
    }
    for (const place of places) work.settle(place, { kind: 'failed' }, isSlow)
    return { left: [], pieces: [], attempted: places.length }
  }

  async function workOff(work: Work): Promise<void> {
    let left: readonly number[] = work.calls.map((_, place) => place)
    let pieces: readonly (readonly number[])[] = []
    let mostPerExchange = work.mostPerExchange
    while (left.length + pieces.length > 0) {
      const way = await chooseWay(work.way)
      const perExchange = Math.min(mostPerExchange, way.name === 'plain' ? Infinity : node.ways.calls())
      const exchanges = [...chunkPlaces(work.calls, left, way.name, perExchange), ...pieces]
      const outcomes = await inLanes(exchanges, places => exchange(work, way, places))
      left = outcomes.flatMap(outcome => outcome.left)
      pieces = outcomes.flatMap(outcome => outcome.pieces)
      // Where gas ran out early, more and smaller exchanges go on side by side.
      const attempted = outcomes.reduce((sum, outcome) => sum + outcome.attempted, 0)
      if (left.length > 0) mostPerExchange = Math.max(8, Math.ceil((1.5 * attempted) / exchanges.length))
    }
  }

  return {
    async callAll<Item, T>(
      items: readonly Item[],
      callOf: (item: Item) => ContractCall,
      read: (result: CallResult, item: Item) => T
    ) {
      const calls = items.map(callOf)
      const kept = new Array<T>(items.length)
      const keep = (place: number, result: CallResult) => {
        kept[place] = read(result, items[place] as Item)
      }
      const doubtful: { readonly place: number; readonly call: ContractCall }[] = []
      await workOff({
        calls,
        mostPerExchange: Number.POSITIVE_INFINITY,
        settle(place, result, isFinal) {
          const call = calls[place]
          const isDoubtful = call !== undefined && !isFinal && deservesSecondLook(call, result)
          if (isDoubtful && doubtful.length < maxSecondLooks) doubtful.push({ place, call })
          else keep(place, result)
        }
      })
      await workOff({
        calls: doubtful.map(({ call }) => ({ ...call, gas: call.generousGas ?? call.gas })),
        way: 'plain',
        mostPerExchange: secondLooksPerExchange,
        settle: (place, result) => keep(doubtful[place]?.place ?? 0, result)
      })
      return kept
    }
  }
}

/**
 * A failure may have been the exchange's (nodes limit its time and size), honest work cut short, or a contract that writes
 * while it is read, which plain calls allow. A revert is final, unless the call has more gas in store: a contract that runs
 * out of gas inside a call of its own reverts.
 */
function deservesSecondLook(call: ContractCall, result: CallResult): boolean {
  return result.kind === 'failed' || (result.kind === 'reverted' && call.generousGas !== undefined)
}

async function inLanes<T, R>(items: readonly T[], run: (item: T) => Promise<R>): Promise<readonly R[]> {
  const results = new Array<R>(items.length)
  const queue = items.entries()
  const lane = async () => {
    for (const [place, item] of queue) results[place] = await run(item)
  }
  await Promise.all(Array.from({ length: Math.min(lanes, items.length) }, lane))
  return results
}
