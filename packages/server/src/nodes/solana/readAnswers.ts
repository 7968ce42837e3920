import { createYielder } from '../../platform/concurrency/pause.ts'
import { NodeContradictionError } from '../../platform/errors.ts'
import { parseExactJson } from '../../platform/parseExactJson.ts'
import { type Extent, findElements, findMembers, JsonRefusal, type JsonText } from './jsonExtents.ts'
import type { NodeResult } from './jsonRpc.ts'
import { parseSolanaAddress } from './solanaAddress.ts'

/** Accounts read before other work gets a turn: some 1 ms. */
const ACCOUNTS_PER_TURN = 50

/** The part of an account that the readers need. */
export interface RawAccount {
  /** The program that owns it, base58. */
  readonly owner: string
  readonly data: Uint8Array
}

/** An answer and the slot at which the node gave it. */
export interface AtSlot<T> {
  readonly slot: number
  readonly value: T
}

/** An account together with its address. */
export type AddressedAccount = RawAccount & { readonly address: string }

/**
 * Reads a list of accounts as `getTokenAccountsByOwner` and `getProgramAccounts` give it.
 *
 * Every field is looked at, base64 becomes bytes at once, and the list is taken in portions: nothing waits long
 * behind a large account.
 *
 * @throws {NodeContradictionError} any other shape, or an address twice.
 */
export function readAddressedAccounts(answer: NodeResult): Promise<AtSlot<readonly AddressedAccount[]>> {
  const readAccount = createAccountReader()
  const seen = new Set<string>()
  return readList(answer, element => {
    const { pubkey, account } = asRecord(element, 'an entry')
    const address = readAddress(pubkey)
    if (seen.has(address)) throw new NodeContradictionError(`account ${address} came twice`)
    seen.add(address)
    return { address, ...readAccount(account) }
  })
}

/**
 * Reads a list of accounts as `getMultipleAccounts` gives it; `undefined` where there is none.
 *
 * @throws {NodeContradictionError} any other shape.
 */
export function readAccountsInOrder(
  answer: NodeResult
): Promise<AtSlot<readonly (RawAccount | undefined)[]>> {
  const readAccount = createAccountReader()
  return readList(answer, element => (element === null ? undefined : readAccount(element)))
}

/**
 * Lamports as `getBalance` gives them, all digits.
 *
 * @throws {NodeContradictionError} any other shape, or no u64.
 */
export async function readBalance(answer: NodeResult): Promise<AtSlot<bigint>> {
  const { slot, value } = await readAtSlot(answer)
  const lamports = parsePiece(answer.text, value)
  const isWhole = typeof lamports === 'bigint' || Number.isSafeInteger(lamports)
  const exact = isWhole ? BigInt(lamports as bigint | number) : -1n
  if (exact !== BigInt.asUintN(64, exact)) throw new NodeContradictionError('the balance is not a u64')
  return { slot, value: exact }
}

/** The whole result, integers beyond 2^53 as `bigint`. */
export function readAnything(answer: NodeResult): unknown {
  return parsePiece(answer.text, answer.result)
}

async function readList<T>(
  answer: NodeResult,
  readElement: (element: unknown) => T
): Promise<AtSlot<readonly T[]>> {
  const { slot, value } = await readAtSlot(answer)
  const checkYield = createYielder(ACCOUNTS_PER_TURN, 0)
  const list: T[] = []
  await orContradiction(async () => {
    for await (const { start, end } of findElements(answer, value.start)) {
      // Nothing that is read here is a number, so JSON.parse does: lamports and rent epochs stay unread.
      list.push(readElement(JSON.parse(answer.text.slice(start, end))))
      const pause = checkYield()
      if (pause !== undefined) await pause
    }
  })
  return { slot, value: list }
}

async function readAtSlot(answer: JsonText & { readonly result: Extent }): Promise<AtSlot<Extent>> {
  return orContradiction(async () => {
    const { members } = await findMembers(answer, answer.result.start)
    const context = members.get('context')
    const value = members.get('value')
    if (context === undefined || value === undefined)
      throw new NodeContradictionError('no context or no value')
    const { slot } = asRecord(parsePiece(answer.text, context), 'the context')
    if (typeof slot !== 'number' || !Number.isSafeInteger(slot) || slot < 0) {
      throw new NodeContradictionError(`slot ${String(slot).slice(0, 30)} is no slot`)
    }
    return { slot, value }
  })
}

async function orContradiction<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof JsonRefusal || error instanceof SyntaxError) {
      throw new NodeContradictionError('the answer has another shape than was asked for')
    }
    throw error
  }
}

function parsePiece(text: string, { start, end }: Extent): unknown {
  try {
    return parseExactJson(text.slice(start, end))
  } catch {
    throw new NodeContradictionError('the answer is no JSON')
  }
}

/** Owners repeat: one answer has one or two of them, and each text is checked once. */
function createAccountReader(): (value: unknown) => RawAccount {
  let checkedOwner = ''
  return value => {
    const { data, owner, lamports, executable } = asRecord(value, 'an account')
    if (owner !== checkedOwner) checkedOwner = readAddress(owner)
    if (typeof lamports !== 'number' || lamports < 0 || typeof executable !== 'boolean') {
      throw new NodeContradictionError('an account without lamports or executable')
    }
    return { owner: checkedOwner, data: readBase64(data) }
  }
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/

function readBase64(data: unknown): Uint8Array {
  if (!Array.isArray(data) || data.length !== 2 || typeof data[0] !== 'string' || data[1] !== 'base64') {
    throw new NodeContradictionError('account data is not ["...", "base64"]')
  }
  const [text] = data
  // Buffer leaves out what is no base64, and an account would be read that nobody has.
  if (text.length % 4 !== 0 || !BASE64.test(text))
    throw new NodeContradictionError('account data is no base64')
  return Buffer.from(text, 'base64')
}

function readAddress(value: unknown): string {
  if (typeof value !== 'string' || parseSolanaAddress(value) === undefined) {
    throw new NodeContradictionError('an account without a lawful address')
  }
  return value
}

function asRecord(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  throw new NodeContradictionError(`${what} is no object`)
}
