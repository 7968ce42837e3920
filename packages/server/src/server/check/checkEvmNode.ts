import { createEvmSource } from '../../evm/blocks/evmSource.ts'
import { findOldestBlock } from '../../evm/blocks/findOldestBlock.ts'
import { createPoolReader } from '../../evm/pool/pool.ts'
import { findStrategies } from '../../evm/state/findStrategies.ts'
import { pinBlock, readLatestBlock } from '../../evm/state/pinBlock.ts'
import { labelChain } from '../../model/labelChain.ts'
import type { NodeEndpoint } from '../../model/nodeEndpoint.ts'
import { readList, readObject, toQuantity } from '../../nodes/evm/rawFields.ts'
import { createEvmRpc, type EvmUpstreams } from '../../nodes/evm/rpc.ts'
import { createWebSocketHeads } from '../../nodes/evm/webSocketHeads.ts'
import { describeNodeFailure } from '../../nodes/upstreams/upstreamError.ts'
import { displayText } from '../../platform/displayText.ts'
import { NodeContradictionError } from '../../platform/errors.ts'
import { silentLogger } from '../../platform/logger.ts'
import { plural } from '../../platform/plural.ts'
import { chooseRoots } from '../config/chooseRoots.ts'
import type { Config } from '../config/config.ts'
import { answeredSince, type Findings, judge, judgeHead, tryNode } from './findings.ts'
import type { NodeChecks, NodeReport } from './nodeReport.ts'
import { judgeSample, sampleBlocks, sampleHeights } from './sampleBlocks.ts'

type EvmChain = Config['chains']['evm'][number]
type Draft = { -readonly [K in keyof NodeReport]: NodeReport[K] }

/** About so deep an index begins whose `startBlock` is `latest`. */
const usualFinality = 64
const nobody = '0x0000000000000000000000000000000000000000'
/** As anvil, which `anvil --fork-url` is too, and hardhat call themselves. */
const devClients = /^(anvil|hardhatnetwork)\b/i

/**
 * Asks one node for everything that the server will ask it for, with the parts that will ask it then; about fifty blocks of
 * those to index are read and verified.
 *
 * @param timeoutMs - twice the bound on each call to the node, retries included; bound on reading the blocks.
 * @param checks - those of the features.
 * @throws {ConfigError} the URL cannot be used.
 */
export async function checkEvmNode(
  chain: EvmChain,
  endpoint: NodeEndpoint,
  timeoutMs: number,
  checks: readonly NodeChecks[]
): Promise<NodeReport> {
  const { chainId } = chain
  const rpc = createEvmRpc({ chainId, rpcUrls: [endpoint], timeoutMs: timeoutMs / 2, maxAttempts: 2 })
  const report: Draft = { findings: [] }
  try {
    const { genesisHash } = await rpc.identity()
    if (genesisHash === undefined) throw new NodeContradictionError('it does not have block 0')
    const sentMs = performance.now()
    const { number: height, timestampSeconds } = await rpc.onOneNode('head', readLatestBlock)
    const answers = `answers ${answeredSince(sentMs, endpoint)}`
    Object.assign(report, { genesisHash, height })
    const findings = await Promise.all([
      tryNode('chain', 'error', () => checkClient(rpc, chain, report, answers)),
      judgeHead(`block ${height}`, timestampSeconds),
      checkBlocks(rpc, chain, report, timeoutMs),
      tryNode('state', 'error', () => checkState(rpc)),
      ...checks.map(async each => {
        const { findings, ...facts } = await each.checkNode(chain, rpc, timeoutMs / 2)
        Object.assign(report, facts)
        return findings
      }),
      tryNode('pool', 'warning', () => checkPool(rpc))
    ])
    // Its time is that of a node which does nothing else.
    await readActivity(rpc, report).catch(() => undefined)
    const { throttled = 0, exhausted = 0 } = rpc.figures()[0]?.calls ?? {}
    const refused = throttled + exhausted
    const times = refused === 1 ? 'once' : `${refused} times`
    const rate = judge`rate | warning | ${refused > 0} | it limited the rate of calls ${times} during this check | indexing is slower for it: raise the limit there, or take a node without one`
    return { ...report, findings: [...findings.flat(), ...rate] }
  } catch (error) {
    return { findings: [{ check: 'chain', state: 'error', ...describeNodeFailure(error) }] }
  } finally {
    rpc.close()
  }
}

