import { createHostileStage } from '../../../devnet/src/evm/hostile/createHostileStage.ts'
import type { HostileStage } from '../../../devnet/src/evm/hostile/HostileToken.ts'
import { callOf, creationOf } from '../../../devnet/src/evm/hostile/hostileContract.ts'
import { createJsonRpc } from '../../../devnet/src/platform/jsonRpc.ts'
import type { ChaosNode } from '../chaos/chaosNodes.ts'
import { createUndo } from '../chaos/createUndo.ts'

interface Collection {
  readonly kind: 'token' | 'nft' | 'units'
  readonly name: string
  readonly decimals: number
  /** By `holder` for tokens, by `holder id` else. */
  readonly amounts: Map<string, bigint>
}

/** What everybody holds at one block: contracts by address. Written down from what was sent, never read back. */
export type Ledger = ReadonlyMap<string, Collection>

/** One line per holding of an account, in order: what an answer is compared with. */
export function linesOf(ledger: Ledger, holder: string): string[] {
  const lines: string[] = []
  for (const [address, { kind, name, decimals, amounts }] of ledger) {
    for (const [key, amount] of amounts) {
      const [owner, id] = key.split(' ')
      if (owner !== holder || amount === 0n) continue
      lines.push([kind, address, name, kind === 'token' ? decimals : id, amount].join(' '))
    }
  }
  return lines.sort()
}

/** A chain that remembers the truth of every block it ever had, those of undone branches too. */
export interface BranchingChain {
  readonly alice: string
  readonly bob: string
  /** By block hash. */
  readonly truths: ReadonlyMap<string, Ledger>
  headHash(): string
  deploy(kind: Collection['kind'], name: string, decimals?: number): Promise<string>
  mint(contract: string, to: string, amountOrId: bigint): Promise<void>
  move(contract: string, from: string, to: string, amountOrId: bigint): Promise<void>
  /** Makes the newest block the one to which {@link BranchingChain.undo} goes back. */
  mark(): Promise<void>
  undo(): Promise<void>
  /**
   * Replaces the blocks since the mark by as many, in one step, with these of their transactions only. Absent where the
   * node cannot.
   * @param kept - places of the transactions since the mark; each comes again in the block of its place. What they
   *   build on must be kept with them.
   */
  readonly replaceInPlace?: (kept: readonly number[]) => Promise<void>
}

/** The only id of a contract of kind `units`. */
const unitsId = 1n

export async function createBranchingChain(node: ChaosNode): Promise<BranchingChain> {
  const rpc = createJsonRpc(node.rpcUrl)
  const [deployer = '', alice = '', bob = ''] = (await rpc('eth_accounts')) as string[]
  const stage: HostileStage = createHostileStage(rpc, { deployer, holder: alice, stranger: bob })
  const undo = createUndo(node, rpc)
  const truths = new Map<string, Ledger>()
  let ledger = new Map<string, Collection>()
  let marked = { ledger, height: 0 }
  /** Since the mark: what each transaction, one per block, did to the ledger. */
  let changes: ((on: Map<string, Collection>) => void)[] = []
  let head = await readHead()

  async function readHead(at: string = 'latest') {
    const block = (await rpc('eth_getBlockByNumber', at, true)) as {
      number: string
      hash: string
      transactions: { hash: string }[]
    }
    return { ...block, height: Number(block.number) }
  }

  async function record(change: (on: Map<string, Collection>) => void): Promise<void> {
    const before = head.height
    head = await readHead()
    if (head.height !== before + 1) throw new Error(`the head is block ${head.height}, not ${before + 1}`)
    change(ledger)
    changes.push(change)
    truths.set(head.hash, structuredClone(ledger))
  }

  function give(on: Map<string, Collection>, contract: string, to: string, id: bigint, amount: bigint): void {
    const collection = on.get(contract)
    if (collection === undefined) return
    const key = collection.kind === 'token' ? to : `${to} ${id}`
    collection.amounts.set(key, (collection.amounts.get(key) ?? 0n) + amount)
  }

  const kindOf = (contract: string) => ledger.get(contract)?.kind ?? 'token'
  const part = (contract: string, amountOrId: bigint) => {
    const kind = kindOf(contract)
    if (kind === 'nft') return { id: amountOrId, amount: 1n }
    return { id: kind === 'units' ? unitsId : 0n, amount: amountOrId }
  }

  return {
    alice,
    bob,
    truths,
    headHash: () => head.hash,
    async deploy(kind, name, decimals = 0) {
      const creations = {
        token: creationOf('HonestToken', [name, 'TOK', decimals]),
        nft: creationOf('HonestNft', [name, 'NFT']),
        units: creationOf('HonestMultiToken', [name, 'UNI', ''])
      }
      const address = await stage.create(creations[kind])
      await record(on => on.set(address, { kind, name, decimals, amounts: new Map() }))
      return address
    },
    async mint(contract, to, amountOrId) {
      const data = {
        token: () => callOf('HonestToken', 'mint', [to, amountOrId]),
        nft: () => callOf('HonestNft', 'mint', [to, amountOrId, '']),
        units: () => callOf('HonestMultiToken', 'mint', [to, unitsId, amountOrId])
      }
      await stage.call(contract, data[kindOf(contract)]())
      const { id, amount } = part(contract, amountOrId)
      await record(on => give(on, contract, to, id, amount))
    },
    async move(contract, from, to, amountOrId) {
      const data = {
        token: () => callOf('HonestToken', 'transfer', [to, amountOrId]),
        nft: () => callOf('HonestNft', 'transferFrom', [from, to, amountOrId]),
        units: () => callOf('HonestMultiToken', 'safeTransferFrom', [from, to, unitsId, amountOrId, '0x'])
      }
      await stage.call(contract, data[kindOf(contract)](), { from })
      const { id, amount } = part(contract, amountOrId)
      await record(on => {
        give(on, contract, from, id, -amount)
        give(on, contract, to, id, amount)
      })
    },
    async mark() {
      marked = { ledger: structuredClone(ledger), height: head.height }
      changes = []
      await undo.remember(head.height)
    },
    async undo() {
      await undo.backTo(marked.height, head.height - marked.height)
      ledger = structuredClone(marked.ledger)
      changes = []
      head = await readHead()
      if (head.height !== marked.height) throw new Error(`the head is block ${head.height} after going back`)
    },
    ...(undo.replaceInPlace && {
      replaceInPlace: async kept => {
        const depth = head.height - marked.height
        const pairs: [string, number][] = []
        for (const place of kept) {
          const { transactions } = await readHead(`0x${(marked.height + 1 + place).toString(16)}`)
          pairs.push([transactions[0]?.hash ?? '', place])
        }
        await undo.replaceInPlace?.(depth, pairs)
        ledger = structuredClone(marked.ledger)
        for (let place = 0; place < depth; place++) {
          if (kept.includes(place)) changes[place]?.(ledger)
          const { hash } = await readHead(`0x${(marked.height + 1 + place).toString(16)}`)
          truths.set(hash, structuredClone(ledger))
        }
        head = await readHead()
      }
    })
  }
}
