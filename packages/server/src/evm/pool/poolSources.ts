import type { Address } from '@chain-data/index'
import type { EvmNode } from '../../nodes/evm/nodeCall.ts'
import { readCount, readList, readObject, readOptionalQuantity } from '../../nodes/evm/rawFields.ts'
import { NodeContradictionError, NodeRpcError } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'
import { type FoundPool, type PoolTransaction, readPoolEntries } from './readPoolEntries.ts'

/**
 * The whole pool by `txpool_content`: `{ pending, queued }`, each `{ sender: { nonce: transaction } }`. Keys are not
 * read: their letter case differs between nodes, and the transactions say the same.
 *
 * @returns `undefined` when the node has no such method.
 * @throws {NodeContradictionError} when the answer has another shape.
 */
export async function readTxpool(node: EvmNode, logger: Logger | undefined): Promise<FoundPool | undefined> {
  const content = await node.attempt('txpool_content', () =>
    node.request({ method: 'txpool_content', params: [] })
  )
  if (content === undefined) return undefined
  const sections = readObject(content, 'txpool_content')
  const present = new Map<string, PoolTransaction>()
  for (const [section, status] of [
    ['queued', 0],
    ['pending', 1]
  ] as const) {
    const raw = Object.values(readObject(sections[section] ?? {}, `txpool_content.${section}`)).flatMap(
      byNonce => Object.values(readObject(byNonce, `txpool_content.${section}`))
    )
    // A transaction that moved up while the node wrote its answer counts as pending.
    for (const entry of readPoolEntries(raw, logger)) present.set(entry.hash, { ...entry, status })
  }
  return { entries: [...present.values()], complete: true }
}

/**
 * Returns queued entries of the last read that may only be between the two lists: nodes write down pending and queued ones after
 * each other, and what moves up in between is in neither (anvil). So a queued entry that vanishes counts as present for one
 * more read, unless another one has taken its nonce.
 */
export function movingUp(
  queuedBefore: readonly PoolTransaction[],
  found: readonly PoolTransaction[]
): readonly PoolTransaction[] {
  const hashes = new Set(found.map(({ hash }) => hash))
  const vanished = queuedBefore.filter(({ hash }) => !hashes.has(hash))
  if (vanished.length === 0) return []
  const taken = new Set(found.map(({ from, nonce }) => `${from} ${nonce}`))
  return vanished.filter(({ from, nonce }) => !taken.has(`${from} ${nonce}`))
}

/** Clients whose list is the whole pool. Others, geth among them, list what their own accounts have sent. */
const listsEverything = /^(hardhat|edr|nethermind|anvil)/i

/**
 * The pool by `eth_pendingTransactions`, which mixes pending and queued: the senders' next nonces separate them.
 *
 * @returns `undefined` when the node has no such method; complete only for clients known to list everything.
 * @throws {NodeContradictionError} when the answer is not a list.
 * @remarks One batch, and one call per sender.
 */
export async function readPendingList(
  node: EvmNode,
  logger: Logger | undefined
): Promise<FoundPool | undefined> {
  const raw = await node.attempt('eth_pendingTransactions', () =>
    node.request({ method: 'eth_pendingTransactions', params: [] })
  )
  if (raw === undefined) return undefined
  if (!Array.isArray(raw)) throw new NodeContradictionError('eth_pendingTransactions did not answer a list')
  const version = await node.attempt('web3_clientVersion', () =>
    node.request({ method: 'web3_clientVersion', params: [] })
  )
  const entries = readPoolEntries(raw, logger)
  const nextNonces = await readNextNonces(node, new Set(entries.map(({ from }) => from)))
  return {
    entries: sortByNonceGap(entries, nextNonces),
    complete: typeof version === 'string' && listsEverything.test(version)
  }
}

async function readNextNonces(
  node: EvmNode,
  senders: ReadonlySet<Address>
): Promise<ReadonlyMap<Address, bigint>> {
  const asked = [...senders]
  const outcomes = await node.batch(
    asked.map(sender => ({ method: 'eth_getTransactionCount', params: [sender, 'latest'] }))
  )
  const nextNonces = new Map<Address, bigint>()
  for (const [index, sender] of asked.entries()) {
    const outcome = outcomes[index]
    if (outcome === undefined) continue
    if (!outcome.ok) throw outcome.error
    nextNonces.set(sender, readOptionalQuantity(outcome.value, `nonce of ${sender}`) ?? 0n)
  }
  return nextNonces
}

/**
 * Separates pending from queued: from an account's next nonce on, transactions without a gap may enter the next block,
 * those after a gap wait. Those with older nonces are in a block already and left out.
 */
function sortByNonceGap(
  entries: readonly Omit<PoolTransaction, 'status'>[],
  nextNonces: ReadonlyMap<Address, bigint>
): PoolTransaction[] {
  const expected = new Map(nextNonces)
  return [...entries]
    .sort((a, b) => (a.nonce < b.nonce ? -1 : a.nonce > b.nonce ? 1 : 0))
    .filter(({ from, nonce }) => nonce >= (nextNonces.get(from) ?? 0n))
    .map(entry => {
      const next = expected.get(entry.from) ?? 0n
      // The same nonce again is a replacement, no gap.
      if (entry.nonce === next) expected.set(entry.from, next + 1n)
      return { ...entry, status: entry.nonce <= next ? 1 : 0 }
    })
}

/** A block may come between the two calls; so often in a row it is no coincidence. */
const attempts = 3
/** Remembered like a missing method. */
const capability = 'eth_getBlockByNumber of a block to come'

/**
 * Reads what the node would put into the next block, by `eth_getBlockByNumber("pending", true)`: the last resort. Never
 * complete: what is queued, and what finds no room, is not in it.
 *
 * @returns `undefined` when the node has no block to come: many answer their newest one instead,
 *   which says nothing about the pool.
 * @throws {NodeContradictionError} when the answer is not a block.
 */
export function readPendingBlock(node: EvmNode, logger: Logger | undefined): Promise<FoundPool | undefined> {
  return node.attempt(capability, async () => {
    for (let attempt = 0; attempt < attempts; attempt++) {
      const raw = await askForBlock(node)
      if (raw === null || raw === undefined) break
      const block = readObject(raw, 'pending block')
      // Asked afterwards: a block above it cannot have been the newest one.
      const head = await node.request({ method: 'eth_blockNumber', params: [] })
      if (readCount(block.number, 'pending block: number') <= readCount(head, 'eth_blockNumber')) continue
      const entries = readPoolEntries(readList(block.transactions, 'pending block').map(takeOut), logger)
      return { entries: entries.map(entry => ({ ...entry, status: 1 as const })), complete: false }
    }
    throw new NodeRpcError('the node has no block to come', -32601, undefined)
  })
}

/** Nodes that do not know the tag answer all kinds of errors. */
async function askForBlock(node: EvmNode): Promise<unknown> {
  try {
    return await node.request({ method: 'eth_getBlockByNumber', params: ['pending', true] })
  } catch (error) {
    if (error instanceof NodeRpcError) return undefined
    throw error
  }
}

/** Some nodes name a hash for a block that does not exist yet, and write it into its transactions. */
function takeOut(transaction: unknown): unknown {
  return typeof transaction === 'object' && transaction !== null
    ? { ...transaction, blockHash: null }
    : transaction
}
