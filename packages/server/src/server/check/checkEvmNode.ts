import { fetchBlock } from '../../evm/blocks/blocks.ts'
import { createEvmSource } from '../../evm/blocks/evmSource.ts'
import type { VerifiedBlock } from '../../evm/blocks/verification/verifiedBlock.ts'
import { createWaivers } from '../../evm/blocks/verification/waivers.ts'
import { createPoolReader } from '../../evm/pool/pool.ts'
import { findStrategies } from '../../evm/state/findStrategies.ts'
import { type BlockAt, pinBlock, readLatestBlock } from '../../evm/state/pinBlock.ts'
import type { Hash } from '../../model/evm.ts'
import { readObject, toQuantity } from '../../nodes/evm/rawFields.ts'
import { createEvmRpc, type EvmUpstreams } from '../../nodes/evm/rpc.ts'
import { describeNodeFailure } from '../../nodes/upstreams/upstreamError.ts'
import { displayText } from '../../platform/displayText.ts'
import { NodeContradictionError } from '../../platform/errors.ts'
import type { Config } from '../config/config.ts'
import { type Finding, ok, warning } from './findings.ts'

type EvmChain = Config['chains']['evm'][number]

/** A block from the future by more than this says that one of the two clocks is wrong. */
const maxSkewSeconds = 15
const oldHeadSeconds = 300
/** About so deep an index begins whose `startBlock` is `latest`. */
const usualFinality = 64
/** Beside these first ones, ever rarer ones further up: the first blocks of a chain are mostly empty. */
const firstHeights = 20
const nobody = '0x0000000000000000000000000000000000000000'
/** A node without old receipts shows a null where they should be, which looks like a contradiction. */
const receiptsAdvice = 'take a node that has the receipts of old blocks, or set a later startBlock'
const tracesAdvice =
  'take a node that offers trace_block or debug_traceBlockByHash and has the state of old blocks, or turn traces off'

/**
 * Asks one node for everything that the server will ask it for, with the parts that will ask it then, receipts of the
 * first blocks to index included.
 *
 * @param options.nowSeconds - of this machine, to compare the node's newest block with.
 * @param options.timeoutMs - bound on everything that is asked.
 * @throws {ConfigError} the URL cannot be used.
 * @remarks Some thirty calls, and the pool once.
 */
export async function checkEvmNode(
  chain: EvmChain,
  options: { readonly url: string; readonly nowSeconds: number; readonly timeoutMs: number }
): Promise<{ readonly findings: readonly Finding[]; readonly genesisHash?: Hash; readonly height?: number }> {
  const { url, nowSeconds, timeoutMs } = options
  const { chainId, traces } = chain
  const rpc = createEvmRpc({ chainId, rpcUrls: [url], timeoutMs: timeoutMs / 2, maxAttempts: 2 })
  try {
    const { genesisHash } = await rpc.identity()
    if (genesisHash === undefined) throw new NodeContradictionError('it does not have block 0')
    let latest: BlockAt | undefined
    const head = await attempt('head', 'error', async () => {
      latest = await rpc.onOneNode('head', readLatestBlock)
      return judgeHead(latest, nowSeconds)
    })
    const height = latest?.number
    // Where traces need not be had, or not of this node, it is no error that they are not.
    const lack = traces === 'auto' || chain.rpcUrls.length > 1 ? 'warning' : 'error'
    const others = await Promise.all([
      attempt('chain', 'error', () => checkClient(rpc, chainId, genesisHash)),
      attempt('receipts', 'error', () => checkReceipts(rpc, chain, height), receiptsAdvice),
      attempt('state', 'error', () => checkState(rpc)),
      attempt('pool', 'warning', () => checkPool(rpc)),
      ...(traces === 'off'
        ? []
        : [attempt('traces', lack, () => checkTraces(rpc, chain, height), tracesAdvice)])
    ])
    const findings = others.toSpliced(1, 0, head)
    return { findings, genesisHash, ...(height === undefined ? {} : { height }) }
  } catch (error) {
    return { findings: [{ check: 'chain', state: 'error', ...describeNodeFailure(error) }] }
  } finally {
    rpc.close()
  }
}

/** One look fails alone: its failure is a finding. @param advice - in place of that on the failure. */
async function attempt(
  check: string,
  state: 'warning' | 'error',
  look: () => Promise<Finding>,
  advice?: string
): Promise<Finding> {
  try {
    return await look()
  } catch (error) {
    return { check, state, ...describeNodeFailure(error), ...(advice === undefined ? {} : { advice }) }
  }
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
    if (!syncing?.ok || !syncing.value) return ok('chain', found)
    const advice = 'wait until it has caught up, or serve from another node meanwhile'
    return warning('chain', `${found}, still syncing`, advice)
  })
}

