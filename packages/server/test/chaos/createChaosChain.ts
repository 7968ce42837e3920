import { createEmptyWorld } from '@chain-data/devnet'
import type { Random } from '../../../devnet/src/platform/createRandom.ts'
import { createJsonRpc, type JsonRpc } from '../../../devnet/src/platform/jsonRpc.ts'
import { beginTraffic, type TransactionRequest } from './beginTraffic.ts'
import type { ChaosNode } from './chaosNodes.ts'
import { createUndo } from './createUndo.ts'

/** A transaction that was sent; the same request sent again is the same transaction, hash for hash. */
interface Sent {
  readonly hash: string
  readonly request: TransactionRequest
}

/** A chain to which random things happen. What it does is no oracle: that is the node, walked by its hashes. */
export interface ChaosChain {
  readonly rpc: JsonRpc
  head(): number
  /** The head after the contracts were made; nothing below is ever replaced. */
  readonly firstFree: number
  /** Makes blocks with random transactions; some are left in the pool. */
  grow(blocks: number): Promise<void>
  /** Sends random transactions and makes no block. */
  fillPool(transactions: number): Promise<void>
  /**
   * Replaces the newest blocks: some of their transactions come again in other blocks, some wait in the pool, some are
   * gone for good. The head is never lower afterwards.
   * @returns how, to be read when something fails.
   */
  replace(depth: number): Promise<string>
  /** Every address that was ever part of a transaction, lower case. */
  readonly everAddresses: ReadonlySet<string>
  /** Every transaction ever sent. */
  readonly everHashes: ReadonlySet<string>
}

const secondsPerBlock = 12

/** Deploys what the traffic needs on a fresh node. */
export async function createChaosChain(node: ChaosNode, random: Random): Promise<ChaosChain> {
  const rpc = createJsonRpc(node.rpcUrl)
  const world = await createEmptyWorld(node.rpcUrl)
  let clockSeconds = Number(((await rpc('eth_getBlockByNumber', '0x0', false)) as Block).timestamp)
  /** What each block holds, by height. */
  const blocks: Sent[][] = [[]]
  let waiting: Sent[] = []
  const undo = createUndo(node, rpc)
  await undo.remember(0)
  const traffic = beginTraffic(world, random)
  const everHashes = new Set<string>()

  const head = () => blocks.length - 1

  async function send(request: TransactionRequest): Promise<void> {
    const hash = (await rpc('eth_sendTransaction', request)) as string
    everHashes.add(hash)
    waiting.push({ hash, request })
  }

  async function mine(): Promise<void> {
    clockSeconds += secondsPerBlock
    await rpc('evm_mine', clockSeconds)
    const mined = new Set<string>()
    if (waiting.length > 0) {
      const { transactions } = (await rpc('eth_getBlockByNumber', 'latest', false)) as Block
      for (const hash of transactions) mined.add(hash)
    }
    blocks.push(waiting.filter(({ hash }) => mined.has(hash)))
    waiting = waiting.filter(({ hash }) => !mined.has(hash))
    await undo.remember(head())
  }

  async function fillPool(transactions: number): Promise<void> {
    for (let i = 0; i < transactions; i++) await send(traffic.next())
  }

  async function grow(count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      await fillPool(random.pick([0, 0, 1, 1, 2, 3]))
      await mine()
    }
    if (random.below(2) === 0) await fillPool(1 + random.below(3))
  }

  /** Which of the removed transactions come again, and in which replacement. Without one of a sender's the rest do not fit. */
  function divide(removed: readonly Sent[], depth: number) {
    const kept: { sent: Sent; block: number }[] = []
    const lost: Sent[] = []
    const cut = new Set<string>()
    let block = 0
    for (const sent of removed) {
      if (cut.has(sent.request.from) || random.below(8) === 0) {
        cut.add(sent.request.from)
        lost.push(sent)
        continue
      }
      if (random.below(3) === 0) block = Math.min(depth - 1, block + random.below(depth))
      kept.push({ sent, block })
    }
    return { kept, lost }
  }

  async function replace(depth: number): Promise<string> {
    const ancestor = head() - depth
    if (ancestor < firstFree) throw new Error(`${depth} of ${head() - firstFree} blocks cannot be replaced`)
    const removed = blocks.slice(ancestor + 1).flat()
    const { kept, lost } = divide(removed, depth)
    // Nonces go back: what waits would not fit any more.
    if (waiting.length > 0) await undo.emptyPool()
    waiting = []
    blocks.length = ancestor + 1
    const inPlace = undo.replaceInPlace !== undefined && random.below(2) === 0
    if (undo.replaceInPlace !== undefined && inPlace) {
      await undo.replaceInPlace(
        depth,
        kept.map(({ sent, block }) => [sent.hash, block] as const)
      )
      for (let place = 0; place < depth; place++) {
        blocks.push(kept.filter(({ block }) => block === place).map(({ sent }) => sent))
      }
    } else {
      await undo.backTo(ancestor, depth)
      const replacements = depth + random.below(4)
      for (let place = 0; place < replacements; place++) {
        for (const { sent, block } of kept) if (block === place) await send(sent.request)
        await mine()
      }
    }
    // Thrown back: into the pool, to be mined in a block to come.
    const back = random.below(2) === 0 ? lost : []
    for (const { request } of back) await send(request)
    traffic.resume(noncesAfter([...blocks.flat(), ...waiting]))
    await expectHead()
    const way = inPlace ? 'in place' : 'after a lower head'
    return `${depth} replaced ${way}, ${kept.length} moved, ${back.length} thrown back, ${lost.length - back.length} lost`
  }

  /** Our counting must be the node's, or depths would not be what they say. */
  async function expectHead(): Promise<void> {
    const found = Number(await rpc('eth_blockNumber'))
    if (found !== head()) throw new Error(`the node's head is block ${found}, it should be ${head()}`)
  }

  for (const stage of traffic.preparation) {
    for (const request of stage) await send(request)
    await mine()
  }
  const firstFree = head()
  return { rpc, head, firstFree, grow, fillPool, replace, everAddresses: traffic.everAddresses, everHashes }
}

interface Block {
  readonly timestamp: string
  readonly transactions: readonly string[]
}

function noncesAfter(sent: readonly Sent[]): ReadonlyMap<string, number> {
  const nonces = new Map<string, number>()
  for (const { request } of sent) {
    nonces.set(request.from, Math.max(nonces.get(request.from) ?? 0, Number(request.nonce) + 1))
  }
  return nonces
}
