import type { Address } from '../../model/evm.ts'
import type { EvmNode } from '../../nodes/evm/nodeCall.ts'
import { readOptionalQuantity } from '../../nodes/evm/rawFields.ts'
import { NodeContradictionError } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'
import { type FoundPool, type PoolTransaction, readPoolEntries } from './readPoolEntries.ts'

/** Clients whose list is the whole pool. Others, geth among them, list what their own accounts have sent. */
const listsEverything = /^(hardhat|edr|nethermind|anvil)/i

/**
 * The pool by `eth_pendingTransactions`, which mixes pending and queued: the senders' next nonces tell them apart.
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
  for (const [place, sender] of asked.entries()) {
    const outcome = outcomes[place]
    if (outcome === undefined) continue
    if (!outcome.ok) throw outcome.error
    nextNonces.set(sender, readOptionalQuantity(outcome.value, `nonce of ${sender}`) ?? 0n)
  }
  return nextNonces
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
