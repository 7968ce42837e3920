import { TOKEN } from './names.ts'

export interface Mint {
  readonly address: string
  readonly program: string
  readonly decimals: number
  /** Of a transfer, in hundredths of a percent, rounded up. */
  readonly feeBasisPoints: bigint
}

export interface TokenAccount {
  readonly address: string
  readonly mint: Mint
  owner: string
  amount: bigint
  delegate?: string | undefined
  /** Who may close it beside its owner, and which owner allowed that. */
  closeAuthority?: { readonly address: string; readonly givenBy: string }
}

/** What the ledger knows after its newest transaction. */
export interface State {
  readonly lamports: Map<string, bigint>
  readonly tokens: Map<string, TokenAccount>
}

/** Makes a token account rent-exempt. */
export const ACCOUNT_RENT = 2_039_280n

/** Bytes of a token account, as a node returns them. */
export function tokenAccountData(account: TokenAccount, bytesOf: (address: string) => Uint8Array): Buffer {
  const isOld = account.mint.program === TOKEN
  const data = Buffer.alloc(isOld ? 165 : 170)
  data.set(bytesOf(account.mint.address), 0)
  data.set(bytesOf(account.owner), 32)
  data.writeBigUInt64LE(account.amount, 64)
  data.writeUInt8(1, 108)
  // Under Token-2022 an associated account has one extension, immutable owner; others are allowed the same length.
  if (!isOld) {
    data.writeUInt8(2, 165)
    data.writeUInt16LE(7, 166)
  }
  return data
}

export function pay(state: State, from: string, to: string, lamports: bigint): void {
  give(state, from, -lamports)
  give(state, to, lamports)
}

export function give(state: State, address: string, lamports: bigint): void {
  const left = (state.lamports.get(address) ?? 0n) + lamports
  if (left < 0n) throw new RangeError(`${address} would have ${left} lamports`)
  state.lamports.set(address, left)
}

export function tokenAccount(state: State, address: string): TokenAccount {
  const account = state.tokens.get(address)
  if (account === undefined) throw new RangeError(`there is no token account ${address}`)
  return account
}
