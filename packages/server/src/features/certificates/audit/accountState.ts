import type { Address, Hash, Hex, IndexedBlock, TokenStandard } from '@chain-data/index'
import { balanceGas, wordCall } from '../../../evm/holdings/tokenStandards.ts'
import { type FoundOperation, findOperations } from '../../../evm/search/findOperations.ts'
import { decodeUint, encodeCall, readReturnData } from '../../../evm/state/abi.ts'
import type { CallResult, ContractCall } from '../../../evm/state/contractCalls.ts'
import { createMulticall } from '../../../evm/state/multicall.ts'
import { BlockLostError, hashOfBlock, type PinnedBlock } from '../../../evm/state/pinBlock.ts'
import { type EvmNode, type NodeOutcome, quantityIn } from '../../../nodes/evm/nodeCall.ts'
import { toQuantity } from '../../../nodes/evm/rawFields.ts'
import { messageKindOf } from '../../../nodes/upstreams/errorWords.ts'
import { NodeRpcError } from '../../../platform/errors.ts'

/** An account as the chain's state has it after a block. */
export interface AccountAt {
  readonly nonce: bigint
  readonly balance: bigint
  /** `delegation`: the account has a key, and runs the code of a contract (EIP-7702). */
  readonly code: 'none' | 'delegation' | 'contract'
}

/** A balance of its own: of an ERC-20 or ERC-721 contract, or of one id of an ERC-1155 contract. */
export interface TokenName {
  readonly standard: TokenStandard
  readonly contract: Address
  /** Only for erc1155. */
  readonly tokenId?: bigint
}

export type TokenBalance =
  | { readonly kind: 'read'; readonly amount: bigint }
  /** The contract does not answer: it reverts, burns all gas, returns nothing or no number, or is not there. */
  | { readonly kind: 'refused' }
  /** The node does not have this state, or did not come to an end: nothing is known. */
  | { readonly kind: 'unknown' }

/**
 * Reads the chain's state up to one block, from one node. Heights above that block are never read.
 *
 * @remarks Every method throws as `EvmNode.request` does, and the signal's reason when aborted.
 */
export interface AccountState {
  /** The account at the block itself. */
  readonly now: AccountAt
  /** For each height the account after that block; absent where the node does not have the state any more. One exchange. */
  accounts(heights: readonly number[]): Promise<readonly (AccountAt | undefined)[]>
  /** Balances after one block, in the order of `tokens`. For a block whose `accounts` is known. */
  balances(tokens: readonly TokenName[], height: number): Promise<readonly TokenBalance[]>
  /** One balance after each of several blocks. One exchange. */
  balanceAt(token: TokenName, heights: readonly number[]): Promise<readonly TokenBalance[]>
  /** `totalSupply` of a contract after each of several blocks. One exchange. */
  supplyAt(contract: Address, heights: readonly number[]): Promise<readonly TokenBalance[]>
  /**
   * Operations that the account has sent from a block on, by the node's logs.
   * @returns `undefined`: the node does not search all of these blocks, or not in time.
   */
  operations(from: number): Promise<readonly FoundOperation[] | undefined>
  /** The hash of the block that this node has at a height; absent where it has none. */
  hashAt(height: number): Promise<Hash | undefined>
  /**
   * The block at a height, read and verified anew; traced where the chain is traced.
   * @returns `undefined`: no node gives it.
   */
  block(height: number): Promise<IndexedBlock | undefined>
}

interface AccountStateParts {
  readonly node: EvmNode
  readonly pinned: PinnedBlock
  readonly address: Address
  /** Read while the block was pinned. */
  readonly nativeWei: bigint
  readonly deadlineMs: number
  readBlock(height: number): Promise<IndexedBlock | undefined>
}

/** One call by itself, after the block at a height. */
interface LoneRead extends Pick<ContractCall, 'to' | 'data'> {
  readonly height: number
}

const accountMethods = ['eth_getTransactionCount', 'eth_getBalance', 'eth_getCode']
/** Each may burn all the gas of a read. */
const aloneAtOnce = 16
/** The rest of the certificate needs some time, too. */
const reserveMs = 5_000

