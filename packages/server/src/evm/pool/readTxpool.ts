import type { EvmNode } from '../../nodes/evm/nodeCall.ts'
import { readObject } from '../../nodes/evm/rawFields.ts'
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
 * Queued entries of the last look that may only be between the two lists: nodes write down pending and queued ones after
 * each other, and what moves up in between is in neither (anvil). So a queued entry that vanishes counts as there for one
 * more look, unless another one has taken its nonce.
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
