import type { Address, PendingTransaction } from '../../model/evm.ts'
import { NodeContradictionError } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'
import type { Capabilities } from './capabilities.ts'
import { normalizeTransaction } from './normalize.ts'
import { isAbsent, type RawObject, readCount, readObject, readOptionalQuantity } from './rawFields.ts'
import type { EvmRpc } from './rpc.ts'

/** A transaction of the node's pool; when this server first saw it is the store's business. */
export type PoolTransaction = Omit<PendingTransaction, 'firstSeenSeconds'>

/** A look at the node's pool; what the store takes as its `PoolUpdate`. */
export interface PoolView {
  /** Each transaction once. */
  readonly present: readonly PoolTransaction[]
  readonly seenAtSeconds: number
  /** The node's head, asked after the pool was read. */
  readonly headAfter: number
  /** The node showed its whole pool, not only what was sent to it directly. */
  readonly complete: boolean
}

export interface PoolReaderOptions {
  readonly rpc: EvmRpc
  readonly capabilities: Capabilities
  readonly logger?: Logger
}

/**
 * Reads the node's pool in the best way it offers: `txpool_content`, which tells pending from queued; else
 * `eth_pendingTransactions`, which mixes them.
 *
 * `eth_pendingTransactions` of geth and its kin lists only what the node's own accounts sent, so with it a pool counts
 * as complete only for clients known to list everything.
 *
 * @returns a function that reads the pool once; `undefined` when the node does not show any.
 * @throws {NodeUnavailableError}
 * @throws {NodeContradictionError} when the answer is not a pool. Single malformed entries are left out.
 */
export function createPoolReader({
  rpc,
  capabilities,
  logger
}: PoolReaderOptions): (signal?: AbortSignal) => Promise<PoolView | undefined> {
  let listsEverything: boolean | undefined
  let queuedBefore: readonly PoolTransaction[] = []

  async function readUnsorted(raw: unknown, signal: AbortSignal | undefined): Promise<PoolTransaction[]> {
    if (!Array.isArray(raw)) throw new NodeContradictionError('eth_pendingTransactions did not answer a list')
    const entries = readEntries(raw, logger)
    const senders = [...new Set(entries.map(({ from }) => from))]
    const outcomes = await rpc.batch(
      senders.map(sender => ({ method: 'eth_getTransactionCount', params: [sender, 'latest'] })),
      signal ? { signal } : {}
    )
    const nextNonces = new Map<Address, bigint>()
    for (const [place, sender] of senders.entries()) {
      const outcome = outcomes[place]
      if (outcome === undefined) continue
      if (!outcome.ok) throw outcome.error
      nextNonces.set(sender, readOptionalQuantity(outcome.value, `nonce of ${sender}`) ?? 0n)
    }
    return sortByNonceGap(entries, nextNonces)
  }

  return async signal => {
    const options = signal ? { signal } : {}
    const content = await capabilities.attempt('txpool_content', () =>
      rpc.request({ method: 'txpool_content', params: [] }, options)
    )
    let present: readonly PoolTransaction[]
    let complete = true
    if (content !== undefined) {
      const found = readContent(content, logger)
      present = [...found, ...movingUp(queuedBefore, found)]
      queuedBefore = found.filter(({ status }) => status === 0)
    } else {
      const raw = await capabilities.attempt('eth_pendingTransactions', () =>
        rpc.request({ method: 'eth_pendingTransactions', params: [] }, options)
      )
      if (raw === undefined) return undefined
      present = await readUnsorted(raw, signal)
      listsEverything ??= await asksForWholePool(rpc, capabilities, signal)
      complete = listsEverything
    }
    const seenAtSeconds = Math.floor(Date.now() / 1000)
    // After the pool: what has left it by now is in a block up to this height.
    const head = await rpc.request({ method: 'eth_blockNumber', params: [] }, options)
    return { present, seenAtSeconds, headAfter: readCount(head, 'eth_blockNumber'), complete }
  }
}

/** Clients whose `eth_pendingTransactions` is the whole pool. */
async function asksForWholePool(
  rpc: EvmRpc,
  capabilities: Capabilities,
  signal: AbortSignal | undefined
): Promise<boolean> {
  const version = await capabilities.attempt('web3_clientVersion', () =>
    rpc.request({ method: 'web3_clientVersion', params: [] }, signal ? { signal } : {})
  )
  return typeof version === 'string' && /^(hardhat|edr|nethermind|ganache|anvil)/i.test(version)
}

/** `{ pending, queued }`, each `{ sender: { nonce: transaction } }`. The keys' letter case differs between nodes. */
function readContent(content: unknown, logger: Logger | undefined): readonly PoolTransaction[] {
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
    for (const entry of readEntries(raw, logger)) present.set(entry.hash, { ...entry, status })
  }
  return [...present.values()]
}

/**
 * Nodes write down pending and queued ones after each other: what moves up in between is in neither list (anvil). So a
 * queued entry that vanishes counts as there for one more look, unless another one has taken its nonce.
 */
function movingUp(
  queuedBefore: readonly PoolTransaction[],
  found: readonly PoolTransaction[]
): readonly PoolTransaction[] {
  const hashes = new Set(found.map(({ hash }) => hash))
  const vanished = queuedBefore.filter(({ hash }) => !hashes.has(hash))
  if (vanished.length === 0) return []
  const taken = new Set(found.map(({ from, nonce }) => `${from} ${nonce}`))
  return vanished.filter(({ from, nonce }) => !taken.has(`${from} ${nonce}`))
}

/** Malformed entries are left out and logged: anybody can send anything to a pool. */
function readEntries(raw: readonly unknown[], logger: Logger | undefined): Omit<PoolTransaction, 'status'>[] {
  const entries: Omit<PoolTransaction, 'status'>[] = []
  for (const item of raw) {
    try {
      const transaction = readObject(item, 'pool transaction')
      if (isInNoBlock(transaction)) entries.push(readEntry(transaction))
    } catch (error) {
      if (!(error instanceof NodeContradictionError)) throw error
      logger?.debug('left out a malformed pool transaction', { problem: error.message })
    }
  }
  return entries
}

/** Some nodes write the hash of no block as 32 zero bytes. */
function isInNoBlock({ blockHash }: RawObject): boolean {
  return isAbsent(blockHash) || (typeof blockHash === 'string' && /^0x0*$/.test(blockHash))
}

function readEntry(raw: RawObject): Omit<PoolTransaction, 'status'> {
  const common = normalizeTransaction(raw, 'pool transaction')
  const gasPrice =
    common.type <= 1 ? readOptionalQuantity(raw.gasPrice, 'pool transaction: gasPrice') : undefined
  return gasPrice === undefined ? common : { ...common, gasPrice }
}

/**
 * Tells pending from queued: from an account's next nonce on, transactions without a gap may enter the next block,
 * those behind a gap wait. Below the next nonce, they are in a block already and left out.
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
      // The same nonce again is a replacement on its way, no gap.
      if (entry.nonce === next) expected.set(entry.from, next + 1n)
      return { ...entry, status: entry.nonce <= next ? 1 : 0 }
    })
}
