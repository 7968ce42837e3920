import {
  createContract,
  createEvmCalls,
  type EvmContract,
  type EvmDriver,
  type EvmIntent,
  type EvmTransaction,
  type EvmWorld,
  evmAccount,
  evmContract
} from '@chain-data/devnet'
import type { Random } from '../../../devnet/src/platform/createRandom.ts'

const senders = [
  'deployer',
  'alice',
  'bob',
  'carol',
  'dave',
  'erin',
  'grace',
  'heidi',
  'ivan',
  'judy'
] as const
const receivers = [...senders, 'frank', 'mallory'] as const
const gwei = 10n ** 9n

/** What may happen in a story. */
export interface StoryOptions {
  /** In blocks; 20 unless given. */
  readonly deepestReorg?: number
  /** The head may go down for a while, as on development chains; it may unless this is false. */
  readonly lowersHead?: boolean
}

/** Random events on a chain. Whatever happens in whatever order, each transaction ends as it was meant to. */
export interface RandomStory {
  /** Blocks up to here are never undone: contracts and first balances are in them. */
  readonly firstFreeBlock: number
  /** Does one thing. @returns what it was, to be read when something fails. */
  event(): Promise<string>
  /** Sends and mines until there is something to talk about. */
  warmUp(): Promise<void>
  /** Replaces the newest blocks, unless there are none to replace. @returns what was done. */
  reorg(): Promise<string>
  /** Drops all that waits in the pool, unless some of it is queued. @returns what was done. */
  clearPool(): Promise<string>
}

