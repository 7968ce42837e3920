import {
  decodeBase58,
  formatSolanaAddress,
  parseSolanaAddress,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM
} from '../../../nodes/solana/solanaAddress.ts'
import { NodeContradictionError } from '../../../platform/errors.ts'
import { present } from '../../../platform/present.ts'
import { readTransactionError } from './historyRpc.ts'
import type { KeptToken, KeptTransaction } from './KeptTransaction.ts'

const memoPrograms = new Set([
  'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
  'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo'
])

type Json = Readonly<Record<string, unknown>>

/** An instruction with its accounts as addresses. */
interface Instruction {
  readonly program: string
  readonly accounts: readonly string[]
  readonly data: string
  readonly isInner: boolean
}

/**
 * Reads the result of `getTransaction` with encoding `json`, of any version.
 *
 * @param signature - of the transaction that was asked for.
 * @throws {NodeContradictionError} the answer has another shape, is another transaction, or makes or loses lamports.
 */
export function readTransaction(result: unknown, signature: string): KeptTransaction {
  const answer = record(result, 'the transaction')
  const meta = record(answer.meta, 'its meta')
  const transaction = record(answer.transaction, 'its body')
  const message = record(transaction.message, 'its message')
  if (list(transaction.signatures)[0] !== signature) {
    throw new NodeContradictionError('the transaction has another signature than was asked for')
  }
  const { writable = [], readonly = [] } = meta.loadedAddresses ? record(meta.loadedAddresses, '') : {}
  const addresses = [...list(message.accountKeys), ...list(writable), ...list(readonly)].map(address)
  const pre = list(meta.preBalances).map(digits)
  const post = list(meta.postBalances).map(digits)
  if (addresses.length === 0 || pre.length !== addresses.length || post.length !== addresses.length) {
    throw new NodeContradictionError(
      `the transaction names ${addresses.length} accounts and has ${pre.length} balances before and ${post.length} after it`
    )
  }
  const fee = digits(meta.fee)
  requireConserved({ pre, post, fee }, meta.rewards)
  const instructions = readInstructions(message, meta, addresses)
  const memos = instructions.filter(({ program, isInner }) => !isInner && memoPrograms.has(program))
  return {
    signature,
    slot: integer(answer.slot, 'slot'),
    fee,
    version:
      answer.version === undefined || answer.version === 'legacy'
        ? 'legacy'
        : integer(answer.version, 'version'),
    ...present({
      blockTime: answer.blockTime == null ? undefined : integer(answer.blockTime, 'block time'),
      index: answer.transactionIndex == null ? undefined : integer(answer.transactionIndex, 'index'),
      error: readTransactionError(meta.err),
      memo: memos.length === 0 ? undefined : memos.map(({ data }) => textOf(data)).join('; ')
    }),
    accounts: addresses.map((each, at) => [each, pre[at] ?? '0', post[at] ?? '0'] as const),
    tokens: readTokens(meta, addresses, { pre, post }),
    owners: instructions.flatMap(readOwner),
    programs: [...new Set(instructions.map(({ program }) => program))]
  }
}

/**
 * Checks that no lamports came from nowhere and none are gone but for the fee, and for the rent that the transaction's rewards name.
 * Nodes kept no rewards before 2021: without them there may be fewer lamports, as rent was collected.
 */
function requireConserved(
  { pre, post, fee }: { readonly pre: readonly string[]; readonly post: readonly string[]; fee: string },
  rewards: unknown
): void {
  const sum = (amounts: readonly string[]) => amounts.reduce((total, each) => total + BigInt(each), 0n)
  const named = Array.isArray(rewards) ? rewards.map(each => record(each, 'a reward').lamports) : []
  const rent = named.reduce((total: bigint, each) => total + signed(each), 0n)
  const change = sum(post) - sum(pre) + BigInt(fee)
  if (change === rent || (!Array.isArray(rewards) && change < 0n)) return
  throw new NodeContradictionError(
    `the balances of the transaction change by ${change} lamports beside its fee`
  )
}

