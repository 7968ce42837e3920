import { fetchBlock, quantity } from '../../../evm/blocks/blocks.ts'
import { checkTraces, tracesAdvice } from '../../../evm/blocks/traces/checkTraces.ts'
import type { VerifiedBlock } from '../../../evm/blocks/verification/verifiedBlock.ts'
import { createWaivers } from '../../../evm/blocks/verification/waivers.ts'
import { createPoolReader } from '../../../evm/pool/pool.ts'
import { findWays } from '../../../evm/state/findWays.ts'
import { type BlockAt, pinBlock, readLatestBlock } from '../../../evm/state/pinBlock.ts'
import type { Hash } from '../../../model/evm.ts'
import type { Finding } from '../../../model/finding.ts'
import type { StartBlock } from '../../../model/startBlock.ts'
import type { TraceMode } from '../../../model/traceMode.ts'
import type { Waiver } from '../../../model/waivableChecks.ts'
import type { EvmNode } from '../../../nodes/evm/nodeCall.ts'
import { readObject } from '../../../nodes/evm/rawFields.ts'
import { createEvmRpc, type EvmUpstreams } from '../../../nodes/evm/rpc.ts'
import { describeNodeFailure } from '../../../nodes/upstreams/upstreamError.ts'
import { displayText } from '../../../platform/displayText.ts'
import { NodeContradictionError } from '../../../platform/errors.ts'

/** What was found out about one node of an EVM chain. */
export interface EvmNodeReport {
  readonly findings: readonly Finding[]
  /** Absent when it did not show it. */
  readonly genesisHash?: Hash
  readonly head?: number
}

export interface CheckEvmNodeOptions {
  readonly url: string
  readonly chainId: number
  readonly startBlock: StartBlock
  readonly waivers: readonly Waiver[]
  /** Absent, or `off`: traces are not asked for. */
  readonly traces?: TraceMode
  /** Other nodes of the chain may have what this one lacks, if only one of them needs it. */
  readonly hasOthers?: boolean
  /** Of this machine, to hold the node's newest block against. */
  readonly nowSeconds: number
  /** Bound on everything that is asked. */
  readonly timeoutMs: number
}

/** A block from the future by more than this says that one of the two clocks is wrong. */
const mostSkewSeconds = 15
const oldHeadSeconds = 300
/** About so deep an index begins whose `startBlock` is `latest`. */
const usualFinality = 64
/** Beside these first ones, ever rarer ones further up: the first blocks of a chain are mostly empty. */
const neighboursLookedAt = 20
const nobody = '0x0000000000000000000000000000000000000000'

/**
 * Asks one node for everything that the server will ask it for, with the code that will ask it then, receipts of the
 * first blocks to index included.
 *
 * @throws {ConfigError} the URL cannot be used.
 * @remarks Some thirty calls, and the pool once.
 */
export async function checkEvmNode(options: CheckEvmNodeOptions): Promise<EvmNodeReport> {
  const { url, chainId, timeoutMs } = options
  const rpc = createEvmRpc({ chainId, rpcUrls: [url], timeoutMs: timeoutMs / 2, maxAttempts: 2 })
  try {
    const { genesisHash } = await rpc.identity()
    if (genesisHash === undefined) throw new NodeContradictionError('it does not have block 0')
    const latest = await attempt('head', () => rpc.onOneNode('head', readLatestBlock))
    const looks = [
      attempt('chain', () => checkClient(rpc, chainId, genesisHash)),
      latest.value === undefined ? latest : { finding: headFinding(latest.value, options) },
      attempt('receipts', () => checkReceipts(rpc, options, latest.value?.number)).then(outcome =>
        advise(outcome, receiptsAdvice)
      ),
      attempt('state', () => checkState(rpc)),
      attempt('pool', () => checkPool(rpc), 'warning'),
      ...lookAtTraces(rpc, options, latest.value?.number)
    ]
    const findings = (await Promise.all(looks)).map(({ finding, value }) => finding ?? (value as Finding))
    return { findings, genesisHash, ...(latest.value && { head: latest.value.number }) }
  } catch (error) {
    return { findings: [{ check: 'chain', state: 'error', ...describeNodeFailure(error) }] }
  } finally {
    rpc.close()
  }
}

/** One look fails alone: its failure is a finding. */
async function attempt<T>(
  check: string,
  look: () => Promise<T>,
  state: Finding['state'] = 'error'
): Promise<{ readonly finding?: Finding; readonly value?: T }> {
  try {
    return { value: await look() }
  } catch (error) {
    return { finding: { check, state, ...describeNodeFailure(error) } }
  }
}

/** A node without old receipts shows a null where they should be, which looks like a contradiction. */
const receiptsAdvice = 'take a node that has the receipts of old blocks, or set a later startBlock'

function advise<T extends { readonly finding?: Finding }>(outcome: T, advice: string): T {
  return outcome.finding === undefined ? outcome : { ...outcome, finding: { ...outcome.finding, advice } }
}

/** Only where they are asked for. Where they need not be had, or not of this node, it is no error that they are not. */
function lookAtTraces(rpc: EvmUpstreams, options: CheckEvmNodeOptions, head: number | undefined) {
  const { traces = 'off', hasOthers = false, waivers } = options
  if (traces === 'off') return []
  const look = async () => {
    const first = firstToIndex(options, head)
    const full = await firstWithTransactions(rpc, heightsToTry(first, Math.max(first, head ?? first)))
    return checkTraces(rpc, full, waivers)
  }
  const outcome = attempt('traces', look, traces === 'auto' || hasOthers ? 'warning' : 'error')
  return [outcome.then(found => advise(found, tracesAdvice))]
}

