import { createSolanaRpcFromTransport, type RpcTransport } from '@solana/kit'

/** A transaction of a wallet as the blocks have it; amounts as decimal strings, as on the wire. */
export interface TrueTransaction {
  readonly signature: string
  readonly slot: number
  readonly index: number
  readonly status: 'success' | 'failed'
  readonly fee: string
  readonly feePayer: string
  readonly version: 'legacy' | number
  readonly memo?: string
  readonly lamports?: { readonly pre: string; readonly post: string }
  readonly tokens: readonly TrueTokenChange[]
  readonly programs: readonly string[]
}

interface TrueTokenChange {
  readonly account: string
  readonly mint: string
  readonly owner: string
  readonly pre: string
  readonly post: string
  readonly decimals: number
}

/** Every block of a node, to be asked about wallets. */
export interface Blocks {
  /** Newest first. */
  historyOf(wallet: string): TrueTransaction[]
}

const memoPrograms = new Set([
  'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
  'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo'
])

/** Walks all blocks of a node with `@solana/kit`. It shares no code with the server, and asks for no list of signatures. */
export async function readBlocks(transport: RpcTransport): Promise<Blocks> {
  const rpc = createSolanaRpcFromTransport(transport)
  const head = await rpc.getSlot({ commitment: 'confirmed' }).send()
  const first = await rpc.getFirstAvailableBlock().send()
  const slots = await rpc.getBlocks(first, head, { commitment: 'confirmed' }).send()
  const found: Found[] = []
  for (const slot of slots) {
    const block = await rpc
      .getBlock(slot, {
        ...{ commitment: 'confirmed', encoding: 'json', maxSupportedTransactionVersion: 0 },
        transactionDetails: 'full'
      })
      .send()
    // A block that was skipped, or is not there yet.
    for (const [index, each] of ((block?.transactions ?? []) as readonly BlockTransaction[]).entries())
      found.push(unfold(Number(slot), index, each))
  }
  found.reverse()
  return { historyOf: wallet => found.flatMap(each => toTransaction(each, wallet) ?? []) }
}

/** What is read of a transaction in kit's answer. */
interface BlockTransaction {
  readonly meta: {
    readonly err: unknown
    readonly fee: bigint
    readonly innerInstructions?:
      | readonly { readonly index: number; readonly instructions: readonly Run[] }[]
      | null
    readonly loadedAddresses?: { readonly writable: readonly string[]; readonly readonly: readonly string[] }
    readonly preBalances: readonly bigint[]
    readonly postBalances: readonly bigint[]
    readonly preTokenBalances?: readonly TokenBalance[]
    readonly postTokenBalances?: readonly TokenBalance[]
  } | null
  readonly transaction: {
    readonly signatures: readonly string[]
    readonly message: { readonly accountKeys: readonly string[]; readonly instructions: readonly Run[] }
  }
  readonly version: 'legacy' | 0
}

interface Run {
  readonly programIdIndex: number
  readonly data: string
}

interface TokenBalance {
  readonly accountIndex: number
  readonly mint: string
  readonly owner?: string
  readonly uiTokenAmount: { readonly amount: string; readonly decimals: number }
}

interface Side {
  readonly owner: string
  readonly amount: bigint
}

interface Found extends Omit<TrueTransaction, 'tokens' | 'lamports'> {
  readonly keys: readonly string[]
  readonly preLamports: readonly bigint[]
  readonly postLamports: readonly bigint[]
  readonly accounts: readonly {
    account: string
    mint: string
    decimals: number
    before?: Side
    after?: Side
  }[]
}

function unfold(slot: number, index: number, { meta, transaction, version }: BlockTransaction): Found {
  if (meta === null) throw new Error(`slot ${slot}, transaction ${index}: no meta`)
  const { message, signatures } = transaction
  const { writable = [], readonly = [] } = meta.loadedAddresses ?? {}
  const keys = [...message.accountKeys, ...writable, ...readonly]
  const inner = new Map(meta.innerInstructions?.map(each => [each.index, each.instructions]))
  const run = message.instructions.flatMap((each, at) => [each, ...(inner.get(at) ?? [])])
  // As lists of signatures have it: without those that programs wrote.
  const memos = message.instructions.filter(({ programIdIndex }) => memoPrograms.has(keys[programIdIndex]!))
  const byAccount = new Map<
    string,
    { account: string; mint: string; decimals: number; before?: Side; after?: Side }
  >()
  const sides = [
    ['before', meta.preTokenBalances ?? [], meta.preBalances],
    ['after', meta.postTokenBalances ?? [], meta.postBalances]
  ] as const
  for (const [side, balances, lamports] of sides) {
    for (const { accountIndex, mint, owner, uiTokenAmount } of balances) {
      // An account without lamports is no account: surfpool lists those that were closed.
      if (lamports[accountIndex] === 0n) continue
      const account = keys[accountIndex]!
      const known = byAccount.get(account) ?? { account, mint, decimals: uiTokenAmount.decimals }
      byAccount.set(account, {
        ...known,
        [side]: { owner: String(owner), amount: BigInt(uiTokenAmount.amount) }
      })
    }
  }
  return {
    ...{ signature: signatures[0]!, slot, index, status: meta.err === null ? 'success' : 'failed' },
    ...{ fee: String(meta.fee), feePayer: keys[0]!, version, keys },
    ...(memos.length > 0 && { memo: memos.map(({ data }) => textOf(data)).join('; ') }),
    programs: [...new Set(run.map(({ programIdIndex }) => String(keys[programIdIndex])))],
    ...{ preLamports: meta.preBalances, postLamports: meta.postBalances },
    accounts: [...byAccount.values()]
  }
}

function toTransaction(found: Found, wallet: string): TrueTransaction | undefined {
  const { keys, preLamports, postLamports, accounts, ...rest } = found
  const own = (side: Side | undefined) => (side?.owner === wallet ? side.amount : undefined)
  const tokens = accounts
    .filter(({ before, after }) => own(before) !== undefined || own(after) !== undefined)
    .map(({ account, mint, decimals, before, after }) => ({
      ...{ account, mint, owner: (after ?? before)!.owner, decimals },
      ...{ pre: String(own(before) ?? 0n), post: String(own(after) ?? 0n) }
    }))
    .sort((a, b) => (a.account < b.account ? -1 : 1))
  const at = keys.indexOf(wallet)
  if (at === -1 && tokens.length === 0) return undefined
  const lamports = at !== -1 && { lamports: { pre: String(preLamports[at]), post: String(postLamports[at]) } }
  return { ...rest, ...lamports, tokens }
}

/** UTF-8 of base58, by the digits' definition. */
function textOf(base58: string): string {
  const digits = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
  let number = 0n
  for (const digit of base58) number = number * 58n + BigInt(digits.indexOf(digit))
  const hex = number.toString(16)
  const zeros = /^1*/.exec(base58)![0].length
  return Buffer.from(
    '00'.repeat(zeros) + (number === 0n ? '' : hex.padStart(hex.length + (hex.length % 2), '0')),
    'hex'
  ).toString()
}