/** Deploys and hands out what random transactions need, then mines enough blocks for the deepest reorg. */
export async function beginRandomStory(
  driver: EvmDriver,
  random: Random,
  { deepestReorg = 20, lowersHead = true }: StoryOptions = {}
): Promise<RandomStory> {
  const { world } = driver
  const calls = createEvmCalls(world)
  let labels = 0
  const label = () => `event ${++labels}`
  const { gold, art, items, relay } = await preparePeople(driver)
  const firstFreeBlock = world.blocks.length - 1
  /** Tokens of alice's that nobody has tried to move yet: each is moved at most once. */
  let untouchedArt = 1n
  let nextArt = 1_000n

  const addressOf = (name: string) => evmAccount(world, name).address
  const waiting = (from?: string) =>
    world.transactions.filter(
      transaction =>
        (transaction.state === 'pending' || transaction.state === 'queued') &&
        (from === undefined || transaction.from === from)
    )
  /** Amounts are never the same twice, and so no two transactions either. */
  const amount = () => BigInt(++labels) + 1_000n

  function randomIntent(from: string): Omit<EvmIntent, 'label'> {
    const to = random.pick(receivers)
    switch (random.below(17)) {
      case 0:
      case 1:
        return { from, to: addressOf(to), valueWei: amount(), type: random.pick([0, 1, 2]) }
      case 2:
        return { from, to: addressOf(from), valueWei: amount() }
      case 3:
        return {
          ...{ from, to: addressOf(to), valueWei: amount(), type: random.pick([1, 2]) },
          accessList: [{ address: gold.address, storageKeys: [`0x${'00'.repeat(31)}0${random.below(9)}`] }]
        }
      case 4:
        return { from, to: addressOf(to), valueWei: amount(), type: 3 }
      case 5:
        return { from, to: freshAddress(), valueWei: amount() }
      case 6:
        return calls.erc20Mint(from, gold, to, amount())
      case 7:
      case 8:
        return calls.erc20Transfer(from, gold, to, amount())
      case 9:
        return calls.erc721Mint(from, art, to, nextArt++, '')
      case 10:
        if (from !== 'alice' || untouchedArt > 12n) return calls.erc20Burn(from, gold, amount())
        return calls.erc721Transfer(from, art, to, untouchedArt++)
      case 11:
        return calls.erc1155Transfer(from, items, to, 1n, amount())
      case 12:
        return calls.erc1155BatchTransfer(from, items, to, [
          { tokenId: 1n, amount: amount() },
          { tokenId: 2n, amount: amount() }
        ])
      case 13:
        return {
          ...calls.relayPayThenFail(from, relay, gold, to, amount()),
          outcome: 'failed',
          gasLimit: 300_000n
        }
      case 14:
        return calls.relayForward(from, relay, to, amount())
      case 15:
        return {
          ...{ from, valueWei: amount(), gasLimit: 1_500_000n },
          ...createContract('DevRelay', [false], {
            ...{ label: label(), kind: 'other', name: '', symbol: '' }
          })
        }
      default:
        return {
          ...{ from, outcome: 'failed', valueWei: amount(), gasLimit: 1_500_000n },
          ...createContract('DevRelay', [true])
        }
    }
  }

  function freshAddress(): string {
    return `0x${(++labels).toString(16).padStart(40, '7')}`
  }

  async function sendSome(): Promise<string> {
    const count = 1 + random.below(5)
    for (let i = 0; i < count; i++) {
      await driver.send({ label: label(), ...randomIntent(random.pick(senders)) })
    }
    return `${count} sent`
  }

  async function sendQueued(): Promise<string> {
    const from = random.pick(senders)
    const address = addressOf(from)
    if (waiting(address).some(({ state }) => state === 'queued')) return sendSome()
    const sent = await driver.send({ label: label(), from, to: addressOf('mallory'), valueWei: amount() })
    await driver.send({
      ...{ label: label(), from, to: addressOf(random.pick(receivers)), valueWei: amount() },
      nonce: sent.nonce + 2 + random.below(2)
    })
    return `one queued of ${from}`
  }

  /** Only the last of its sender: the others would have to move up. */
  function lastWaiting(): EvmTransaction | undefined {
    const last = new Map(waiting().map(transaction => [transaction.from, transaction]))
    for (const transaction of waiting()) {
      const known = last.get(transaction.from)
      if (known !== undefined && transaction.nonce > known.nonce) last.set(transaction.from, transaction)
    }
    // A blob's replacement would have to be a blob again.
    const [first, ...rest] = [...last.values()].filter(({ type }) => type !== 3)
    return first && random.pick([first, ...rest])
  }

  async function replace(): Promise<string> {
    const old = lastWaiting()
    // The node keeps both of two queued ones with the same nonce.
    if (old?.state !== 'pending') return sendSome()
    const from = Object.values(world.accounts).find(({ address }) => address === old.from)?.name
    if (from === undefined) return sendSome()
    const price = (old.gasPriceWei ?? old.maxFeePerGasWei ?? 0n) * 2n
    await driver.send({
      ...{ label: label(), from, to: addressOf(random.pick(receivers)), valueWei: amount() },
      ...{ nonce: old.nonce, maxFeePerGasWei: price, maxPriorityFeePerGasWei: price / 2n }
    })
    return `${old.label} replaced`
  }

  async function drop(): Promise<string> {
    const victim = lastWaiting()
    // The node throws out only what is executable.
    if (victim?.state !== 'pending') return sendSome()
    await driver.dropFromPool(victim)
    return `${victim.label} dropped`
  }

  async function clearPool(): Promise<string> {
    const all = waiting()
    // The node throws out only what is executable.
    if (all.some(({ state }) => state === 'queued')) return mine()
    for (const transaction of all.sort((a, b) => b.nonce - a.nonce)) await driver.dropFromPool(transaction)
    return `${all.length} dropped at once`
  }

  async function mine(): Promise<string> {
    const blocks = 1 + random.below(3)
    await driver.mine({ blocks })
    return `${blocks} mined`
  }

  /** Blocks are undone only when nobody in them waits in the pool. @returns the depth, and what is undone. */
  async function makeWay(): Promise<{ depth: number; undone: EvmTransaction[] } | undefined> {
    const most = Math.min(deepestReorg, world.blocks.length - 1 - firstFreeBlock)
    if (most < 1) return undefined
    const depth = 1 + random.below(random.below(2) === 0 ? Math.min(3, most) : most)
    const lowest = world.blocks.length - depth
    const undone = inBlocksFrom(world, lowest)
    const touched = new Set(undone.map(({ from }) => from))
    for (const address of touched) {
      while (waiting(address).some(({ state }) => state === 'queued')) {
        const { name } = Object.values(world.accounts).find(account => account.address === address)!
        await driver.send({ label: label(), from: name, to: addressOf('frank'), valueWei: amount() })
      }
    }
    const inTheWay = waiting()
      .filter(({ from }) => touched.has(from))
      .sort((a, b) => b.nonce - a.nonce)
    for (const transaction of inTheWay) await driver.dropFromPool(transaction)
    return { depth, undone }
  }

  async function reorg(): Promise<string> {
    const way = await makeWay()
    if (way === undefined) return mine()
    const { depth, undone } = way
    const keep: { transaction: EvmTransaction; block: number }[] = []
    const lost = new Set<string>()
    let block = 0
    for (const transaction of undone) {
      // Without one of a sender's transactions the later ones do not fit.
      if (lost.has(transaction.from) || transaction.type === 3 || random.below(3) === 0) {
        lost.add(transaction.from)
        continue
      }
      if (random.below(3) === 0) block = Math.min(depth - 1, block + random.below(depth))
      keep.push({ transaction, block })
    }
    await driver.reorg(depth, { keep })
    return `a reorg of ${depth} that kept ${keep.length} of ${undone.length}`
  }

  async function rollback(): Promise<string> {
    const way = await makeWay()
    if (way === undefined) return mine()
    await driver.rollback(way.depth)
    const blocks = 1 + random.below(way.depth + 2)
    await driver.mine({ blocks })
    return `${way.depth} blocks rolled back, ${blocks} mined`
  }

  return {
    ...{ firstFreeBlock, reorg, clearPool },
    event() {
      const chance = random.below(20)
      if (chance < 7) return sendSome()
      if (chance < 11) return mine()
      if (chance < 13) return sendQueued()
      if (chance < 15) return replace()
      if (chance < 16) return drop()
      return chance < 19 || !lowersHead ? reorg() : rollback()
    },
    async warmUp() {
      for (let i = 0; i < deepestReorg; i++) {
        if (i % 3 !== 2) await sendSome()
        await driver.mine()
      }
    }
  }
}