function checkClient(rpc: EvmUpstreams, { chainId, name }: EvmChain, report: Draft, answers: string) {
  return rpc.onOneNode('client', async node => {
    const [version, syncing] = await node.batch([
      { method: 'web3_clientVersion', params: [] },
      { method: 'eth_syncing', params: [] }
    ])
    const client = displayText(version?.ok ? String(version.value ?? '') : '').slice(0, 60)
    report.isDevNode = devClients.test(client)
    // `false` when it is level; an object, or whatever a client shows instead, while it is not.
    const isSyncing = syncing?.ok === true && Boolean(syncing.value)
    const genesis = `genesis ${report.genesisHash?.slice(0, 10)}…`
    const shown = [labelChain(chainId, name), genesis, client, answers].filter(Boolean).join(', ')
    return judge`
      chain | ok | ${!isSyncing} | ${shown}
      chain | warning | | ${shown}, still syncing | wait until it has caught up, or serve from another node meanwhile
    `
  })
}

async function checkBlocks(rpc: EvmUpstreams, chain: EvmChain, report: Draft, timeoutMs: number) {
  const { startBlock, waivers, traces, rpcUrls } = chain
  const { height = 0 } = report
  const blocks = await tryNode('blocks', 'error', async () => {
    const [oldest, balance] = await rpc.onOneNode('blocks', async node => {
      const first = await findOldestBlock(node, height)
      const params = [nobody, toQuantity(Math.max(first, Math.min(1, height)))]
      return [first, ...(await node.batch([{ method: 'eth_getBalance', params }]))] as const
    })
    report.oldestBlock = oldest
    const isArchive = balance?.ok === true && balance.value !== null
    const state = isArchive ? 'and their state (an archive' : 'without the state of old ones (not an archive'
    const found = `${oldest === 0 ? 'it has all blocks' : `its oldest block is ${oldest} (pruned)`}, ${state} node)`
    return judge`
      blocks | ok | ${startBlock === 'latest' || startBlock >= oldest} | ${found}
      blocks | error | | ${found}; startBlock is ${startBlock} | set startBlock to ${oldest} or later, or take a node that has all blocks
    `
  })
  const receipts = await tryNode('receipts', 'error', async () => {
    const start = startBlock === 'latest' ? Math.max(0, height - usualFinality) : startBlock
    if (start > height) {
      return judge`receipts | warning | | startBlock ${start} is above the newest block ${height} | nothing is indexed until the chain has come that far`
    }
    const heights = sampleHeights(Math.max(start, report.oldestBlock ?? 0), height)
    const source = createEvmSource({ rpc, finality: 'auto', waivers, roots: chooseRoots(chain) })
    const sample = await sampleBlocks(source, heights, timeoutMs)
    report.sample = sample
    const isWhole = await rpc.onOneNode('receipts', node =>
      node.attempt('eth_getBlockReceipts', async () => true)
    )
    return judgeSample(sample, heights, isWhole === true)
  })
  // Not every node of a chain has to offer traces.
  const untraced = traces === 'auto' || rpcUrls.length > 1 ? 'warning' : 'error'
  const advice =
    'take a node that offers trace_block or debug_traceBlockByHash and has the state of old blocks, or turn traces off'
  const look = () => checkTraces(rpc, chain, report)
  const traced = traces === 'off' ? [] : await tryNode('traces', untraced, look, { advice })
  return [...receipts, ...blocks, ...traced]
}

