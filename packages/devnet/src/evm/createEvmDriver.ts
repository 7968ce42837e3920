import { DevnetError } from '../DevnetError.ts'
import { createJsonRpc, type JsonRpc } from '../platform/jsonRpc.ts'
import { EvmLedger, nextNonce } from './EvmLedger.ts'
import type { EvmBlock, EvmTransaction, EvmWorld } from './EvmWorld.ts'
import { type EvmIntent, signIntent } from './signIntent.ts'

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
  const ledger = new EvmLedger(world)
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
    ledger.enterPool(transaction)
    if (intent.creates !== undefined && transaction.createdContract !== undefined) {
      world.contracts[intent.creates.label] = {
        ...intent.creates,
        address: transaction.createdContract,
        creationHash: hash
      }
    }
    if (plan !== undefined) {
      await headReaches(world.blocks.length)
      ledger.mineBlock(plan)
    }
    return transaction
  }

  async function planBlock({
    timestampSeconds = ledger.clockSeconds + 12,
    baseFeeWei = 10n ** 9n
  }: MineOptions) {
    await rpc('evm_setNextBlockTimestamp', timestampSeconds)
    await rpc('anvil_setNextBlockBaseFeePerGas', `0x${baseFeeWei.toString(16)}`)
    return { timestampSeconds, baseFeeWei }
  }

  async function mine({ blocks = 1, ...options }: MineOptions = {}): Promise<EvmBlock> {
    let last: EvmBlock | undefined
    for (let made = 0; made < blocks; made++) {
      const plan = await planBlock(
        made === 0 ? options : { ...options, timestampSeconds: ledger.clockSeconds + 12 }
      )
      await rpc('evm_mine')
      last = ledger.mineBlock(plan)
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
    if (on && ledger.hasReady()) await mine()
    await rpc('evm_setAutomine', on)
    automine = on
  }

  async function reorg(depth: number, { keep = [] }: ReorgOptions = {}) {
    const undone = ledger.undoBlocks(depth)
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
      const kept = keep.filter(({ block }) => block === replacement)
      ledger.addBlock(
        {},
        kept.map(({ transaction }) => transaction)
      )
    }
    ledger.forgetContracts()
    await headReaches(world.blocks.length - 1)
  }

  async function rollback(depth: number) {
    ledger.undoBlocks(depth)
    await rpc('anvil_rollback', depth)
    ledger.forgetContracts()
    await headReaches(world.blocks.length - 1)
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
    ledger.drop(transaction)
  }

  return { world, rpc, send, mine, setAutomine, reorg, rollback, dropFromPool }
}
