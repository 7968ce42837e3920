import { createEvmSource } from '../../evm/blocks/evmSource.ts'
import { createPoolReader } from '../../evm/pool/pool.ts'
import { findStrategies } from '../../evm/state/findStrategies.ts'
import { pinBlock, readLatestBlock } from '../../evm/state/pinBlock.ts'
import { labelChain } from '../../model/labelChain.ts'
import type { NodeEndpoint } from '../../model/nodeEndpoint.ts'
import { createEvmRpc, type EvmUpstreams } from '../../nodes/evm/rpc.ts'
import { createWebSocketHeads } from '../../nodes/evm/webSocketHeads.ts'
import { describeNodeFailure } from '../../nodes/upstreams/upstreamError.ts'
import { displayText } from '../../platform/displayText.ts'
import { NodeContradictionError } from '../../platform/errors.ts'
import { silentLogger } from '../../platform/logger.ts'
import { chooseRoots } from '../config/chooseRoots.ts'
import type { Config } from '../config/config.ts'
import { checkAddressIndex, checkBlocks, checkRate } from './checkOffers.ts'
import {
  type Finding,
  failure,
  judgeHead,
  type NodeOffers,
  type NodeReport,
  ok,
  tryNode,
  warning
} from './findings.ts'
import { judgeSample } from './judgeSample.ts'
import { type SampledBlock, sampleBlocks, sampleHeights } from './sampleBlocks.ts'

type EvmChain = Config['chains']['evm'][number]

/** About so deep an index begins whose `startBlock` is `latest`. */
const usualFinality = 64
const nobody = '0x0000000000000000000000000000000000000000'
const tracesAdvice =
  'take a node that offers trace_block or debug_traceBlockByHash and has the state of old blocks, or turn traces off'

/**
 * Asks one node for everything that the server will ask it for, with the parts that will ask it then; about fifty blocks of
 * those to index are read and verified.
 *
 * @param timeoutMs - twice the bound on each call to the node, retries included; bound on reading the blocks.
 * @param onBlock - called after each of these blocks.
 * @throws {ConfigError} the URL cannot be used.
 * @remarks Some hundred and thirty calls, and the pool once.
 */
export async function checkEvmNode(
  chain: EvmChain,
  endpoint: NodeEndpoint,
  timeoutMs: number,
  onBlock?: () => void
): Promise<NodeReport> {
  const { chainId, traces } = chain
  const rpc = createEvmRpc({ chainId, rpcUrls: [endpoint], timeoutMs: timeoutMs / 2, maxAttempts: 2 })
  try {
    const { genesisHash } = await rpc.identity()
    if (genesisHash === undefined) throw new NodeContradictionError('it does not have block 0')
    let height: number | undefined
    const head = await tryNode('head', 'error', async () => {
      const { number, timestampSeconds } = await rpc.onOneNode('head', readLatestBlock)
      height = number
      return judgeHead(`block ${number}`, timestampSeconds)
    })
    // Not every node of a chain has to offer traces.
    const untraced = traces === 'auto' || chain.rpcUrls.length > 1 ? 'warning' : 'error'
    const newest = height
    let offers: NodeOffers = {}
    const note = <T extends NodeOffers>({ finding, ...found }: T & { readonly finding: Finding }) => {
      offers = { ...offers, ...found }
      return finding
    }
    const blocks =
      newest === undefined
        ? []
        : [tryNode('blocks', 'error', async () => note(await checkBlocks(rpc, chain, newest)))]
    const reading = Promise.all(blocks).then(() =>
      readSample(rpc, chain, { oldest: offers.oldestBlock ?? 0, head: newest, timeoutMs, onBlock })
    )
    const [client, ...others] = await Promise.all([
      tryNode('chain', 'error', async () => note(await checkClient(rpc, chain, genesisHash))),
      tryNode('receipts', 'error', async () => (await reading).finding),
      ...blocks,
      tryNode('state', 'error', () => checkState(rpc)),
      tryNode('addresses', 'warning', async () => note(await checkAddressIndex(rpc, chain, timeoutMs / 2))),
      tryNode('pool', 'warning', () => checkPool(rpc)),
      ...(traces === 'off'
        ? []
        : [
            tryNode(
              'traces',
              untraced,
              async () => checkTraces(rpc, chain, (await reading).sample),
              tracesAdvice
            )
          ])
    ])
    const findings = [client, head, ...others, ...checkRate(rpc)]
    const { sample } = await reading.catch(() => ({ sample: [] }))
    return { findings, genesisHash, offers, sample, ...(height === undefined ? {} : { height }) }
  } catch (error) {
    return { findings: [{ check: 'chain', state: 'error', ...describeNodeFailure(error) }] }
  } finally {
    rpc.close()
  }
}

