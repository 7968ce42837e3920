import { NodeContradictionError } from '../../platform/errors.ts'
import { UpstreamError } from '../upstreams/upstreamError.ts'
import { type NodeResult, wordCall } from './jsonRpc.ts'
import type { SolanaCallOptions, SolanaNode, SolanaNodes } from './nodes.ts'
import {
  type AddressedAccount,
  type AtSlot,
  type RawAccount,
  readAccountsInOrder,
  readAddressedAccounts,
  readAnything,
  readBalance
} from './readAnswers.ts'
import { requireAddress } from './solanaAddress.ts'

type SolanaCommitment = 'processed' | 'confirmed' | 'finalized'

/** Selects the accounts of a program that have these bytes at this offset: at most 128, in base58. */
interface AccountFilter {
  readonly offset: number
  readonly bytes: string
}

/** The options of calls whose accounts may be of any size. */
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
  readonly nodes: SolanaNodes
  readonly commitment: SolanaCommitment
}

/**
 * Plain JSON-RPC over our own upstreams: that brings deadlines, a size cap, fail-over and exact numbers, and answers
 * are read in portions, so that large ones do not hold up other work.
 */
export function createSolanaRpc({ nodes, commitment }: SolanaRpcOptions): SolanaRpc {
  /** Asks until an answer is sound and new enough. */
  function ask<T>(
    method: string,
    params: readonly unknown[],
    read: (answer: NodeResult) => Promise<AtSlot<T>>,
    callOptions: SolanaCallOptions
  ): Promise<AtSlot<T>> {
    const { minContextSlot = 0 } = callOptions
    const attempt = async (node: SolanaNode) => {
      const answer = await read(await node.send(wordCall(method, params)))
      // Some nodes ignore minContextSlot, so the slot itself is checked.
      if (answer.slot < minContextSlot) throw new UpstreamError(`${node.name} is behind`, 'behind')
      return answer
    }
    return nodes.ask(method, attempt, callOptions)
  }

  /** The settings of every call for accounts; JSON leaves out what is undefined. */
  const configOf = ({ minContextSlot, dataSlice }: ProgramAccountsOptions) => ({
    commitment,
    encoding: 'base64',
    minContextSlot,
    dataSlice
  })

  return {
    async getBalance(address, callOptions = {}) {
      requireAddress(address)
      const { minContextSlot } = callOptions
      return ask('getBalance', [address, { commitment, minContextSlot }], readBalance, callOptions)
    },

    async getTokenAccountsByOwner(owner, programId, callOptions = {}) {
      const ownerBytes = requireAddress(owner)
      const read = async (result: NodeResult) => {
        const answer = await readAddressedAccounts(result)
        for (const { address, data } of answer.value) requireOwner(address, data, ownerBytes)
        return answer
      }
      const params = [owner, { programId }, configOf(callOptions)]
      return ask('getTokenAccountsByOwner', params, read, callOptions)
    },

    getProgramAccounts(programId, filters, callOptions = {}) {
      const asked = { filters: filters.map(filter => ({ memcmp: filter })), withContext: true }
      const params = [programId, { ...configOf(callOptions), ...asked }]
      return ask('getProgramAccounts', params, readAddressedAccounts, callOptions)
    },

    async getMultipleAccounts(addresses, callOptions = {}) {
      if (addresses.length > MAX_ACCOUNTS_PER_CALL) {
        throw new RangeError(`${addresses.length} keys in one call`)
      }
      addresses.forEach(requireAddress)
      const read = async (result: NodeResult) => {
        const answer = await readAccountsInOrder(result)
        if (answer.value.length === addresses.length) return answer
        throw new NodeContradictionError(`asked for ${addresses.length} accounts, got ${answer.value.length}`)
      }
      return ask('getMultipleAccounts', [addresses, configOf(callOptions)], read, callOptions)
    },

    call: (method, params, callOptions = {}) =>
      nodes.ask(method, async node => readAnything(await node.send(wordCall(method, params))), callOptions)
  }
}

/** Both token programs keep the owner at the same offset. Shorter accounts are none; their reader says so. */
function requireOwner(address: string, data: Uint8Array, owner: Uint8Array): void {
  if (data.length < OWNER_AT + owner.length) return
  if (owner.every((byte, at) => data[OWNER_AT + at] === byte)) return
  throw new NodeContradictionError(`token account ${address} has another owner than was asked for`)
}
