import { ZeroAddress } from 'ethers'
import { DevnetError } from '../DevnetError.ts'
import { createJsonRpc, type JsonRpc } from '../platform/jsonRpc.ts'
import type { EvmBlock, EvmTransaction, EvmWorld } from './EvmWorld.ts'
import { type EvmIntent, signIntent } from './signIntent.ts'

/** Blob gas costs one wei as long as blobs are few. @see EIP-4844 */
const blobGasPriceWei = 1n

/** How a block is made. */
export interface MineOptions {
  /** How many; default 1. Only the first takes transactions. */
  blocks?: number
  /** Of the first block; default 12 s after the latest time used. Further blocks follow 12 s apart. */
  timestampSeconds?: number
  /** Default 1 gwei. */
  baseFeeWei?: bigint
}

/** How a reorg replaces blocks. */
export interface ReorgOptions {
  /**
   * Transactions of the removed blocks that come again, with the place of their new block among the
   * replacements (0 is the lowest). Everything else that was in a removed block is dropped for good.
   */
  keep?: { transaction: EvmTransaction; block: number }[]
}

/**
 * Moves a chain on and keeps its {@link EvmWorld} true.
 *
 * It has to be the only one who sends and mines: what others do is not in the world. Calls must not overlap.
 */
export interface EvmDriver {
  world: EvmWorld
  rpc: JsonRpc
  /**
   * Signs and sends one transaction. It waits in the pool until {@link EvmDriver.mine}, or is in a block at once
   * while automine is on.
   *
   * @throws {DevnetError} `NODE_REFUSED` when the node does not take it.
   */
  send(intent: EvmIntent): Promise<EvmTransaction>
  /** Makes blocks; the first one takes every executable transaction of the pool in the order of arrival. */
  mine(options?: MineOptions): Promise<EvmBlock>
  /** Switches to one block per transaction, or back. Switching on first mines what is executable. */
  setAutomine(on: boolean): Promise<void>
  /**
   * Replaces the newest blocks by as many others, without their transactions unless told to keep some.
   *
   * @throws {DevnetError} `MISUSE` when the pool holds transactions of a sender whose nonces would go back.
   */
  reorg(depth: number, options?: ReorgOptions): Promise<void>
  /** Removes the newest blocks: the head goes down. @throws As {@link EvmDriver.reorg}. */
  rollback(depth: number): Promise<void>
  /**
   * Throws the sender's last transaction out of the pool.
   *
   * @throws {DevnetError} `NODE_REFUSED` for a queued one: the node only lets go of what is executable.
   */
  dropFromPool(transaction: EvmTransaction): Promise<void>
}

/**
 * A driver over a node that mines on demand.
 *
 * @param world - Must describe the chain as it is; it is changed in place.
 */
