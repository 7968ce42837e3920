import { balanceGas, wordCall } from '../../evm/holdings/tokenStandards.ts'
import { decodeUint, encodeCall, readReturnData } from '../../evm/state/abi.ts'
import type { CallResult, ContractCall } from '../../evm/state/contractCalls.ts'
import { createMulticall } from '../../evm/state/multicall.ts'
import { BlockLostError, hashOfBlock, type PinnedBlock } from '../../evm/state/pinBlock.ts'
import { decodeAccountEvents } from '../../index/record/accountEvents.ts'
import { decodeDetailed } from '../../index/record/details.ts'
import { addressLength, type BlockRows } from '../../index/record/encodeBlock.ts'
import { toHex } from '../../index/record/hexBytes.ts'
import { firstTransactionId } from '../../index/record/transactionId.ts'
import type { AccountEvents, Address, Hash, Hex, IndexedBlock } from '../../model/evm.ts'
import type { EvmNode, NodeCall, NodeOutcome } from '../../nodes/evm/nodeCall.ts'
import { toQuantity } from '../../nodes/evm/rawFields.ts'
import { messageKindOf } from '../../nodes/upstreams/errorWords.ts'
import { NodeRpcError } from '../../platform/errors.ts'
import type { AccountAt, AccountState, TokenBalance, TokenName } from './AccountState.ts'

interface AccountStateParts {
  readonly node: EvmNode
  readonly pinned: PinnedBlock
  readonly address: Address
  /** Read while the block was pinned. */
  readonly nativeWei: bigint
  readonly deadlineMs: number
  readBlock(height: number): Promise<IndexedBlock | undefined>
}

type BlockParameter = PinnedBlock['parameter']

/** One call by itself, after the block at a height. */
interface LoneRead extends Pick<ContractCall, 'to' | 'data'> {
  readonly height: number
}

/** Each may burn all the gas of a read. */
const aloneAtOnce = 16
/** The rest of the certificate needs some time, too. */
const reserveMs = 5_000

/** @throws {BlockLostError} the node does not answer for the pinned block any more, or otherwise than a moment ago. */
export async function createAccountState(parts: AccountStateParts): Promise<AccountState> {
  const { node, pinned, address, deadlineMs, readBlock } = parts
  const parameterOf = (height: number): BlockParameter =>
    height === pinned.number ? pinned.parameter : (toQuantity(height) as Hex)

  async function accounts(heights: readonly number[]): Promise<readonly (AccountAt | undefined)[]> {
    const calls = heights.flatMap(height => accountCalls(address, parameterOf(height)))
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
    const hash = hashOfBlock(block) as Hash | undefined
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
    block: readBlock
  }
}

function accountCalls(address: Address, block: BlockParameter): readonly NodeCall[] {
  return ['eth_getTransactionCount', 'eth_getBalance', 'eth_getCode'].map(method => ({
    method,
    params: [address, block]
  }))
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

function quantityIn(outcome: NodeOutcome | undefined): bigint | undefined {
  const text = hexIn(outcome)
  return text !== undefined && text.length > 2 && text.length <= 66 ? BigInt(text) : undefined
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

/** A block in the form in which it is stored, as values again. Its candidates are left out. */
export function toIndexedBlock(rows: BlockRows): IndexedBlock {
  const { ref, parentHash, timestampSeconds, indexes, records, partyEnds, parties, isTraced } = rows
  const first = firstTransactionId(ref.number)
  const ids = Array.from(indexes, index => first + index)
  const transactions = decodeDetailed({ ids, bytes: records }).map(({ transaction, details }, place) => ({
    transaction,
    ...details,
    parties: addressesIn(parties, partyEnds[place - 1] ?? 0, partyEnds[place] ?? 0),
    candidates: []
  }))
  return { ref, parentHash, timestampSeconds, transactions, isTraced, events: eventsIn(rows) }
}

function eventsIn({ eventAddresses, events, eventEnds }: BlockRows): readonly AccountEvents[] {
  return Array.from(eventEnds, (end, place) => {
    const [address = '0x'] = addressesIn(eventAddresses, place, place + 1)
    return { address, events: decodeAccountEvents(events.subarray(eventEnds[place - 1] ?? 0, end)) }
  })
}

function addressesIn(bytes: Uint8Array, from: number, to: number): readonly Address[] {
  return Array.from({ length: to - from }, (_, place) => {
    const start = (from + place) * addressLength
    return toHex(bytes.subarray(start, start + addressLength))
  })
}