function firstToIndex({ startBlock }: CheckEvmNodeOptions, head: number | undefined): number {
  return startBlock === 'latest' ? Math.max(0, (head ?? 0) - usualFinality) : startBlock
}

function checkClient(rpc: EvmUpstreams, chainId: number, genesisHash: Hash): Promise<Finding> {
  return rpc.onOneNode('client', async node => {
    const sentMs = performance.now()
    await node.request({ method: 'eth_blockNumber', params: [] })
    const tookMs = Math.round(performance.now() - sentMs)
    const [version, syncing] = await node.batch([
      { method: 'web3_clientVersion', params: [] },
      { method: 'eth_syncing', params: [] }
    ])
    const name =
      version?.ok && typeof version.value === 'string' ? displayText(version.value).slice(0, 60) : ''
    const client = name === '' ? '' : `, ${name}`
    const found = `chain ${chainId}, genesis ${genesisHash.slice(0, 10)}…${client}, answers in ${tookMs} ms`
    // `false` when it is level; an object, or whatever a client shows instead, while it is not.
    if (!syncing?.ok || !syncing.value) return { check: 'chain', state: 'ok', found }
    const advice = 'wait until it has caught up, or serve from another node meanwhile'
    return { check: 'chain', state: 'warning', found: `${found}, still syncing`, advice }
  })
}

function headFinding({ number, timestampSeconds }: BlockAt, { nowSeconds }: CheckEvmNodeOptions): Finding {
  const age = nowSeconds - timestampSeconds
  if (age < -mostSkewSeconds) {
    const found = `block ${number} is from ${-age} s in the future`
    return { check: 'head', state: 'warning', found, advice: "set this machine's clock, or the node's" }
  }
  const found = `block ${number}, ${Math.max(0, age)} s old`
  if (age <= oldHeadSeconds) return { check: 'head', state: 'ok', found }
  return {
    check: 'head',
    state: 'warning',
    found,
    advice: 'nothing if the chain rests; else the node is behind'
  }
}

/** Reads a block whole, as the indexer will: as near to `startBlock` as there is one with transactions. */
async function checkReceipts(
  rpc: EvmUpstreams,
  options: CheckEvmNodeOptions,
  head: number | undefined
): Promise<Finding> {
  const check = 'receipts'
  const startBlock = firstToIndex(options, head)
  if (head !== undefined && startBlock > head) {
    const found = `startBlock ${startBlock} is above the newest block ${head}`
    return { check, state: 'warning', found, advice: 'nothing is indexed until the chain has come that far' }
  }
  const heights = heightsToTry(startBlock, head ?? startBlock)
  const full = await firstWithTransactions(rpc, heights)
  const number = full ?? startBlock
  const reading = { read: ({ transactions }: VerifiedBlock) => transactions.length }
  const count = await fetchBlock(rpc, number, reading, createWaivers(options.waivers))
  if (count === 0) {
    const found = `block ${number} is read; of ${heights.length} blocks none has transactions, so no receipt was asked for`
    return { check, state: 'ok', found }
  }
  const whole = await rpc.onOneNode(check, node => node.attempt('eth_getBlockReceipts', async () => true))
  const way = whole
    ? 'by eth_getBlockReceipts'
    : 'one by one, which is slower (it lacks eth_getBlockReceipts)'
  return { check, state: 'ok', found: `block ${number} with ${count} transactions is read, receipts ${way}` }
}

/** Ascending: the first blocks to index, then those at doubling distances, up to the newest one. */
export function heightsToTry(startBlock: number, head: number): readonly number[] {
  const heights: number[] = []
  for (let distance = 0; startBlock + distance < head; ) {
    heights.push(startBlock + distance)
    distance = distance < neighboursLookedAt ? distance + 1 : distance * 2
  }
  return [...heights, head]
}

async function firstWithTransactions(
  rpc: EvmUpstreams,
  heights: readonly number[]
): Promise<number | undefined> {
  const blocks = await rpc.batch(
    heights.map(height => ({ method: 'eth_getBlockByNumber', params: [quantity(height), false] }))
  )
  const place = blocks.findIndex(block => {
    if (!block.ok) return false
    const transactions = block.value === null ? [] : readObject(block.value, 'block').transactions
    return Array.isArray(transactions) && transactions.length > 0
  })
  return heights[place]
}

/** How holdings will be read: at which block parameter, and how many at once. */
function checkState(rpc: EvmUpstreams): Promise<Finding> {
  return rpc.onOneNode('state', async (node: EvmNode) => {
    const { pinned } = await pinBlock(node, await readLatestBlock(node), nobody)
    const [best] = await findWays(node, pinned)
    const naming = pinned.byHash ? "by a block's hash (EIP-1898)" : 'by height'
    const check = 'state'
    if (best === undefined || best.name === 'plain') {
      const found = `read ${naming}, one call for each read`
      return {
        check,
        state: 'warning',
        found,
        advice: 'large accounts take many calls: a node that allows eth_call with code is quicker'
      }
    }
    const way = best.name === 'stateOverride' ? 'a state override' : 'initcode that reverts'
    return { check, state: 'ok', found: `read ${naming}, many in one eth_call by ${way}, ${best.gas} gas` }
  })
}

async function checkPool(rpc: EvmUpstreams): Promise<Finding> {
  const check = 'pool'
  const pool = await createPoolReader({ rpc })()
  const advice = 'ask for txpool_content where pending transactions are to be shown'
  if (pool === undefined)
    return { check, state: 'warning', found: 'no pending transactions are shown', advice }
  const found = `${pool.present.length} pending transactions`
  if (pool.complete && pool.leftOut === 0) return { check, state: 'ok', found }
  return { check, state: 'warning', found: `${found}, a part of the pool`, advice }
}
