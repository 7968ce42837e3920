import type { EvmNode } from '../../nodes/evm/nodeCall.ts'
import { chunk, mapConcurrently } from '../../platform/concurrency/permits.ts'
import { roundRobin } from '../../platform/roundRobin.ts'
import type { StrategyChooser } from './chooseStrategy.ts'
import { type AttemptResult, type CallResult, type ContractCall, chunkCalls } from './contractCalls.ts'
import type { FoundStrategy, StrategyName } from './findStrategies.ts'
import type { PatientNode } from './patientNode.ts'
import type { PinnedBlock } from './pinBlock.ts'
import { sendPlain, sendProgram } from './sendCalls.ts'

/** Calls that are sent until each has a result. */
export interface Work {
  readonly calls: readonly ContractCall[]
  /** Only this strategy; absent: the best one. */
  readonly strategy?: StrategyName
  /** Calls per exchange; absent: as many as fit. */
  readonly maxPerExchange?: number
  /** Decides before a call is sent: false, and it has failed without being sent. */
  isWorthwhile(index: number): boolean
  /**
   * @param retryable - whether another read may come to another result; `later`: after those of other contracts.
   * @param isBurnt - the contract was seen to burn what it was given.
   */
  settle(index: number, result: CallResult, retryable: 'no' | 'later' | 'now', isBurnt?: boolean): void
}

/** Calls that travel together. */
interface Exchange {
  readonly indexes: readonly number[]
  /** Part of an exchange that was taken apart. */
  readonly isPiece: boolean
}

/** The calls that one exchange has left over. */
interface Exchanged {
  /** To be sent again, with others. */
  readonly left: readonly number[]
  /** To be sent again like this. */
  readonly pieces: readonly Exchange[]
}

/** Smaller exchanges in place of ones that took too long or were refused, for one snapshot. */
const maxPieces = 256
/** Gas for the reads of one `eth_call`: less than a tenth of a second of a node's time at its worst, an endless loop. */
const workGas = 4_000_000
/** Gas of one batch of plain calls: a second of the time of a node at its worst. A call that draws a picture costs up to 30 million. */
const plainGas = 100_000_000
/** Exchanges at the same time. */
const lanes = 4
/** Where gas ran out, no exchange of the next round is smaller. */
const minPerExchange = 8

/**
 * Sends calls in rounds: what one round left over goes into the next. Every exchange settles its first call at least, or
 * is taken apart; so it ends. Contracts are read in turn, so that one with very many calls does not delay the others.
 */
