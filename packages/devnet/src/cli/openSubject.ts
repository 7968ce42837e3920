import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { getAddress } from 'ethers'
import { evmAccount } from '../evm/evmTruth.ts'
import { createJsonRpc, type JsonRpc } from '../platform/jsonRpc.ts'
import { solanaOwner } from '../solana/solanaTruth.ts'
import { type Devnet, startDevnet } from '../startDevnet.ts'
import { choosePort, preferredEvmPort } from './choosePort.ts'
import type { Shutdown } from './createShutdown.ts'
import type { CliOptions, RemoteChain } from './readOptions.ts'
import { safeText } from './safeText.ts'

/** An account to show, on a chain to serve. */
interface Showcase {
  chainId: number
  address: string
  /** Who that is, for the heading. */
  name: string
}

/** What the service is put over: the nodes, the folder of the index, and whose data to show. */
export interface Subject {
  store: string
  evm: {
    chainId: number
    rpcUrls: string[]
    startBlock?: number
    traces?: 'on'
    pollIntervalMs?: number
  }[]
  solana: { chainId: number; dev: true; rpcUrls: string[] }[]
  /** `host:port` of the metadata server; it also stands in for an IPFS gateway. */
  metadataHost?: string
  showEvm?: Showcase
  showSolana?: Showcase
  /** What a reader may want to know about it, one line each. */
  notes: string[]
  devnet?: Devnet
}

/** Starts the devnet with a folder that goes with it. */
export async function openDevnet(options: CliOptions, shutdown: Shutdown): Promise<Subject> {
  const folder = await mkdtemp(join(tmpdir(), 'chain-data-devnet-'))
  shutdown.add(() => rm(folder, { recursive: true, force: true }))
  const devnet = await startDevnet({
    seed: options.seed,
    evm: { port: await choosePort(options.evmPort, preferredEvmPort) }
  })
  shutdown.add(() => devnet.stop())
  const { evm, solana, metadata } = devnet
  const subject: Subject = {
    store: `sqlite:${folder}`,
    evm: [],
    solana: [],
    metadataHost: metadata.hostPort,
    notes: [],
    devnet
  }
  if (evm !== undefined) {
    const { chainId, rpcUrl } = evm.node
    subject.evm.push({ chainId, rpcUrls: [rpcUrl], traces: 'on', pollIntervalMs: 250 })
    subject.showEvm = { chainId, address: evmAccount(evm.world, 'alice').address, name: 'alice' }
    subject.notes.push(`EVM node     ${rpcUrl} (chain id ${chainId}, ${evm.world.blocks.length} blocks)`)
  }
  if (solana !== undefined) {
    const { chainId } = solana.world
    subject.solana.push({ chainId, dev: true, rpcUrls: [solana.node.rpcUrl] })
    subject.showSolana = { chainId, address: solanaOwner(solana.world, 'alice').address, name: 'alice' }
    subject.notes.push(`Solana node  ${solana.node.rpcUrl} (chain id ${chainId})`)
  }
  if (devnet.solanaUnavailable !== undefined) subject.notes.push(`No Solana: ${devnet.solanaUnavailable}`)
  return subject
}

/** Blocks indexed of a chain given from outside, counted back from its head, unless told otherwise. */
const defaultDepth = 1000

/**
 * Takes chains from outside, with an index that stays.
 *
 * @param folder - Where it is kept.
 * @throws When no node of a chain answers, one serves another chain, or the index kept begins elsewhere than asked.
 */
export async function openRemoteChains(
  options: Pick<CliOptions, 'remoteChains' | 'address' | 'startBlock'>,
  folder = resolve('chain-data')
): Promise<Subject> {
  const nodes = await Promise.all(options.remoteChains.map(openNode))
  const subject: Subject = { store: `sqlite:${folder}`, evm: [], solana: [], notes: [] }
  const [first] = options.remoteChains
  const [firstNode] = nodes
  if (first !== undefined && firstNode !== undefined) {
    subject.showEvm = {
      chainId: first.chainId,
      address: getAddress((options.address ?? (await recentSender(firstNode))).toLowerCase()),
      name: options.address === undefined ? 'a recent sender' : 'the account asked for'
    }
  }
  await mkdir(folder, { recursive: true })
  for (const [index, chain] of options.remoteChains.entries()) {
    const startBlock = await startBlockOf(chain.chainId, nodes[index], options.startBlock, folder)
    subject.evm.push({ ...chain, startBlock })
    subject.notes.push(`Chain ${chain.chainId}: indexed from block ${startBlock} into ${folder}`)
  }
  return subject
}

/** The first node of the chain that answers. Asked before anything is started: a typing error should not take a minute. */
async function openNode({ chainId, rpcUrls }: RemoteChain): Promise<JsonRpc> {
  let failure: unknown
  for (const url of rpcUrls) {
    const rpc = createJsonRpc(url)
    const found = await rpc('eth_chainId').catch((error: unknown) => {
      failure = error
    })
    if (found === undefined) continue
    if (Number(found) === chainId) return rpc
    throw new Error(
      `CHAIN_DATA_EVM_${chainId}: the node there serves chain ${safeText(String(Number(found)))}`
    )
  }
  throw new Error(
    `CHAIN_DATA_EVM_${chainId}: ${failure instanceof Error ? failure.message : 'no node answers'}`
  )
}

/** The start chosen at the first run stays, so that a later run continues the same index. */
async function startBlockOf(
  chainId: number,
  rpc: JsonRpc | undefined,
  asked: number | undefined,
  folder: string
): Promise<number> {
  const file = join(folder, 'start-blocks.json')
  const all = JSON.parse(await readFile(file, 'utf8').catch(() => '{}')) as Record<string, number>
  const known = all[chainId]
  if (known !== undefined && asked !== undefined && asked !== known) {
    throw new Error(
      `the index of chain ${chainId} in ${folder} begins at block ${known}; remove the folder to begin at ${asked}`
    )
  }
  const startBlock = asked ?? known ?? Math.max(0, Number(await rpc?.('eth_blockNumber')) - defaultDepth)
  await writeFile(file, JSON.stringify({ ...all, [chainId]: startBlock }))
  return startBlock
}

/** Somebody who sent something lately: an address that has a history to show. */
async function recentSender(rpc: JsonRpc): Promise<string> {
  const head = Number(await rpc('eth_blockNumber'))
  for (let number = head; number >= 0 && number > head - 50; number--) {
    const block = (await rpc('eth_getBlockByNumber', `0x${number.toString(16)}`, true)) as {
      transactions: { from: string }[]
    } | null
    const sender = block?.transactions[0]?.from
    if (sender !== undefined) return sender
  }
  throw new Error('the newest 50 blocks hold no transaction: name an account with --address')
}
