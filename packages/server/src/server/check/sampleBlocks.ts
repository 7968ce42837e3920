import { ChainDataError } from '@chain-data/index'
import { lacksBlock } from '../../evm/blocks/blocks.ts'
import type { EvmSource } from '../../evm/blocks/evmSource.ts'
import { BrokenChecksError } from '../../evm/blocks/verification/blockChecks.ts'
import { isUnknownPart, maxReasonLength, type Waiver } from '../../model/waivableChecks.ts'
import { mapConcurrently } from '../../platform/concurrency/permits.ts'
import { NodeContradictionError } from '../../platform/errors.ts'
import { plural } from '../../platform/plural.ts'
import { type Findings, judge } from './findings.ts'

/** A block of the sample, read and verified, or with the reason why it was not. */
export interface SampledBlock {
  readonly height: number
  readonly transactionCount: number
  readonly error?: ChainDataError
}

const usualSamples = 50
const maxConcurrent = 8

/**
 * Returns about fifty heights, evenly spread and ascending; both ends belong to them. Distances have two significant digits,
 * so that nodes whose heads differ a little are asked for the same blocks.
 */
export function sampleHeights(first: number, head: number): readonly number[] {
  const exact = Math.max(1, (head - first) / (usualSamples - 1))
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(exact)) - 1)
  const step = Math.round(exact / unit) * unit
  const heights = Array.from({ length: Math.floor((head - first) / step) + 1 }, (_, i) => first + i * step)
  return heights.at(-1) === head ? heights : [...heights, head]
}

/**
 * Reads blocks as the indexer does, some at a time.
 *
 * @returns in the order of `heights`, without those that were not read within `timeoutMs`.
 */
export async function sampleBlocks(
  source: Pick<EvmSource, 'block'>,
  heights: readonly number[],
  timeoutMs: number
): Promise<readonly SampledBlock[]> {
  const signal = AbortSignal.timeout(timeoutMs)
  const blocks = await mapConcurrently(heights, maxConcurrent, async (height): Promise<SampledBlock[]> => {
    try {
      if (signal.aborted) return []
      const { transactionCount } = await source.block(height, signal)
      return [{ height, transactionCount }]
    } catch (error) {
      if (signal.aborted) return []
      if (!(error instanceof ChainDataError)) throw error
      return [{ height, transactionCount: 0, error }]
    }
  })
  return blocks.flat()
}

/**
 * Judges the sample of one node: whether it lacks blocks or receipts, or gives broken ones.
 *
 * @param heights - those that were asked for.
 * @param isWhole - it gives all receipts of a block in one call.
 * @throws what the node did else.
 */
export function judgeSample(
  sample: readonly SampledBlock[],
  heights: readonly number[],
  isWhole: boolean
): Findings {
  const errors = sample.flatMap(({ error }) => error ?? [])
  const missing = errors.filter(lacksBlock)
  const broken = errors.filter(error => brokenBy(error).length > 0)
  const others = errors.filter(error => brokenBy(error).length === 0)
  const unsound = others.find(error => error instanceof NodeContradictionError)
  const more = missing.length > 1 ? ` (and ${missing.length - 1} more of the sample)` : ''
  const failed = unsound ?? (broken.length === 0 ? errors[0] : undefined)
  if (missing.length === 0 && failed !== undefined) throw failed
  const count = sample.reduce((sum, { transactionCount }) => sum + transactionCount, 0)
  const unread = heights.length - sample.length
  const receipts = isWhole
    ? 'receipts by eth_getBlockReceipts'
    : 'receipts one by one, which is slower (it lacks eth_getBlockReceipts)'
  const asked = count === 0 ? 'all are empty, so no receipt was asked for' : receipts
  const found = `${plural(sample.length, 'sampled block')} with ${plural(count, 'transaction')} read and verified, ${asked}`
  return judge`
    receipts | error | ${missing.length > 0} | ${missing[0]?.message}${more} | take a node that has the receipts of old blocks, or set a later startBlock
    receipts | error | ${broken.length > 0} | ${broken.length} of ${plural(sample.length, 'sampled block')} break checks; ${broken[0]?.message} | if the chain is known for it, add the waivers that this check prints; else the node is wrong: take another one
    receipts | ok | ${unread === 0} | ${found}
    receipts | warning | | ${found}; ${plural(unread, 'other')} could not be read in time | check that it is not overloaded and does not limit the rate of calls
  `
}

/**
 * Compares the samples of a chain's nodes. A block that one node gives broken and another one sound is the fault of the first;
 * what all of them give broken is the chain's.
 *
 * @returns the positions of the nodes that are wrong, and the waivers that the chain needs.
 */
export function compareSamples(samples: readonly (readonly SampledBlock[])[]): {
  readonly wrong: ReadonlySet<number>
  readonly waivers: readonly Waiver[]
} {
  const sound = new Set(samples.flat().flatMap(({ height, error }) => (error === undefined ? [height] : [])))
  const isWrong = (block: SampledBlock) => brokenIn(block).length > 0 && sound.has(block.height)
  const wrong = new Set(samples.flatMap((sample, at) => (sample.some(isWrong) ? [at] : [])))
  const right = samples.filter((_, at) => !wrong.has(at)).flat()
  return { wrong, waivers: suggestWaivers(right.toSorted((a, b) => a.height - b.height)) }
}

const brokenIn = ({ error }: SampledBlock) => brokenBy(error)

/** Returns the checks that a chain may be known to break; none where a part of the block would have to count as unknown. */
function brokenBy(error: ChainDataError | undefined) {
  if (!(error instanceof BrokenChecksError)) return []
  return error.broken.some(({ check }) => isUnknownPart(check)) ? [] : error.broken
}

/**
 * Returns the waivers that a chain needs by its sample, which ascends. The range of a check reaches to the next block with
 * transactions that does not break it, or without end.
 */
function suggestWaivers(sample: readonly SampledBlock[]): readonly Waiver[] {
  const broken = sample.flatMap(block => brokenIn(block).map(found => ({ height: block.height, ...found })))
  return [...new Set(broken.map(({ check }) => check))].map(check => {
    const breaking = broken.filter(found => found.check === check)
    const { height: from = 0, what = '' } = breaking[0] ?? {}
    const to = breaking.at(-1)?.height ?? from
    // A block that is empty, or was not read, shows nothing.
    const keeping = sample.filter(block => {
      const others = brokenIn(block)
      return block.transactionCount > 0 || (others.length > 0 && others.every(found => found.check !== check))
    })
    const before = keeping.findLast(({ height }) => height < from)?.height
    const after = keeping.find(({ height }) => height > to)?.height
    const reason = `seen in ${breaking.length} of ${plural(sample.length, 'sampled block')}, first in block ${from}: ${what}`
    return {
      check,
      reason: reason.slice(0, maxReasonLength),
      fromBlock: before === undefined ? 0 : before + 1,
      toBlock: after === undefined ? null : after - 1
    }
  })
}