function judgeHead({ number, timestampSeconds }: BlockAt, nowSeconds: number): Finding {
  const age = nowSeconds - timestampSeconds
  if (age < -maxSkewSeconds) {
    const found = `block ${number} is from ${-age} s in the future`
    return warning('head', found, "set this machine's clock, or the node's")
  }
  const found = `block ${number}, ${Math.max(0, age)} s old`
  if (age <= oldHeadSeconds) return ok('head', found)
  return warning('head', found, 'nothing if the chain rests; else the node is behind')
}

/** Reads a block whole, as the indexer will: as near to `startBlock` as there is one with transactions. */
async function checkReceipts(rpc: EvmUpstreams, chain: EvmChain, head: number | undefined): Promise<Finding> {
  const check = 'receipts'
  const startBlock = firstToIndex(chain, head)
  if (head !== undefined && startBlock > head) {
    const found = `startBlock ${startBlock} is above the newest block ${head}`
    return warning(check, found, 'nothing is indexed until the chain has come that far')
  }
  const heights = heightsToTry(startBlock, head ?? startBlock)
  const number = (await firstWithTransactions(rpc, heights)) ?? startBlock
  const readCount = ({ transactions }: VerifiedBlock) => transactions.length
  const count = await fetchBlock(rpc, number, readCount, createWaivers(chain.waivers))
  if (count === 0) {
    const empty = `of ${heights.length} blocks none has transactions, so no receipt was asked for`
    return ok(check, `block ${number} is read; ${empty}`)
  }
  const isWhole = await rpc.onOneNode(check, node => node.attempt('eth_getBlockReceipts', async () => true))
  const way = isWhole
    ? 'by eth_getBlockReceipts'
    : 'one by one, which is slower (it lacks eth_getBlockReceipts)'
  return ok(check, `block ${number} with ${count} transactions is read, receipts ${way}`)
}

/** Reads a block with its traces, as the indexer will. */
async function checkTraces(rpc: EvmUpstreams, chain: EvmChain, head: number | undefined): Promise<Finding> {
  const check = 'traces'
  const first = firstToIndex(chain, head)
  const number = await firstWithTransactions(rpc, heightsToTry(first, Math.max(first, head ?? first)))
  if (number === undefined) return ok(check, 'no block has transactions, so no trace was asked for')
  const source = createEvmSource({ rpc, finality: 'auto', waivers: chain.waivers, traces: 'on' })
  const { transactionCount } = await source.block(number)
  const isFlat = await rpc.onOneNode(check, node => node.attempt('trace_block', async () => true))
  const way = isFlat ? 'trace_block' : 'debug_traceBlockByHash, which tells no rewards'
  return ok(check, `block ${number} with ${transactionCount} transactions is traced by ${way}`)
}

function firstToIndex({ startBlock }: EvmChain, head: number | undefined): number {
  return startBlock === 'latest' ? Math.max(0, (head ?? 0) - usualFinality) : startBlock
}

/** Ascending: the first blocks to index, then those at doubling distances, up to the newest one. */
function heightsToTry(startBlock: number, head: number): readonly number[] {
  const heights: number[] = []
  for (let distance = 0; startBlock + distance < head; ) {
    heights.push(startBlock + distance)
    distance = distance < firstHeights ? distance + 1 : distance * 2
  }
  return [...heights, head]
}

async function firstWithTransactions(
  rpc: EvmUpstreams,
  heights: readonly number[]
): Promise<number | undefined> {
  const blocks = await rpc.batch(
    heights.map(height => ({ method: 'eth_getBlockByNumber', params: [toQuantity(height), false] }))
  )
  return heights.find((_, index) => {
    const block = blocks[index]
    if (!block?.ok || block.value === null) return false
    const { transactions } = readObject(block.value, 'block')
    return Array.isArray(transactions) && transactions.length > 0
  })
}

/** Finds out how holdings will be read: at which block parameter, and how many at once. */
function checkState(rpc: EvmUpstreams): Promise<Finding> {
  return rpc.onOneNode('state', async node => {
    const { pinned } = await pinBlock(node, await readLatestBlock(node), nobody)
    const [best] = await findStrategies(node, pinned)
    const naming = pinned.byHash ? "by a block's hash (EIP-1898)" : 'by height'
    if (best === undefined || best.name === 'plain') {
      const advice = 'large accounts take many calls: a node that allows eth_call with code is quicker'
      return warning('state', `read ${naming}, one call for each read`, advice)
    }
    const way = best.name === 'stateOverride' ? 'a state override' : 'initcode that reverts'
    return ok('state', `read ${naming}, many in one eth_call by ${way}, ${best.gas} gas`)
  })
}

async function checkPool(rpc: EvmUpstreams): Promise<Finding> {
  const pool = await createPoolReader({ rpc })()
  const advice = 'ask for txpool_content where pending transactions are to be shown'
  if (pool === undefined) return warning('pool', 'no pending transactions are shown', advice)
  const found = `${pool.present.length} pending transactions`
  if (pool.complete && pool.leftOut === 0) return ok('pool', found)
  return warning('pool', `${found}, a part of the pool`, advice)
}
