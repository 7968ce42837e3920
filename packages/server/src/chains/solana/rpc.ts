import { Connection, PublicKey, SolanaJSONRPCError } from '@solana/web3.js'
import { NodeContradictionError, NodeRpcError, NodeUnavailableError } from '../../platform/errors.ts'
import { createHttpUpstream, type HttpUpstream, UpstreamError } from '../../platform/httpUpstream.ts'
import { parseExactJson } from '../../platform/parseExactJson.ts'

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

/**
 * The node calls that holdings need, at one commitment, over all of the chain's `rpcUrls`. Every method
 * keeps the node's name.
 *
 * @throws {NodeRpcError} the node answered an error that another try will not mend.
 * @throws {NodeUnavailableError} no node answered, in time and new enough.
 * @throws {NodeContradictionError} the answer does not fit the question.
 */
export interface SolanaRpc {
  /** Lamports, exact up to 2^64-1; 0 for an account that does not exist. */
  getBalance(address: string, options?: SolanaCallOptions): Promise<AtSlot<bigint>>
  /** All token accounts of the owner under one token program, as bytes. */
  getTokenAccountsByOwner(
    owner: string,
    programId: string,
    options?: SolanaCallOptions
  ): Promise<AtSlot<readonly (RawAccount & { readonly address: string })[]>>
  /**
   * Accounts in the order asked for, `undefined` where there is none.
   * @param addresses - at most {@link MAX_ACCOUNTS_PER_CALL}; real clusters refuse more.
   */
  getMultipleAccounts(
    addresses: readonly string[],
    options?: SolanaCallOptions
  ): Promise<AtSlot<readonly (RawAccount | undefined)[]>>
  /**
   * All accounts of a program that pass every filter, as bytes.
   * @throws {NodeRpcError} many nodes refuse the method, or a program without an index of its own.
   */
  getProgramAccounts(
    programId: string,
    filters: readonly MemcmpFilter[],
    options?: SolanaCallOptions
  ): Promise<AtSlot<readonly (RawAccount & { readonly address: string })[]>>
}

/** Accounts whose data has these bytes at this place. */
export interface MemcmpFilter {
  readonly offset: number
  /** Base58 of at most 128 bytes. */
  readonly bytes: string
}

/** Limit of real clusters on the keys of one `getMultipleAccounts`. */
export const MAX_ACCOUNTS_PER_CALL = 100

export interface SolanaRpcOptions {
  /** Tried in order, starting with the one that answered last. */
  readonly rpcUrls: readonly string[]
  readonly commitment: SolanaCommitment
  /** Bound on one exchange with one node, from the first byte out to the last byte in. Default 10 s. */
  readonly timeoutMs?: number
  /** Times that all nodes are tried before a call fails. Default 3. */
  readonly maxRounds?: number
  /** Pause before the second round, doubled for each further one. Default 200 ms. */
  readonly backoffMs?: number
  /** Default 64 MiB: some 100,000 token accounts. */
  readonly maxResponseBytes?: number
}

/** Unhealthy, behind `minContextSlot`, or broken inside: another node may not be. */
const PASSING_RPC_CODES = new Set([-32005, -32016, -32603])

/** What one exchange gave: web3.js' reading of it, and the text where numbers are still exact. */
interface Answer<T> {
  readonly value: T
  readonly text: string
}

/**
 * Plain JSON-RPC over `Connection` of @solana/web3.js 1.x, which words the requests and checks the shape of the
 * answers. The bytes go through our own upstream instead of its fetch: that brings deadlines, a size cap, fail-over
 * and exact numbers, and neither URLs nor their keys ever enter the library (nor its console output). A Connection
 * holds no state for plain calls and costs a few microseconds, so each exchange has its own, bound to its signal.
 *
 * @throws {ConfigError} when a URL cannot be used.
 */
