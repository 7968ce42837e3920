import type { SealableRows } from '../src/runs/sealBlocks.ts'
import { maxTransactionsPerBlock } from '../src/record/transactionId.ts'

/** A token of a party of a transaction. */
interface ModelToken {
  readonly owner: number
  readonly contract: number
  readonly tokenId: number | undefined
  readonly roles: number
}

/** What a transaction puts into a run. Accounts and contracts are numbers. */
export interface ModelTransaction {
  readonly block: number
  readonly index: number
  readonly hash: number
  readonly parties: ReadonlyMap<number, number>
  readonly tokens: readonly ModelToken[]
}

/** An account with events in a block. */
export interface ModelEvent {
  readonly account: number
  readonly block: number
}

/** 20 bytes of an account; many share their first bytes. */
export function accountBytes(account: number): Buffer {
  const bytes = Buffer.alloc(20, account % 3)
  bytes.writeUInt32BE(account, account % 2 === 0 ? 0 : 16)
  return bytes
}

export function hashBytes(hash: number): Buffer {
  const bytes = Buffer.alloc(32, 7)
  bytes.writeUInt32BE(hash, 2)
  return bytes
}

export function idOf({ block, index }: Pick<ModelTransaction, 'block' | 'index'>): number {
  return block * maxTransactionsPerBlock + index
}

/** Key of token ids: empty for fungible ones. */
export function tokenKey(tokenId: number | undefined): Buffer {
  if (tokenId === undefined) return Buffer.alloc(0)
  return tokenId === 0 ? Buffer.of(0) : Buffer.of(2, tokenId >> 8, tokenId)
}

/** Puts transactions of consecutive blocks into the form in which a run is written. */
export function toRunRows(
  firstBlock: number,
  lastBlock: number,
  transactions: readonly ModelTransaction[],
  events: readonly ModelEvent[]
): SealableRows {
  const parties = transactions.flatMap(each =>
    [...each.parties].map(([account, roles]) => ({ account, roles, id: idOf(each) }))
  )
  const tokens = transactions.flatMap(each => each.tokens.map(token => ({ ...token, id: idOf(each) })))
  const parts = tokens.map(({ owner, contract, tokenId }) => {
    const key = tokenKey(tokenId)
    const head = Buffer.of(tokenId === undefined ? 1 : 2, key.length)
    return Buffer.concat([accountBytes(owner), accountBytes(contract), head, key])
  })
  return {
    lastHash: new Uint8Array(32),
    firstBlock,
    lastBlock,
    ids: Float64Array.from(transactions, idOf),
    hashes: Buffer.concat(transactions.map(({ hash }) => hashBytes(hash))),
    partyAddresses: Buffer.concat(parties.map(({ account }) => accountBytes(account))),
    partyIds: Float64Array.from(parties, ({ id }) => id),
    partyRoles: Uint8Array.from(parties, ({ roles }) => roles),
    candidates: Buffer.concat(parts),
    candidateEnds: endsOf(parts),
    candidateIds: Float64Array.from(tokens, ({ id }) => id),
    candidateRoles: Uint8Array.from(tokens, ({ roles }) => roles),
    eventAddresses: Buffer.concat(events.map(({ account }) => accountBytes(account))),
    eventBlocks: Float64Array.from(events, ({ block }) => block)
  }
}

function endsOf(parts: readonly Buffer[]): Uint32Array {
  let end = 0
  return Uint32Array.from(parts, ({ length }) => {
    end += length
    return end
  })
}
