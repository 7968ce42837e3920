import { Connection, PublicKey } from '@solana/web3.js'
import { NodeContradictionError } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'
import { type HttpUpstream, UpstreamError } from '../upstreams/httpUpstream.ts'
import { exchange, type NodeResult, wordCall } from './exchange.ts'
import {
  type AddressedAccount,
  readAccountsInOrder,
  readAddressedAccounts,
  readAnything,
  readBalance
} from './readAnswers.ts'
import { formatSolanaAddress } from './solanaAddress.ts'
import { createSolanaUpstreams } from './upstreams.ts'

export type SolanaCommitment = 'processed' | 'confirmed' | 'finalized'

/** What the readers need of an account. */
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

export interface SolanaCallOptions {
  readonly signal?: AbortSignal | undefined
  /** `Date.now()` after which the call is given up, retries included. */
  readonly deadlineMs?: number | undefined
  /** The answer may not be older than this slot; a node that is behind is treated like one that is down. */
  readonly minContextSlot?: number | undefined
}

/** Which accounts of a program are meant: those of one size, or with these bytes in one place. */
export type AccountFilter =
  | { readonly dataSize: number }
  /** At most 128 bytes; text is base58. */
  | { readonly offset: number; readonly bytes: Uint8Array | string }

/** Of calls whose accounts may be of any size. */
export interface ProgramAccountsOptions extends SolanaCallOptions {
  /** The part of each account's data that is wanted; absent: all of it. */
  readonly dataSlice?: { readonly offset: number; readonly length: number }
}

/**
 * The node calls that holdings need, at one commitment, over all of the chain's `rpcUrls`. Every method keeps the
 * node's name.
 *
 * @throws {NodeRpcError} the node answered an error that another try will not mend, and so did all others.
 * @throws {NodeUnavailableError} no node answered, in time and new enough.
 * @throws {NodeContradictionError} the answer does not fit the question.
 */
export interface SolanaRpc {
  /** Lamports, exact up to 2^64-1; 0 for an account that does not exist. */
  getBalance(address: string, options?: SolanaCallOptions): Promise<AtSlot<bigint>>
  /** All token accounts of the owner under one token program, as bytes; each once, and of nobody else. */
  getTokenAccountsByOwner(
    owner: string,
    programId: string,
    options?: SolanaCallOptions
  ): Promise<AtSlot<readonly AddressedAccount[]>>
  /**
   * All accounts of a program that pass every filter, as bytes.
   *
   * @remarks Many nodes refuse it: {@link NodeRpcError}. Without an index the node looks through all of the program's
   *   accounts.
   */
  getProgramAccounts(
    programId: string,
    filters: readonly AccountFilter[],
    options?: ProgramAccountsOptions
  ): Promise<AtSlot<readonly AddressedAccount[]>>
  /**
   * Accounts in the order asked for, `undefined` where there is none.
   * @param addresses - at most {@link MAX_ACCOUNTS_PER_CALL}; real clusters refuse more.
   */
  getMultipleAccounts(
    addresses: readonly string[],
    options?: ProgramAccountsOptions
  ): Promise<AtSlot<readonly (RawAccount | undefined)[]>>
  /**
   * Any other call, such as those of the Digital Asset Standard.
   *
   * @param params - sent as they are: a list, or members by name.
   * @returns the `result`, unchecked; integers beyond 2^53 are `bigint`.
   * @remarks The answer is parsed in one go, so ask for pages of some hundred items.
   */
  call(
    method: string,
    params: readonly unknown[] | Readonly<Record<string, unknown>>,
    options?: Omit<SolanaCallOptions, 'minContextSlot'>
  ): Promise<unknown>
}

const OWNER_AT = 32

/** Limit of real clusters on the keys of one `getMultipleAccounts`. */
export const MAX_ACCOUNTS_PER_CALL = 100

export interface SolanaRpcOptions {
  /** Tried in order, starting with the one that answered last. */
  readonly rpcUrls: readonly string[]
  readonly commitment: SolanaCommitment
  /** Bound on one exchange with one node, from the first byte out to the last byte in. Default 10 s. */
  readonly timeoutMs?: number
  /** Times that all nodes are tried before a call fails; five times as often where they are only behind. Default 3. */
  readonly maxRounds?: number
  /** Pause before the second round, and twice as long before all further ones. Default 200 ms. */
  readonly backoffMs?: number
  /** Default 64 MiB: some 100,000 token accounts. */
  readonly maxResponseBytes?: number
  /** Told of a node that serves another cluster. Default: nobody is. */
  readonly logger?: Logger
}

/**
 * Plain JSON-RPC over our own upstream: that brings deadlines, a size cap, fail-over and exact numbers. Answers that
 * may be large are worded and read here ({@link readAddressedAccounts}). `Connection` of @solana/web3.js words the
 * small call; it checks large answers in one go, which holds up everybody else.
 *
 * @throws {ConfigError} when a URL cannot be used.
 */