export function createSolanaRpc(options: SolanaRpcOptions): SolanaRpc {
  const { commitment, timeoutMs = 10_000, maxRounds = 3, backoffMs = 200 } = options
  const { maxResponseBytes = 64 * 1024 * 1024 } = options
  const upstreams = options.rpcUrls.map((url, at) =>
    createHttpUpstream({ url, position: at + 1, maxResponseBytes })
  )
  let preferred = 0

  /** Asks one node once. */
  async function ask<T>(
    upstream: HttpUpstream,
    query: (connection: Connection) => Promise<T>,
    { signal, deadlineMs = Number.POSITIVE_INFINITY }: SolanaCallOptions
  ): Promise<Answer<T>> {
    const timer = AbortSignal.timeout(Math.max(0, Math.ceil(Math.min(timeoutMs, deadlineMs - Date.now()))))
    const whole = signal === undefined ? timer : AbortSignal.any([signal, timer])
    let text = ''
    const connection = new Connection('http://node.invalid', {
      commitment,
      httpAgent: false,
      disableRetryOnRateLimit: true,
      fetch: async (_url, init) => {
        text = await postJsonRpc(upstream, String(init?.body), whole)
        return new Response(text)
      }
    })
    try {
      return { value: await query(connection), text }
    } catch (error) {
      signal?.throwIfAborted()
      if (timer.aborted) throw new UpstreamError(`${upstream.name} did not answer in time`, 'unreachable')
      throw readFailure(error, upstream.name)
    }
  }

  /** Asks the nodes in turn until one gives an answer that is new enough. */
  async function call<T extends { readonly context: { readonly slot: number } }>(
    method: string,
    query: (connection: Connection) => Promise<T>,
    callOptions: SolanaCallOptions
  ): Promise<Answer<T>> {
    const { signal, deadlineMs = Number.POSITIVE_INFINITY, minContextSlot = 0 } = callOptions
    let failure = new UpstreamError('no node is configured', 'unreachable')
    for (let round = 0; round < maxRounds; round++) {
      if (round > 0) {
        const pauseMs = Math.max(backoffMs * 2 ** (round - 1), failure.retryAfterMs ?? 0)
        // A wait that outlasts the caller is no wait: better an error at once.
        if (pauseMs > timeoutMs || Date.now() + pauseMs >= deadlineMs) break
        await pause(pauseMs, signal)
      }
      const first = preferred
      for (let step = 0; step < upstreams.length; step++) {
        const at = (first + step) % upstreams.length
        const upstream = upstreams[at]
        if (upstream === undefined) continue
        try {
          signal?.throwIfAborted()
          const answer = await ask(upstream, query, callOptions)
          const { slot } = answer.value.context
          // Some nodes ignore minContextSlot, so the slot itself is looked at.
          if (slot < minContextSlot) throw new UpstreamError(`${upstream.name} is behind`, 'unreachable')
          preferred = at
          return answer
        } catch (error) {
          if (!(error instanceof UpstreamError)) throw error
          failure = error
        }
        if (Date.now() >= deadlineMs) break
      }
    }
    throw new NodeUnavailableError(`${method}: ${failure.message}`, { method })
  }

  return {
    async getBalance(address, callOptions = {}) {
      const key = new PublicKey(address)
      const { value, text } = await call(
        'getBalance',
        connection => connection.getBalanceAndContext(key, configOf(callOptions)),
        callOptions
      )
      return { slot: readSlot(value), value: readLamports(text) }
    },

    async getTokenAccountsByOwner(owner, programId, callOptions = {}) {
      const key = new PublicKey(owner)
      const filter = { programId: new PublicKey(programId) }
      const { value } = await call(
        'getTokenAccountsByOwner',
        connection => connection.getTokenAccountsByOwner(key, filter, configOf(callOptions)),
        callOptions
      )
      const accounts = value.value.map(({ pubkey, account }) => ({
        address: pubkey.toBase58(),
        owner: account.owner.toBase58(),
        data: account.data
      }))
      return { slot: readSlot(value), value: accounts }
    },

    async getMultipleAccounts(addresses, callOptions = {}) {
      if (addresses.length > MAX_ACCOUNTS_PER_CALL)
        throw new RangeError(`${addresses.length} keys in one call`)
      const keys = addresses.map(address => new PublicKey(address))
      const { value } = await call(
        'getMultipleAccounts',
        connection => connection.getMultipleAccountsInfoAndContext(keys, configOf(callOptions)),
        callOptions
      )
      if (value.value.length !== keys.length) {
        throw new NodeContradictionError(`asked for ${keys.length} accounts, got ${value.value.length}`)
      }
      const accounts = value.value.map(account =>
        account === null ? undefined : { owner: account.owner.toBase58(), data: account.data }
      )
      return { slot: readSlot(value), value: accounts }
    },

    async getProgramAccounts(programId, filters, callOptions = {}) {
      const key = new PublicKey(programId)
      const config = {
        ...configOf(callOptions),
        filters: filters.map(filter => ({ memcmp: { ...filter } })),
        withContext: true as const
      }
      const { value } = await call(
        'getProgramAccounts',
        connection => connection.getProgramAccounts(key, config),
        callOptions
      )
      const accounts = value.value.map(({ pubkey, account }) => ({
        address: pubkey.toBase58(),
        owner: account.owner.toBase58(),
        data: account.data
      }))
      return { slot: readSlot(value), value: accounts }
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

/** Text that looks like one JSON-RPC answer, under whatever status it came. */
async function postJsonRpc(upstream: HttpUpstream, body: string, signal: AbortSignal): Promise<string> {
  const { status, text } = await upstream.post(body, signal)
  if (/^\s*\{/.test(text)) return text
  throw new UpstreamError(`${upstream.name} answered no JSON-RPC (HTTP ${status})`, 'malformed')
}

function configOf({ minContextSlot }: SolanaCallOptions): { minContextSlot?: number } {
  return minContextSlot === undefined ? {} : { minContextSlot }
}

/** Sorts what web3.js threw: `UpstreamError` lets the next node try, the others are final. */
function readFailure(error: unknown, name: string): Error {
  if (error instanceof UpstreamError) return error
  if (error instanceof SolanaJSONRPCError) {
    const code = Number(error.code)
    if (PASSING_RPC_CODES.has(code)) {
      return new UpstreamError(`${name} is behind or unwell (error ${code})`, 'unreachable')
    }
    if (code === 429) return new UpstreamError(`${name} limits the rate of calls (error 429)`, 'throttled')
    // The node's own words may quote its URL or the request: only the code is passed on.
    return new NodeRpcError(`${name} answered error ${code}`, code, error.data)
  }
  // A shape that web3.js refuses, or text that is no JSON: this node is no Solana node at the moment.
  return new UpstreamError(`${name} answered something else than was asked for`, 'malformed')
}

function readSlot({ context }: { readonly context: { readonly slot: number } }): number {
  if (!Number.isSafeInteger(context.slot) || context.slot < 0) {
    throw new NodeContradictionError(`slot ${context.slot} is no slot`)
  }
  return context.slot
}

function readLamports(text: string): bigint {
  const lamports = (parseExactJson(text) as { result: { value: unknown } }).result.value
  if (typeof lamports === 'bigint' || (typeof lamports === 'number' && Number.isSafeInteger(lamports))) {
    const exact = BigInt(lamports)
    if (exact === BigInt.asUintN(64, exact)) return exact
  }
  throw new NodeContradictionError('the balance is not a u64')
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal?.addEventListener('abort', stop, { once: true })
    if (signal?.aborted) stop()
  })
}