/** As anvil, which `anvil --fork-url` is too, and hardhat call themselves. */
const devClients = /^(anvil|hardhatnetwork)\b/i

function checkClient(
  rpc: EvmUpstreams,
  chain: EvmChain,
  genesisHash: string
): Promise<{ readonly finding: Finding; readonly isDevNode: boolean }> {
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
    const found = `${labelChain(chain.chainId, chain.name)}, genesis ${genesisHash.slice(0, 10)}…${client}, answers in ${tookMs} ms`
    // `false` when it is level; an object, or whatever a client shows instead, while it is not.
    const isLevel = !syncing?.ok || !syncing.value
    const advice = 'wait until it has caught up, or serve from another node meanwhile'
    return {
      finding: isLevel ? ok('chain', found) : warning('chain', `${found}, still syncing`, advice),
      isDevNode: devClients.test(name)
    }
  })
}

/** Reads blocks of the node, from the first one to index that it has up to its newest, and judges them. */
async function readSample(
  rpc: EvmUpstreams,
  chain: EvmChain,
  options: {
    readonly oldest: number
    readonly head: number | undefined
    readonly timeoutMs: number
    readonly onBlock: (() => void) | undefined
  }
): Promise<{ readonly finding: Finding; readonly sample: readonly SampledBlock[] }> {
  const { startBlock, waivers } = chain
  const { oldest, head, timeoutMs, onBlock } = options
  if (head === undefined) {
    const found = 'no block was read, since the newest one is not known'
    return { finding: warning('receipts', found, 'see the finding about the head'), sample: [] }
  }
  const start = startBlock === 'latest' ? Math.max(0, head - usualFinality) : startBlock
  if (start > head) {
    const found = `startBlock ${start} is above the newest block ${head}`
    const advice = 'nothing is indexed until the chain has come that far'
    return { finding: warning('receipts', found, advice), sample: [] }
  }
  const heights = sampleHeights(Math.max(start, oldest), head)
  const source = createEvmSource({ rpc, finality: 'auto', waivers, roots: chooseRoots(chain) })
  const sample = await sampleBlocks(source, heights, { timeoutMs, ...(onBlock && { onBlock }) })
  const hasBlockReceipts = await rpc.onOneNode('receipts', node =>
    node.attempt('eth_getBlockReceipts', async () => true)
  )
  const way = hasBlockReceipts
    ? 'by eth_getBlockReceipts'
    : 'one by one, which is slower (it lacks eth_getBlockReceipts)'
  return { finding: judgeSample(heights, sample, way, waivers), sample }
}

/** Reads a block with its traces, as the indexer will. */
async function checkTraces(
  rpc: EvmUpstreams,
  { waivers }: EvmChain,
  sample: readonly SampledBlock[]
): Promise<Finding> {
  const check = 'traces'
  const number = sample.find(block => !('error' in block) && block.transactionCount > 0)?.height
  if (number === undefined) return ok(check, 'no sampled block has transactions, so no trace was asked for')
  const source = createEvmSource({ rpc, finality: 'auto', waivers, traces: 'on' })
  const { transactionCount } = await source.block(number)
  const isFlat = await rpc.onOneNode(check, node => node.attempt('trace_block', async () => true))
  const way = isFlat ? 'trace_block' : 'debug_traceBlockByHash, which tells no rewards'
  return ok(check, `block ${number} with ${transactionCount} transactions is traced by ${way}`)
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

/**
 * Checks that a WebSocket takes a subscription to new blocks, as the indexer will ask for one.
 *
 * @throws {ConfigError} the URL cannot be used.
 */
export async function checkWebSocket(url: string, chainId: number, timeoutMs: number): Promise<Finding> {
  const refused = new AbortController()
  const warn = (_: string, fields?: { readonly problem?: string }) =>
    refused.abort(fields?.problem?.replace(/^wsUrls\[\d+\]: /, ''))
  const startedMs = performance.now()
  const heads = createWebSocketHeads({ chainId, wsUrls: [url], logger: { ...silentLogger, warn } })
  try {
    // It rings at the subscription, before any block.
    await heads.wait(timeoutMs, refused.signal)
    if (heads.figures()[0]?.connected) {
      return ok('websocket', `subscribed to new blocks in ${Math.round(performance.now() - startedMs)} ms`)
    }
    const problem = refused.signal.aborted ? refused.signal.reason : 'no answer in time'
    const advice = 'new blocks are found by asking, every pollIntervalMs; check the URL, or take it out'
    return failure('websocket', `no subscription (${problem})`, advice)
  } finally {
    heads.close()
  }
}