export function createSolanaRpc(options: SolanaRpcOptions): SolanaRpc {
  const { commitment } = options
  const upstreams = createSolanaUpstreams(options)

  /** Asks until an answer is sound and new enough. */
  function ask<T>(
    method: string,
    question: (upstream: HttpUpstream, signal: AbortSignal) => Promise<AtSlot<T>>,
    callOptions: SolanaCallOptions
  ): Promise<AtSlot<T>> {
    const { minContextSlot = 0 } = callOptions
    const attempt = async (upstream: HttpUpstream, signal: AbortSignal) => {
      const answer = await question(upstream, signal)
      // Some nodes ignore minContextSlot, so the slot itself is looked at.
      if (answer.slot < minContextSlot) throw new UpstreamError(`${upstream.name} is behind`, 'behind')
      return answer
    }
    return upstreams.ask(method, attempt, callOptions)
  }

  /** What every call for accounts says; JSON leaves out what is undefined. */
  const configOf = ({ minContextSlot }: SolanaCallOptions) => ({
    commitment,
    encoding: 'base64',
    minContextSlot
  })

  return {
    getBalance(address, callOptions = {}) {
      const key = new PublicKey(address)
      const { minContextSlot } = callOptions
      const config = minContextSlot === undefined ? {} : { minContextSlot }
      const question = async (upstream: HttpUpstream, signal: AbortSignal) => {
        const query = (connection: Connection) => connection.getBalanceAndContext(key, config)
        return readBalance(await askThroughLibrary(query, upstream, commitment, signal))
      }
      return ask('getBalance', question, callOptions)
    },

    getTokenAccountsByOwner(owner, programId, callOptions = {}) {
      const method = 'getTokenAccountsByOwner'
      const key = new PublicKey(owner)
      const params = [key.toBase58(), { programId: addressOf(programId) }, configOf(callOptions)]
      const question = async (upstream: HttpUpstream, signal: AbortSignal) => {
        const answer = await readAddressedAccounts(await exchange(upstream, wordCall(method, params), signal))
        for (const { address, data } of answer.value) requireOwner(address, data, key.toBytes())
        return answer
      }
      return ask(method, question, callOptions)
    },

    getProgramAccounts(programId, filters, callOptions = {}) {
      const method = 'getProgramAccounts'
      const { dataSlice } = callOptions
      const config = {
        ...configOf(callOptions),
        withContext: true,
        dataSlice,
        filters: filters.map(wordFilter)
      }
      const question = async (upstream: HttpUpstream, signal: AbortSignal) =>
        readAddressedAccounts(
          await exchange(upstream, wordCall(method, [addressOf(programId), config]), signal)
        )
      return ask(method, question, callOptions)
    },

    async getMultipleAccounts(addresses, callOptions = {}) {
      if (addresses.length > MAX_ACCOUNTS_PER_CALL) {
        throw new RangeError(`${addresses.length} keys in one call`)
      }
      const method = 'getMultipleAccounts'
      const { dataSlice } = callOptions
      const params = [addresses.map(addressOf), { ...configOf(callOptions), dataSlice }]
      const question = async (upstream: HttpUpstream, signal: AbortSignal) => {
        const answer = await readAccountsInOrder(await exchange(upstream, wordCall(method, params), signal))
        if (answer.value.length === addresses.length) return answer
        throw new NodeContradictionError(`asked for ${addresses.length} accounts, got ${answer.value.length}`)
      }
      return ask(method, question, callOptions)
    },

    call(method, params, callOptions = {}) {
      const attempt = async (upstream: HttpUpstream, signal: AbortSignal) =>
        readAnything(await exchange(upstream, wordCall(method, params), signal))
      return upstreams.ask(method, attempt, callOptions)
    }
  }
}

/**
 * The address that a program derives from these seeds, base58.
 * @remarks Hashes and tests curve points: some 150 us, so derive many in portions.
 */
export function findProgramAddress(seeds: readonly Uint8Array[], programId: string): string {
  return PublicKey.findProgramAddressSync([...seeds], new PublicKey(programId))[0].toBase58()
}

/**
 * One exchange with one node, worded and checked by a Connection of its own: it holds no state for plain calls and
 * costs a few microseconds. The bytes do not go through its own fetch, so neither URLs nor their keys enter the library
 * (nor its console output).
 *
 * @returns the answer as text, where numbers are still exact.
 * @throws {NodeContradictionError} the library refuses its shape.
 */
async function askThroughLibrary(
  query: (connection: Connection) => Promise<unknown>,
  upstream: HttpUpstream,
  commitment: SolanaCommitment,
  signal: AbortSignal
): Promise<NodeResult> {
  let result: NodeResult | undefined
  const connection = new Connection('http://node.invalid', {
    commitment,
    httpAgent: false,
    disableRetryOnRateLimit: true,
    fetch: async (_url, init) => {
      const body = String(init?.body)
      const { id, method } = JSON.parse(body) as { id: string; method: string }
      result = await exchange(upstream, { id, method, body }, signal)
      return new Response(result.text)
    }
  })
  await query(connection).catch(error => {
    // Without a result it is the exchange that failed, with an error of its own.
    throw result === undefined
      ? error
      : new NodeContradictionError('the library refuses the shape of the answer')
  })
  if (result === undefined) throw new TypeError('the library did not ask')
  return result
}

/** Both token programs keep the owner in the same place. Shorter accounts are none; whoever reads them says so. */
function requireOwner(address: string, data: Uint8Array, owner: Uint8Array): void {
  if (data.length < OWNER_AT + owner.length) return
  if (owner.every((byte, at) => data[OWNER_AT + at] === byte)) return
  throw new NodeContradictionError(`token account ${address} has another owner than was asked for`)
}

/** @throws when it is no address. */
function addressOf(text: string): string {
  return new PublicKey(text).toBase58()
}

function wordFilter(filter: AccountFilter): object {
  if ('dataSize' in filter) return filter
  const { offset, bytes } = filter
  return { memcmp: { offset, bytes: typeof bytes === 'string' ? bytes : formatSolanaAddress(bytes) } }
}