export function createWorker(
  patient: PatientNode,
  chooser: StrategyChooser,
  block: PinnedBlock
): (work: Work) => Promise<void> {
  const { size } = chooser
  let piecesLeft = maxPieces

  async function run(
    work: Work,
    strategy: FoundStrategy,
    { indexes: planned, isPiece }: Exchange
  ): Promise<Exchanged> {
    const indexes = planned.filter(index => {
      const isWorthwhile = work.isWorthwhile(index)
      if (!isWorthwhile) work.settle(index, { kind: 'failed' }, 'no')
      return isWorthwhile
    })
    if (indexes.length === 0) return { left: [], pieces: [] }
    const exchange = { indexes, isPiece }
    const calls = indexes.flatMap(index => work.calls[index] ?? [])
    const triedSize = size.current()
    const done = await patient.ask(own => send(own, strategy, calls))
    if (done === undefined) return takeApart(work, exchange, 'no')
    if (done.value !== undefined) return accept(work, strategy, indexes, done.value)
    await patient.requireWell()
    if (!(await chooser.stillWorks(strategy.name))) return { left: indexes, pieces: [] }
    // A refusal of a small exchange is not about its size.
    if (indexes.length > size.calls() / 2) size.refused(triedSize)
    return takeApart(work, exchange, 'now')
  }

  function send(own: EvmNode, strategy: FoundStrategy, calls: readonly ContractCall[]) {
    const { name, gas } = strategy
    const maxGas = maxCallGas(strategy)
    const capped = calls.map(call => ({ ...call, gas: Math.min(call.gas, maxGas) }))
    if (name === 'plain') return sendPlain(own, block, capped)
    const limits = { workGas, maxGas: gas, maxResultBytes: size.resultBytes() }
    return sendProgram(own, name, block, capped, limits)
  }

  function accept(
    work: Work,
    strategy: FoundStrategy,
    indexes: readonly number[],
    results: readonly AttemptResult[]
  ): Exchanged {
    const left: number[] = []
    indexes.forEach((index, i) => {
      const result = results[i]
      const call = work.calls[index]
      // Only the first one is sure to have been attempted: it was, with all the gas that this node gives.
      if (result === undefined && i > 0) left.push(index)
      else if (call !== undefined) work.settle(index, ...judge(result, call, maxCallGas(strategy)))
    })
    return { left, pieces: [] }
  }

  function takeApart(work: Work, { indexes, isPiece }: Exchange, retryable: 'no' | 'now'): Exchanged {
    // First into about as many pieces as each has calls, then into single calls: a call that spoils its exchange ends alone.
    const pieces = chunk(indexes, isPiece ? 1 : Math.floor(Math.sqrt(indexes.length)))
    if (indexes.length > 1 && pieces.length <= piecesLeft) {
      piecesLeft -= pieces.length
      return { left: [], pieces: pieces.map(piece => ({ indexes: piece, isPiece: true })) }
    }
    for (const index of indexes) work.settle(index, { kind: 'failed' }, retryable)
    return { left: [], pieces: [] }
  }

  return async work => {
    const indexes = work.calls.map((_, index) => index)
    let left = roundRobin(indexes, index => work.calls[index]?.to)
    let pieces: readonly Exchange[] = []
    let maxPerExchange = work.maxPerExchange ?? Number.POSITIVE_INFINITY
    while (left.length + pieces.length > 0) {
      const strategy = await chooser.choose(work.strategy)
      const limits =
        strategy.name === 'plain'
          ? { calls: maxPerExchange, gas: plainGas }
          : { calls: Math.min(maxPerExchange, size.calls()) }
      const exchanges = chunkCalls(work.calls, left, limits).map(indexes => ({ indexes, isPiece: false }))
      const outcomes = await mapConcurrently([...exchanges, ...pieces], lanes, exchange =>
        run(work, strategy, exchange)
      )
      const sent = left.length
      left = outcomes.flatMap(outcome => outcome.left)
      pieces = outcomes.flatMap(outcome => outcome.pieces)
      // Where gas ran out early, more and smaller exchanges go on side by side.
      const settled = (sent - left.length) / Math.max(1, exchanges.length)
      if (left.length > 0) maxPerExchange = Math.max(minPerExchange, Math.ceil(settled * 1.5))
    }
  }
}

/** One call must not use up the gas of a whole exchange, unless it is alone in one. */
function maxCallGas({ name, gas }: FoundStrategy): number {
  return name === 'plain' ? Math.min(gas, plainGas) : workGas / 2
}

/**
 * A failure may have been the exchange's, honest work cut short, or a contract that writes while it is read, which plain
 * calls allow. A revert is final, unless the call has more gas in store: a contract that runs out of gas inside a call of
 * its own reverts.
 */
function judge(
  result: AttemptResult,
  call: ContractCall,
  maxGas: number
): [result: CallResult, retryable: 'no' | 'later' | 'now', isBurnt?: boolean] {
  const hasMoreGas = call.generousGas !== undefined || call.gas > maxGas
  switch (result?.kind) {
    case 'returned':
      return [result, 'no']
    case 'reverted':
      return [result, hasMoreGas ? 'now' : 'no']
    case 'tooLong':
      return [{ kind: 'failed' }, 'no']
    case 'burnt':
      return [{ kind: 'failed' }, hasMoreGas ? 'now' : 'later', true]
    default:
      return [{ kind: 'failed' }, 'now']
  }
}