async function checkTraces(rpc: EvmUpstreams, { waivers }: EvmChain, { sample = [] }: NodeReport) {
  const block = sample.find(({ transactionCount }) => transactionCount > 0)?.height
  if (block === undefined)
    return judge`traces | ok | | all sampled blocks are empty, so no trace was asked for`
  const source = createEvmSource({ rpc, finality: 'auto', waivers, traces: 'on' })
  const { transactionCount } = await source.block(block)
  const isFlat = await rpc.onOneNode('traces', node => node.attempt('trace_block', async () => true))
  const way = isFlat ? 'trace_block' : 'debug_traceBlockByHash, which tells no rewards'
  return judge`traces | ok | | block ${block} with ${plural(transactionCount, 'transaction')} is traced by ${way}`
}

/** Finds out how holdings will be read: at which block parameter, and how many at once. */
function checkState(rpc: EvmUpstreams): Promise<Findings> {
  return rpc.onOneNode('state', async node => {
    const { pinned } = await pinBlock(node, await readLatestBlock(node), nobody)
    const [best] = await findStrategies(node, pinned)
    const naming = pinned.byHash ? "by a block's hash (EIP-1898)" : 'by height'
    const way = best?.name === 'stateOverride' ? 'a state override' : 'initcode that reverts'
    return judge`
      state | ok | ${best !== undefined && best.name !== 'plain'} | read ${naming}, many in one eth_call by ${way}, ${best?.gas} gas
      state | warning | | read ${naming}, one call for each read | large accounts take many calls: a node that allows eth_call with code is quicker
    `
  })
}

async function checkPool(rpc: EvmUpstreams): Promise<Findings> {
  const pool = await createPoolReader({ rpc })()
  const count = plural(pool?.present.length ?? 0, 'pending transaction')
  return judge`
    pool | ok | ${pool?.complete && pool.leftOut === 0} | ${count}
    pool | warning | | ${pool === undefined ? 'no pending transactions are shown' : `${count}, a part of the pool`} | ask for txpool_content where pending transactions are to be shown
  `
}

/** Reads who has sent the newest transaction of the sample, and how long its block takes. */
async function readActivity(rpc: EvmUpstreams, report: Draft): Promise<void> {
  const { sample = [], height = 0 } = report
  const newest = sample.findLast(({ transactionCount }) => transactionCount > 0)?.height ?? height
  const params = [toQuantity(newest), true]
  const startedMs = performance.now()
  const block = readObject(await rpc.request({ method: 'eth_getBlockByNumber', params }), 'block')
  report.blockMs = performance.now() - startedMs
  // Chains that put a transaction of their own into every block put it first.
  const last = readList(block.transactions, 'block: transactions').at(-1)
  if (last !== undefined) report.address = String(readObject(last, 'transaction').from)
}

/** Checks that a WebSocket takes a subscription to new blocks. @throws {ConfigError} the URL cannot be used. */
export async function checkWebSocket(url: string, chainId: number, timeoutMs: number): Promise<Findings> {
  const refused = new AbortController()
  const warn = (_: string, fields?: { readonly problem?: string }) =>
    refused.abort(fields?.problem?.replace(/^wsUrls\[\d+\]: /, ''))
  const sentMs = performance.now()
  const heads = createWebSocketHeads({ chainId, wsUrls: [url], logger: { ...silentLogger, warn } })
  try {
    // It rings at the subscription, before any block.
    await heads.wait(timeoutMs, refused.signal)
    const problem = refused.signal.aborted ? refused.signal.reason : 'no answer in time'
    return judge`
      websocket | ok | ${heads.figures()[0]?.connected} | subscribed to new blocks ${answeredSince(sentMs, url)}
      websocket | error | | no subscription (${problem}) | new blocks are found by asking, every pollIntervalMs; check the URL, or take it out
    `
  } finally {
    heads.close()
  }
}
