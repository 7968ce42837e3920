import { lacksBlock } from '../../evm/blocks/blocks.ts'
import { BrokenChecksError } from '../../evm/blocks/verification/blockChecks.ts'
import { maxReasonLength, type WaivableCheck, type Waiver } from '../../model/waivableChecks.ts'
import { describeNodeFailure } from '../../nodes/upstreams/upstreamError.ts'
import { NodeContradictionError } from '../../platform/errors.ts'
import { type Finding, failure, type NodeReport, ok, type PlacedFinding, warning } from './findings.ts'
import type { SampledBlock } from './sampleBlocks.ts'

const check = 'receipts'
const missingAdvice = 'take a node that has the receipts of old blocks, or set a later startBlock'
const brokenAdvice =
  'if the chain is known for it, add the waivers that this check prints; else the node is wrong: take another one'

/**
 * Judges the sample of one node: whether it lacks blocks or receipts, gives broken ones, or fails.
 *
 * @param heights - those that were asked for.
 * @param way - how the node gives receipts, for the message.
 * @param waived - waivers of the chain, those of its preset included.
 */
export function judgeSample(
  heights: readonly number[],
  sample: readonly SampledBlock[],
  way: string,
  waived: readonly Waiver[]
): Finding {
  const failed = sample.flatMap(block => ('error' in block ? [block] : []))
  const read = sample.flatMap(block => ('error' in block ? [] : [block]))
  const failing = (is: (error: Error) => boolean) => failed.filter(({ error }) => is(error))
  const missing = failing(lacksBlock)
  if (missing[0] !== undefined) {
    return failure(check, `${missing[0].error.message}${others(missing.length)}`, missingAdvice)
  }
  const [unsound] = failing(error => error instanceof NodeContradictionError && !isBroken(error))
  if (unsound !== undefined) return { check, state: 'error', ...describeNodeFailure(unsound.error) }
  const broken = failing(isBroken)
  if (broken[0] !== undefined) {
    const share = `${broken.length} of ${sample.length} sampled blocks break checks`
    return failure(check, `${share}; ${broken[0].error.message}${excuses(waived)}`, brokenAdvice)
  }
  const [silent] = failed
  if (silent !== undefined) return { check, state: 'error', ...describeNodeFailure(silent.error) }
  const transactions = read.reduce((sum, { transactionCount }) => sum + transactionCount, 0)
  const receipts = transactions === 0 ? 'all are empty, so no receipt was asked for' : `receipts ${way}`
  const blocks = read.length === 1 ? `block ${read[0]?.height}` : `${read.length} sampled blocks`
  const found = `${blocks} with ${transactions} transactions read and verified, ${receipts}${excuses(waived)}`
  if (sample.length === heights.length) return ok(check, found)
  const advice = 'check that it is not overloaded and does not limit the rate of calls'
  return warning(check, `${found}; ${heights.length - sample.length} others were not read in time`, advice)
}

function isBroken(error: Error): error is BrokenChecksError {
  return error instanceof BrokenChecksError
}

function others(count: number): string {
  return count === 1 ? '' : ` (and ${count - 1} more of the sample)`
}

/** Names the checks that are waived already, by the range of their blocks. */
function excuses(waived: readonly Waiver[]): string {
  const ranges = new Map<string, string[]>()
  for (const { check: name, fromBlock = 0, toBlock } of waived) {
    const range = toBlock == null ? `from block ${fromBlock} on` : `in blocks ${fromBlock} to ${toBlock}`
    ranges.set(range, [...(ranges.get(range) ?? []), name])
  }
  const texts = [...ranges].map(([range, names]) => `${names.join(', ')} ${range}`)
  return texts.length === 0 ? '' : `; waived already: ${texts.join('; ')}`
}

/**
 * Compares the samples of a chain's nodes. A block that one node gives broken and another one sound is the fault of the first;
 * what all of them give broken is the chain's, and needs waivers.
 *
 * @param place - of the chain in the configuration.
 */
export function compareSamples(reports: readonly NodeReport[], place: string): readonly PlacedFinding[] {
  const sound = new Set(
    reports.flatMap(({ sample = [] }) => sample.flatMap(block => ('error' in block ? [] : [block.height])))
  )
  const isWrong = ({ sample = [] }: NodeReport) =>
    sample.some(block => 'error' in block && isBroken(block.error) && sound.has(block.height))
  const wrong = reports.flatMap((report, i): PlacedFinding[] => {
    const found = 'breaks checks in blocks that another node gives sound'
    const advice = 'take it out, and waive nothing for it'
    return isWrong(report) ? [{ place: `${place}.rpcUrls[${i}]`, ...failure(check, found, advice) }] : []
  })
  const sample = reports.filter(report => !isWrong(report)).flatMap(report => report.sample ?? [])
  const waivers = suggestWaivers(sample.toSorted((a, b) => a.height - b.height))
  if (waivers.length === 0) return wrong
  const found = `blocks break ${waivers.map(waiver => waiver.check).join(', ')} on every node that gave them`
  const advice = 'if the chain is known for it, add the waivers printed for it; else take other nodes'
  return [...wrong, { place: `${place}.waivers`, ...failure('waivers', found, advice), waivers }]
}

/**
 * Returns the waivers that a chain needs by its sample. The range of a check reaches to the next block with transactions that
 * does not break it, or without end.
 *
 * @param sample - by ascending height.
 */
function suggestWaivers(sample: readonly SampledBlock[]): readonly Waiver[] {
  const broken = sample.flatMap(block =>
    'error' in block && isBroken(block.error)
      ? block.error.broken.map(found => ({ height: block.height, ...found }))
      : []
  )
  return [...new Set(broken.map(found => found.check))].flatMap(name => {
    const breaking = broken.filter(found => found.check === name)
    const [first, last] = [breaking[0], breaking.at(-1)]
    if (first === undefined || last === undefined) return []
    const keeping = sample.filter(block => keeps(block, name))
    const before = keeping.findLast(({ height }) => height < first.height)?.height
    const after = keeping.find(({ height }) => height > last.height)?.height
    const what = `${breaking.length} of ${sample.length} sampled blocks, first in block ${first.height}: ${first.what}`
    return {
      check: name,
      reason: `seen in ${what}`.slice(0, maxReasonLength),
      fromBlock: before === undefined ? 0 : before + 1,
      toBlock: after === undefined ? null : after - 1
    }
  })
}

/** Reports whether a block shows that it keeps a check; one that is empty, or was not read, does not. */
function keeps(block: SampledBlock, name: WaivableCheck): boolean {
  if (!('error' in block)) return block.transactionCount > 0
  return isBroken(block.error) && block.error.broken.every(found => found.check !== name)
}