export function createEvmDriver(rpcUrl: string, world: EvmWorld): EvmDriver {
  const rpc = createJsonRpc(rpcUrl)
  const ready: EvmTransaction[] = world.transactions.filter(({ state }) => state === 'pending')
  let clockSeconds = Math.max(...world.blocks.map(block => block.timestampSeconds ?? 0))
  let automine = false

  async function send(intent: EvmIntent): Promise<EvmTransaction> {
    if (world.transactions.some(({ label }) => label === intent.label)) {
      throw new DevnetError('MISUSE', `there already is a transaction labelled ${intent.label}`)
    }
    const transaction = signIntent(world, intent, address => nextNonce(world, address))
    const plan = automine ? await planBlock({}) : undefined
    // anvil does not check the blobs of a sender that it impersonates. For the first check it computes for two seconds.
    if (transaction.type === 3) await rpc('anvil_impersonateAccount', transaction.from)
    const hash = await rpc('eth_sendRawTransaction', transaction.raw)
    if (hash !== transaction.hash) {
      throw new DevnetError('NODE_REFUSED', `${intent.label}: the node calls it ${String(hash)}`)
    }
    enterPool(transaction)
    if (intent.creates !== undefined && transaction.createdContract !== undefined) {
      world.contracts[intent.creates.label] = {
        ...intent.creates,
        address: transaction.createdContract,
        creationHash: hash
      }
    }
    if (plan !== undefined) {
      await headReaches(world.blocks.length)
      recordBlock(plan)
    }
    return transaction
  }

  function enterPool(transaction: EvmTransaction) {
    const replaced = world.transactions.find(
      ({ from, nonce, state }) =>
        from === transaction.from &&
        nonce === transaction.nonce &&
        (state === 'pending' || state === 'queued')
    )
    if (replaced !== undefined) {
      setState(replaced, 'dropped')
      remove(ready, replaced)
    }
    const queued = transaction.nonce > nextNonce(world, transaction.from)
    setState(transaction, queued ? 'queued' : 'pending')
    world.transactions.push(transaction)
    if (queued) return
    ready.push(transaction)
    promoteQueued(transaction.from)
  }

  function promoteQueued(from: string) {
    for (;;) {
      const nonce = nextNonce(world, from)
      const next = world.transactions.find(
        candidate => candidate.state === 'queued' && candidate.from === from && candidate.nonce === nonce
      )
      if (next === undefined) return
      setState(next, 'pending')
      ready.push(next)
    }
  }

  async function planBlock({ timestampSeconds = clockSeconds + 12, baseFeeWei = 10n ** 9n }: MineOptions) {
    await rpc('evm_setNextBlockTimestamp', timestampSeconds)
    await rpc('anvil_setNextBlockBaseFeePerGas', `0x${baseFeeWei.toString(16)}`)
    return { timestampSeconds, baseFeeWei }
  }

  function recordBlock(plan: { timestampSeconds: number; baseFeeWei: bigint }): EvmBlock {
    const block: EvmBlock = { number: world.blocks.length, ...plan, transactionHashes: [] }
    world.blocks.push(block)
    clockSeconds = Math.max(clockSeconds, plan.timestampSeconds)
    for (const transaction of ready.splice(0)) include(transaction, block)
    return block
  }

  function include(transaction: EvmTransaction, block: EvmBlock) {
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

  async function mine({ blocks = 1, ...options }: MineOptions = {}): Promise<EvmBlock> {
    let last: EvmBlock | undefined
    for (let made = 0; made < blocks; made++) {
      const plan = await planBlock(made === 0 ? options : { ...options, timestampSeconds: clockSeconds + 12 })
      await rpc('evm_mine')
      last = recordBlock(plan)
    }
    if (last === undefined) throw new DevnetError('MISUSE', 'at least one block has to be mined')
    await headReaches(last.number)
    return last
  }

  /** Our counting is the truth; a node that counts otherwise must not go unnoticed. */
  async function headReaches(blockNumber: number) {
    const deadline = Date.now() + 10_000
    for (;;) {
      const head = Number(await rpc('eth_blockNumber'))
      if (head === blockNumber) return
      if (head > blockNumber || Date.now() > deadline) {
        throw new DevnetError('NODE_REFUSED', `the head is block ${head}, it should be ${blockNumber}`)
      }
      await new Promise(resolve => setTimeout(resolve, 2))
    }
  }

  async function setAutomine(on: boolean) {
    if (on && ready.length > 0) await mine()
    await rpc('evm_setAutomine', on)
    automine = on
  }

  /** Takes the newest blocks out of the world. @returns The transactions they held, oldest first. */
  function undoBlocks(depth: number) {
    if (depth < 1 || depth >= world.blocks.length) {
      throw new DevnetError('MISUSE', `${depth} of ${world.blocks.length} blocks cannot be undone`)
    }
    const lowest = world.blocks.length - depth
    const undone = world.transactions.filter(
      ({ position }) => position !== undefined && position.blockNumber >= lowest
    )
    for (const { from, state, label } of world.transactions) {
      if (state !== 'pending' && state !== 'queued') continue
      if (undone.some(transaction => transaction.from === from)) {
        throw new DevnetError('MISUSE', `${label} is in the pool and its sender's nonces would go back`)
      }
    }
    world.blocks.length = lowest
    for (const transaction of undone) {
      delete transaction.position
      delete transaction.effectiveGasPriceWei
      delete transaction.blobGasPriceWei
      setState(transaction, 'dropped')
    }
    return undone
  }

  async function reorg(depth: number, { keep = [] }: ReorgOptions = {}) {
    const undone = undoBlocks(depth)
    for (const { transaction, block } of keep) {
      if (undone.includes(transaction) && block >= 0 && block < depth) continue
      throw new DevnetError('MISUSE', `${transaction.label} cannot be kept in replacement ${block}`)
    }
    await rpc(
      'anvil_reorg',
      depth,
      keep.map(({ transaction, block }) => [transaction.raw, block])
    )
    for (let replacement = 0; replacement < depth; replacement++) {
      const block: EvmBlock = { number: world.blocks.length, transactionHashes: [] }
      world.blocks.push(block)
      for (const kept of keep) if (kept.block === replacement) include(kept.transaction, block)
    }
    forgetContracts()
    await headReaches(world.blocks.length - 1)
  }

  async function rollback(depth: number) {
    undoBlocks(depth)
    await rpc('anvil_rollback', depth)
    forgetContracts()
    await headReaches(world.blocks.length - 1)
  }

  function forgetContracts() {
    const dropped = new Set(world.transactions.filter(t => t.state === 'dropped').map(t => t.hash))
    for (const [label, { creationHash }] of Object.entries(world.contracts)) {
      if (dropped.has(creationHash)) delete world.contracts[label]
    }
  }

  async function dropFromPool(transaction: EvmTransaction) {
    const waiting = world.transactions.filter(
      ({ from, state }) => from === transaction.from && (state === 'pending' || state === 'queued')
    )
    if (!waiting.includes(transaction) || waiting.some(({ nonce }) => nonce > transaction.nonce)) {
      throw new DevnetError('MISUSE', `${transaction.label} is not its sender's last one in the pool`)
    }
    if ((await rpc('anvil_dropTransaction', transaction.hash)) === null) {
      throw new DevnetError('NODE_REFUSED', `the node does not throw ${transaction.label} out`)
    }
    setState(transaction, 'dropped')
    remove(ready, transaction)
    forgetContracts()
  }

  return { world, rpc, send, mine, setAutomine, reorg, rollback, dropFromPool }
}

/** Next nonce of an address with its executable transactions counted; its authorizations use nonces up as well. */
function nextNonce(world: EvmWorld, address: string): number {
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