function inBlocksFrom(world: EvmWorld, lowest: number): EvmTransaction[] {
  const byHash = new Map(world.transactions.map(transaction => [transaction.hash, transaction]))
  return world.blocks
    .slice(lowest)
    .flatMap(({ transactionHashes }) => transactionHashes.map(hash => byHash.get(hash)!))
}

interface Props {
  readonly gold: EvmContract
  readonly art: EvmContract
  readonly items: EvmContract
  readonly relay: EvmContract
}

async function preparePeople(driver: EvmDriver): Promise<Props> {
  const { world } = driver
  const calls = createEvmCalls(world)
  const deploy = (
    label: string,
    name: Parameters<typeof createContract>[0],
    args: unknown[],
    creates: object
  ) =>
    driver.send({
      ...{ label: `creation of ${label}`, from: 'deployer' },
      ...createContract(name, args, { label, name: '', symbol: '', ...creates } as EvmIntent['creates'])
    })
  await deploy('gold', 'DevToken', ['Gold', 'GLD', 18], {
    ...{ kind: 'erc20', name: 'Gold', symbol: 'GLD', decimals: 18 }
  })
  await deploy('art', 'DevNft', ['Art', 'ART'], { kind: 'erc721', name: 'Art', symbol: 'ART' })
  await deploy('items', 'DevMultiToken', ['Items', 'ITM', ''], {
    ...{ kind: 'erc1155', name: 'Items', symbol: 'ITM', uriTemplate: '' }
  })
  await deploy('relay', 'DevRelay', [false], { kind: 'other' })
  await driver.mine()
  const [gold, art, items, relay] = ['gold', 'art', 'items', 'relay'].map(name =>
    evmContract(world, name)
  ) as [EvmContract, EvmContract, EvmContract, EvmContract]
  for (const name of senders) {
    await driver.send({
      label: `gold of ${name}`,
      ...calls.erc20Mint('deployer', gold, name, 10n ** 18n)
    })
    await driver.send({
      label: `items of ${name}`,
      ...calls.erc1155MintBatch('deployer', items, name, [
        { tokenId: 1n, amount: gwei },
        { tokenId: 2n, amount: gwei }
      ])
    })
    await driver.send({
      label: `approval of ${name}`,
      ...calls.erc20Approve(name, gold, relay.address, 10n ** 17n)
    })
    await driver.mine()
  }
  for (let tokenId = 1n; tokenId <= 12n; tokenId++) {
    await driver.send({
      label: `art ${tokenId}`,
      ...calls.erc721Mint('deployer', art, 'alice', tokenId, '')
    })
  }
  await driver.mine()
  return { gold, art, items, relay }
}