/** @throws {BlockLostError} the node does not answer for the pinned block any more, or otherwise than a moment ago. */
export async function createAccountState(parts: AccountStateParts): Promise<AccountState> {
  const { node, pinned, address, deadlineMs, readBlock } = parts
  const parameterOf = (height: number): PinnedBlock['parameter'] =>
    height === pinned.number ? pinned.parameter : (toQuantity(height) as Hex)

  async function accounts(heights: readonly number[]): Promise<readonly (AccountAt | undefined)[]> {
    const calls = heights.flatMap(height =>
      accountMethods.map(method => ({ method, params: [address, parameterOf(height)] }))
    )
    const outcomes = calls.length === 0 ? [] : await node.batch(calls)
    return heights.map((_, place) => readAccount(outcomes.slice(3 * place, 3 * place + 3)))
  }

  async function readAlone(reads: readonly LoneRead[]): Promise<readonly TokenBalance[]> {
    const outcomes = await node.batch(
      reads.map(({ to, data, height }) => ({
        method: 'eth_call',
        params: [{ to, data, gas: toQuantity(balanceGas) }, parameterOf(height)]
      }))
    )
    return outcomes.map(readCallOutcome)
  }

  const readAt = (to: Address, data: Hex, heights: readonly number[]) =>
    readAlone(heights.map(height => ({ to, data, height })))

  /** What failed among others is asked for alone: then the node says whether it was the contract. */
  async function askAgain(
    tokens: readonly TokenName[],
    balances: readonly TokenBalance[],
    height: number
  ): Promise<readonly TokenBalance[]> {
    const known = [...balances]
    const open = tokens.flatMap((token, place) =>
      known[place]?.kind === 'unknown' ? [{ place, ...balanceCall(token, address), height }] : []
    )
    for (let at = 0; at < open.length && Date.now() < deadlineMs - reserveMs; at += aloneAtOnce) {
      const part = open.slice(at, at + aloneAtOnce)
      for (const [i, balance] of (await readAlone(part)).entries()) known[part[i]?.place ?? -1] = balance
    }
    return known
  }

  /** Pins a block by its height: such reads do not name the block, so its hash is kept with them. */
  async function blockAt(height: number): Promise<PinnedBlock | undefined> {
    if (height === pinned.number) return pinned
    const block = await node.request({ method: 'eth_getBlockByNumber', params: [toQuantity(height), false] })
    const hash = hashOfBlock(block)
    if (hash === undefined) return undefined
    return { number: height, hash, timestampSeconds: 0, parameter: toQuantity(height) as Hex, byHash: false }
  }

  const [now] = await accounts([pinned.number])
  // A reorg has passed between two reads, more often than a node lies; a retry shows which of the two it is.
  if (now === undefined || now.balance !== parts.nativeWei) throw new BlockLostError(pinned)
  return {
    now,
    accounts,
    async balances(tokens, height) {
      const block = await blockAt(height)
      if (block === undefined) return tokens.map(() => ({ kind: 'unknown' }))
      const multicall = createMulticall({ node, block, deadlineMs })
      const balances = await multicall.callAll(tokens, token => balanceCall(token, address), readCallResult)
      return await askAgain(tokens, balances, height)
    },
    balanceAt: (token, heights) => readAt(token.contract, balanceCall(token, address).data, heights),
    supplyAt: (contract, heights) => readAt(contract, encodeCall('0x18160ddd'), heights),
    async operations(from) {
      const timeoutMs = deadlineMs - reserveMs - Date.now()
      if (timeoutMs <= 0) return undefined
      const range = { from, to: pinned.number }
      // Whatever the node refuses, it is the logs that are not known.
      return findOperations(node, address, range, AbortSignal.timeout(timeoutMs)).catch(() => undefined)
    },
    hashAt: async height => (await blockAt(height))?.hash,
    block: readBlock
  }
}

/** A node that errs does not have the state. */
function readAccount([count, balance, code]: readonly NodeOutcome[]): AccountAt | undefined {
  const [nonce, wei, bytes] = [quantityIn(count), quantityIn(balance), hexIn(code)]
  if (nonce === undefined || wei === undefined || bytes === undefined) return undefined
  return { nonce, balance: wei, code: codeKind(bytes) }
}

/** EIP-7702: `0xef0100` and an address. */
function codeKind(code: string): AccountAt['code'] {
  if (code === '0x') return 'none'
  return /^0xef0100[0-9a-f]{40}$/.test(code) ? 'delegation' : 'contract'
}

function hexIn(outcome: NodeOutcome | undefined): string | undefined {
  if (!outcome?.ok || typeof outcome.value !== 'string') return undefined
  return /^0x[0-9a-f]*$/i.test(outcome.value) ? outcome.value.toLowerCase() : undefined
}

/** ERC-20 and ERC-721 have `balanceOf(address)` in common. */
function balanceCall({ standard, contract, tokenId = 0n }: TokenName, owner: Address): ContractCall {
  return standard === 'erc1155'
    ? wordCall(contract, encodeCall('0x00fdd58e', owner, tokenId))
    : wordCall(contract, encodeCall('0x70a08231', owner))
}

function readCallResult(result: CallResult): TokenBalance {
  if (result.kind === 'failed') return { kind: 'unknown' }
  if (result.kind === 'reverted' || result.data === '') return { kind: 'refused' }
  const amount = decodeUint(result.data)
  // Bytes that are no number are an answer of the contract, and no balance.
  return amount === undefined ? { kind: 'refused' } : { kind: 'read', amount }
}

function readCallOutcome(outcome: NodeOutcome): TokenBalance {
  if (outcome.ok) {
    const data = readReturnData(outcome.value)
    return data === undefined ? { kind: 'unknown' } : readCallResult({ kind: 'returned', data })
  }
  const { error } = outcome
  // What a node says of a call that fails is its own; that it lacks the state, it says in words that are known.
  const isRefusal = error instanceof NodeRpcError && messageKindOf(error) === undefined
  return isRefusal ? { kind: 'refused' } : { kind: 'unknown' }
}
