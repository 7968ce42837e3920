import { ZeroAddress } from 'ethers'
import { DevnetError } from '../DevnetError.ts'
import type { EvmBlock, EvmTransaction, EvmWorld } from './EvmWorld.ts'

/** Blob gas costs one wei as long as blobs are few. @see EIP-4844 */
const blobGasPriceWei = 1n

/** Changes an {@link EvmWorld} as its chain changes; the node is not asked. */
export class EvmLedger {
  readonly #world: EvmWorld
  /** Executable transactions of the pool, in the order of arrival. */
  readonly #ready: EvmTransaction[]
  /** The latest time of a block. */
  clockSeconds: number

  /** @param world - Must describe the chain as it is; it is changed in place. */
  constructor(world: EvmWorld) {
    this.#world = world
    this.#ready = world.transactions.filter(({ state }) => state === 'pending')
    this.clockSeconds = Math.max(...world.blocks.map(block => block.timestampSeconds ?? 0))
  }

  /** Reports whether a block made now would have transactions. */
  hasReady(): boolean {
    return this.#ready.length > 0
  }

  /** Puts a transaction into the pool, in place of one with the same nonce. */
  enterPool(transaction: EvmTransaction): void {
    const replaced = this.#world.transactions.find(
      ({ from, nonce, state }) =>
        from === transaction.from &&
        nonce === transaction.nonce &&
        (state === 'pending' || state === 'queued')
    )
    if (replaced !== undefined) {
      setState(replaced, 'dropped')
      remove(this.#ready, replaced)
    }
    const queued = transaction.nonce > nextNonce(this.#world, transaction.from)
    setState(transaction, queued ? 'queued' : 'pending')
    this.#world.transactions.push(transaction)
    if (queued) return
    this.#ready.push(transaction)
    this.#promoteQueued(transaction.from)
  }

  /** Adds a block with everything that is executable. */
  mineBlock(plan: { timestampSeconds: number; baseFeeWei: bigint }): EvmBlock {
    this.clockSeconds = Math.max(this.clockSeconds, plan.timestampSeconds)
    return this.addBlock(plan, this.#ready.splice(0))
  }

  /** Adds a block with these transactions. */
  addBlock(
    facts: Pick<EvmBlock, 'timestampSeconds' | 'baseFeeWei'>,
    transactions: EvmTransaction[]
  ): EvmBlock {
    const block: EvmBlock = { number: this.#world.blocks.length, ...facts, transactionHashes: [] }
    this.#world.blocks.push(block)
    for (const transaction of transactions) this.#include(transaction, block)
    return block
  }

  /** Takes the newest blocks out of the world. @returns The transactions they held, oldest first. */
  undoBlocks(depth: number): EvmTransaction[] {
    if (depth < 1 || depth >= this.#world.blocks.length) {
      throw new DevnetError('MISUSE', `${depth} of ${this.#world.blocks.length} blocks cannot be undone`)
    }
    const lowest = this.#world.blocks.length - depth
    const undone = this.#world.transactions.filter(
      ({ position }) => position !== undefined && position.blockNumber >= lowest
    )
    for (const { from, state, label } of this.#world.transactions) {
      if (state !== 'pending' && state !== 'queued') continue
      if (undone.some(transaction => transaction.from === from)) {
        throw new DevnetError('MISUSE', `${label} is in the pool and its sender's nonces would go back`)
      }
    }
    this.#world.blocks.length = lowest
    for (const transaction of undone) {
      delete transaction.position
      delete transaction.effectiveGasPriceWei
      delete transaction.blobGasPriceWei
      setState(transaction, 'dropped')
    }
    return undone
  }

  /** Takes a transaction out of the pool. */
  drop(transaction: EvmTransaction): void {
    setState(transaction, 'dropped')
    remove(this.#ready, transaction)
    this.forgetContracts()
  }

  /** Takes contracts out of the world whose creation is dropped. */
  forgetContracts(): void {
    const dropped = new Set(this.#world.transactions.filter(t => t.state === 'dropped').map(t => t.hash))
    for (const [label, { creationHash }] of Object.entries(this.#world.contracts)) {
      if (dropped.has(creationHash)) delete this.#world.contracts[label]
    }
  }

  #promoteQueued(from: string) {
    for (;;) {
      const nonce = nextNonce(this.#world, from)
      const next = this.#world.transactions.find(
        candidate => candidate.state === 'queued' && candidate.from === from && candidate.nonce === nonce
      )
      if (next === undefined) return
      setState(next, 'pending')
      this.#ready.push(next)
    }
  }

  #include(transaction: EvmTransaction, block: EvmBlock) {
    transaction.position = { blockNumber: block.number, index: block.transactionHashes.length }
    block.transactionHashes.push(transaction.hash)
    if (block.baseFeeWei !== undefined) {
      const price = transaction.gasPriceWei
      const cap = transaction.maxFeePerGasWei ?? 0n
      const wanted = block.baseFeeWei + (transaction.maxPriorityFeePerGasWei ?? 0n)
      transaction.effectiveGasPriceWei = price ?? (wanted < cap ? wanted : cap)
    }
    if (transaction.type === 3) transaction.blobGasPriceWei = blobGasPriceWei
    setState(transaction, transaction.outcome)
  }
}

/** Next nonce of an address with its executable transactions counted; its authorizations use nonces up as well. */
export function nextNonce(world: EvmWorld, address: string): number {
  let nonce = 0
  for (const { from, state, delegations } of world.transactions) {
    if (state === 'dropped' || state === 'queued') continue
    if (from === address) nonce++
    for (const { authority } of delegations ?? []) if (authority === address) nonce++
  }
  return nonce
}

/** What a transaction touches follows from its state: transfers only exist once it has succeeded. */
function setState(transaction: EvmTransaction, state: EvmTransaction['state']) {
  transaction.state = state
  const { from, to, createdContract, delegations = [], effects } = transaction
  transaction.roles = [{ address: from, role: 'sender' }]
  if (to !== undefined) transaction.roles.push({ address: to, role: 'receiver' })
  if (state !== 'success' && state !== 'failed') return
  // Authorizations outlast the failure of their transaction.
  for (const { authority } of delegations) transaction.roles.push({ address: authority, role: 'authority' })
  if (state === 'failed') return
  if (createdContract !== undefined) transaction.roles.push({ address: createdContract, role: 'created' })
  for (const effect of effects) {
    if (effect.kind === 'uri') continue
    if (effect.kind === 'internal') {
      if (effect.valueWei === 0n) continue
      transaction.roles.push({ address: effect.from, role: 'internalFrom' })
      transaction.roles.push({ address: effect.to, role: 'internalTo' })
      continue
    }
    if (effect.from !== ZeroAddress) transaction.roles.push({ address: effect.from, role: 'tokenFrom' })
    if (effect.to !== ZeroAddress) transaction.roles.push({ address: effect.to, role: 'tokenTo' })
  }
}

function remove<T>(list: T[], item: T) {
  const index = list.indexOf(item)
  if (index >= 0) list.splice(index, 1)
}