function readInstructions(message: Json, meta: Json, addresses: readonly string[]): readonly Instruction[] {
  const inner = new Map(
    list(meta.innerInstructions ?? []).map(each => {
      const { index, instructions } = record(each, 'inner instructions')
      return [integer(index, 'index'), list(instructions)]
    })
  )
  const at = (index: unknown) => {
    const found = addresses[integer(index, 'account index')]
    if (found === undefined)
      throw new NodeContradictionError('an instruction names an account that is not there')
    return found
  }
  const read = (value: unknown, isInner: boolean): Instruction => {
    const { programIdIndex, accounts, data } = record(value, 'an instruction')
    if (typeof data !== 'string') throw new NodeContradictionError('an instruction without data')
    return { program: at(programIdIndex), accounts: list(accounts).map(at), data, isInner }
  }
  return list(message.instructions).flatMap((value, index) => [
    read(value, false),
    ...(inner.get(index) ?? []).map(each => read(each, true))
  ])
}

function readTokens(
  meta: Json,
  addresses: readonly string[],
  lamports: Readonly<Record<'pre' | 'post', readonly string[]>>
): readonly KeptToken[] {
  const tokens = new Map<string, KeptToken>()
  for (const when of ['pre', 'post'] as const) {
    for (const value of list(meta[`${when}TokenBalances`] ?? [])) {
      const { accountIndex, mint, owner, uiTokenAmount } = record(value, 'a token balance')
      const account = addresses[integer(accountIndex, 'account index')]
      // An account without lamports is gone, also where a node still gives it a balance.
      if (lamports[when][Number(accountIndex)] === '0') continue
      const { amount, decimals } = record(uiTokenAmount, 'a token amount')
      if (account === undefined) throw new NodeContradictionError('a token balance of no account')
      const balance = {
        amount: digits(amount),
        ...present({ owner: owner == null ? undefined : address(owner) })
      }
      tokens.set(account, {
        ...tokens.get(account),
        ...{ account, mint: address(mint), decimals: integer(decimals, 'decimals') },
        [when]: balance
      })
    }
  }
  return [...tokens.values()]
}

/** Positions of owners in instructions of the token programs, by their first byte. */
const initialize = 1
const setAuthority = 6
const closeAccount = 9
const initialize2 = 16
const initialize3 = 18
const accountOwner = 2

/** @see SPL Token `TokenInstruction` */
function readOwner({ program, accounts, data }: Instruction): readonly (readonly [string, string])[] {
  if (program !== TOKEN_PROGRAM && program !== TOKEN_2022_PROGRAM) return []
  const bytes = decodeBase58(data)
  const [account, second, third] = accounts
  const named = (owner: string | undefined) =>
    account === undefined || owner === undefined ? [] : [[account, owner] as const]
  const keyAt = (start: number) =>
    bytes !== undefined && bytes.length >= start + 32
      ? formatSolanaAddress(bytes.subarray(start, start + 32))
      : undefined
  switch (bytes?.[0]) {
    case initialize:
      return named(third)
    case initialize2:
    case initialize3:
      return named(keyAt(1))
    case setAuthority:
      // The owner until then signs; the new one is in the data.
      return bytes[1] === accountOwner
        ? [...named(second), ...named(bytes[2] === 1 ? keyAt(3) : undefined)]
        : []
    case closeAccount:
      return named(third)
    default:
      return []
  }
}

function textOf(data: string): string {
  return Buffer.from(decodeBase58(data) ?? []).toString('utf8')
}

function record(value: unknown, what: string): Json {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Json
  throw new NodeContradictionError(`${what} is no object`)
}

function list(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  throw new NodeContradictionError('a list of the transaction is missing')
}

function address(value: unknown): string {
  if (typeof value === 'string' && parseSolanaAddress(value) !== undefined) return value
  throw new NodeContradictionError('the transaction names what is no address')
}

/** A u64 as digits, whether the node wrote a number or a text. */
function digits(value: unknown): string {
  const text =
    typeof value === 'string'
      ? value
      : typeof value === 'bigint' || Number.isSafeInteger(value)
        ? `${value}`
        : ''
  if (/^(?:0|[1-9]\d{0,19})$/.test(text)) return text
  throw new NodeContradictionError('an amount of the transaction is no u64')
}

function signed(value: unknown): bigint {
  if (typeof value === 'bigint' || Number.isSafeInteger(value)) return BigInt(value as number | bigint)
  throw new NodeContradictionError('a reward of the transaction is no whole number')
}

function integer(value: unknown, what: string): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  throw new NodeContradictionError(`the ${what} of the transaction is no whole number`)
}
