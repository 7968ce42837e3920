import type { Address, HoldingCandidate, TokenTransfer, UserOperation } from '@chain-data/index'
import type { RawObject } from '../../nodes/evm/rawFields.ts'
import { eachOnce } from '../../platform/eachOnce.ts'
import { addressInWord, type Log, readLog, word, wordAt, zeroAddress } from './log.ts'
import { readOperation, userOperationTopic } from './readOperation.ts'

/** Token transfers and operations in the logs of one transaction, and the accounts that may hold the tokens. */
export interface LoggedEvents {
  /** Every sender and receiver of a token transfer and sender of an operation, each once, the zero address included. */
  readonly parties: readonly Address[]
  /** Each once. */
  readonly candidates: readonly HoldingCandidate[]
  /** In log order; the ids of a batch one by one. */
  readonly transfers: readonly TokenTransfer[]
  /** In log order; absent: none, as in most. */
  readonly operations?: readonly UserOperation[]
  /** Logs that carry the first topic of a transfer or an operation but not its shape. */
  readonly ignored: number
}

/** keccak256 of `Transfer(address,address,uint256)`; ERC-20 and ERC-721 share it. */
export const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
/** keccak256 of `TransferSingle(address,address,address,uint256,uint256)`, EIP-1155. */
export const transferSingleTopic = '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62'
/** keccak256 of `TransferBatch(address,address,address,uint256[],uint256[])`, EIP-1155. */
export const transferBatchTopic = '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb'
/** keccak256 of `ConsecutiveTransfer(uint256,uint256,address,address)`, EIP-2309. */
export const consecutiveTransferTopic = '0xdeaa91b6123d068f5821d0fb0678463d1a8a6079fe8af5de3ce5e896dcf9133d'
/** keccak256 of `Deposit(address,uint256)`, WETH9: native currency was wrapped. */
export const depositTopic = '0xe1fffcc4923d04b559f4d29a8bfc6cda04eb5b0d3c460751c2402c5c5cc9109c'
/** keccak256 of `Withdrawal(address,uint256)`, WETH9: native currency was unwrapped. */
export const withdrawalTopic = '0x7fcf532c15f0a6db0bd6d0e038bea71d30d808c7d98cb3bf7268a95bf5081b65'

/**
 * Reads token transfers, wrapped native currency and operations from a transaction's logs. Any contract may log anything, so a
 * log without the exact shape of its event is ignored and counted, and a list is built only after its bytes are known to exist.
 *
 * Shapes: ERC-20 has 3 topics and 32 bytes; ERC-721 4 topics and no data; the contracts before ERC-721
 * (CryptoKitties) 1 topic and 96 bytes; ERC-1155 4 topics and two numbers, or two lists of the same length; a range of
 * ERC-721 ids 4 topics and the last id, not below the first.
 *
 * Candidates: both sides of ERC-20 and ERC-1155 transfers (a sender may hold more, received before the index begins), the
 * receiver of ERC-721 tokens (the sender has given the named ones away). The zero address as sender is a mint and holds
 * nothing.
 *
 * WETH9 logs no transfer when native currency is wrapped: a `Deposit` or `Withdrawal` of its shape (2 topics and 32 bytes)
 * makes its account an ERC-20 candidate, but no party, and is listed among the transfers with `isWrapping`. Other contracts
 * have events of these names: another shape is ignored and not counted.
 *
 * @param rawLogs - a receipt's `logs`, as the node sent them.
 * @remarks Never throws. Time and memory are linear in the size of the logs.
 * @see EIP-20, EIP-721, EIP-1155, EIP-2309, ERC-4337
 */
export function readLogs(rawLogs: unknown): LoggedEvents {
  const parties: Address[] = []
  const transfers: TokenTransfer[] = []
  const candidates: HoldingCandidate[] = []
  const operations: UserOperation[] = []
  let ignored = 0
  for (const raw of Array.isArray(rawLogs) ? rawLogs : []) {
    const event = eventOf(raw)
    const log = event && readLog(raw)
    if (event === undefined || log === undefined) continue
    if (event === 'operation') {
      const operation = readOperation(log)
      if (operation === undefined) ignored++
      else {
        operations.push(operation)
        parties.push(operation.sender)
      }
      continue
    }
    const transfer = event.read(log)
    if (transfer === undefined) {
      if (!event.isWrapping) ignored++
      continue
    }
    const contract = log.address
    const { from, to, standard, tokens } = transfer
    if (event.isWrapping) {
      candidates.push({ owner: from === zeroAddress ? to : from, contract, standard })
      transfers.push({ standard, contract, from, to, ...tokens[0], isWrapping: true })
      continue
    }
    parties.push(from, to)
    if (standard !== 'erc721' && from !== zeroAddress) addCandidates(candidates, from, contract, transfer)
    addCandidates(candidates, to, contract, transfer)
    for (const token of tokens) transfers.push({ standard, contract, from, to, ...token })
  }
  return {
    ...{ parties: eachOnce(parties), candidates: candidatesOnce(candidates), transfers, ignored },
    ...(operations.length > 0 && { operations })
  }
}

function addCandidates(
  candidates: HoldingCandidate[],
  owner: Address,
  contract: Address,
  { standard, tokens }: Transfer
): void {
  for (const { tokenId, lastTokenId } of tokens) {
    if (tokenId === undefined) candidates.push({ owner, contract, standard })
    else if (lastTokenId === undefined) candidates.push({ owner, contract, standard, tokenId })
    else candidates.push({ owner, contract, standard, tokenId, lastTokenId })
  }
}

function candidatesOnce(list: readonly HoldingCandidate[]): readonly HoldingCandidate[] {
  const [first, second] = list
  if (list.length < 2 || (list.length === 2 && first?.owner !== second?.owner)) return list
  const known = new Map<string, HoldingCandidate>()
  for (const candidate of list) {
    const { owner, contract, standard, tokenId = '', lastTokenId = '' } = candidate
    known.set(`${owner}${contract}${standard}${tokenId}-${lastTokenId}`, candidate)
  }
  return [...known.values()]
}

interface Transfer {
  readonly from: Address
  readonly to: Address
  readonly standard: HoldingCandidate['standard']
  readonly tokens: readonly MovedTokens[]
}

/** Tokens of one transfer: an amount for ERC-20, an id or a range of ids for ERC-721, both for ERC-1155. */
type MovedTokens = Pick<TokenTransfer, 'amount' | 'tokenId' | 'lastTokenId'>

interface TransferEvent {
  /** Reads a log. @returns `undefined` where it does not have the shape of the event. */
  readonly read: (log: Log) => Transfer | undefined
  readonly isWrapping?: true
}

const events: ReadonlyMap<string, TransferEvent | 'operation'> = new Map<string, TransferEvent | 'operation'>(
  [
    [userOperationTopic, 'operation'],
    [transferTopic, { read: readTransfer }],
    [transferSingleTopic, { read: log => readMultiToken(log, readSingle) }],
    [transferBatchTopic, { read: log => readMultiToken(log, readBatch) }],
    [consecutiveTransferTopic, { read: readConsecutive }],
    [depositTopic, { read: log => readWrapper(log, true), isWrapping: true }],
    [withdrawalTopic, { read: log => readWrapper(log, false), isWrapping: true }]
  ]
)

/** Finds the reader of a log by its first topic; most logs are of other events. */
function eventOf(raw: unknown): TransferEvent | 'operation' | undefined {
  if (typeof raw !== 'object' || raw === null) return undefined
  const { topics } = raw as RawObject
  const first: unknown = Array.isArray(topics) ? topics[0] : undefined
  return typeof first === 'string' ? (events.get(first) ?? events.get(first.toLowerCase())) : undefined
}

/** Reads the account that wrapped or unwrapped native currency, and the amount. */
function readWrapper({ topics: [, account, third], data }: Log, isDeposit: boolean): Transfer | undefined {
  const owner = third === undefined && data.length === word ? addressInWord(account) : undefined
  if (owner === undefined) return undefined
  const tokens = [{ amount: BigInt(`0x${data}`) }]
  const parties = isDeposit ? { from: zeroAddress, to: owner } : { from: owner, to: zeroAddress }
  return { ...parties, standard: 'erc20', tokens }
}

function readTransfer({ topics, data }: Log): Transfer | undefined {
  const [, from, to, tokenId] = topics
  if (topics.length === 3 && data.length === word) {
    return between(from, to, 'erc20', [{ amount: BigInt(`0x${data}`) }])
  }
  if (topics.length === 4 && data === '' && tokenId !== undefined) {
    return between(from, to, 'erc721', [{ tokenId: BigInt(tokenId) }])
  }
  if (topics.length !== 1 || data.length !== 3 * word) return undefined
  const tokens = [{ tokenId: BigInt(wordAt(data, 2 * word)) }]
  return between(wordAt(data, 0), wordAt(data, word), 'erc721', tokens)
}

/** Reads a range of ids, both ends included; a range of one id is that id. */
function readConsecutive({ topics, data }: Log): Transfer | undefined {
  const [, first, from, to] = topics
  if (topics.length !== 4 || first === undefined || data.length !== word) return undefined
  const [tokenId, lastTokenId] = [BigInt(first), BigInt(wordAt(data, 0))]
  if (lastTokenId < tokenId) return undefined
  return between(from, to, 'erc721', [lastTokenId === tokenId ? { tokenId } : { tokenId, lastTokenId }])
}

/** Reads an ERC-1155 transfer. Its second topic is the operator, which is no party. */
function readMultiToken(
  { topics, data }: Log,
  read: (data: string) => readonly MovedTokens[] | undefined
): Transfer | undefined {
  const tokens = topics.length === 4 ? read(data) : undefined
  return tokens && between(topics[2], topics[3], 'erc1155', tokens)
}

function between(
  from: string | undefined,
  to: string | undefined,
  standard: Transfer['standard'],
  tokens: readonly MovedTokens[]
): Transfer | undefined {
  const sender = addressInWord(from)
  const receiver = addressInWord(to)
  return sender && receiver ? { from: sender, to: receiver, standard, tokens } : undefined
}

function readSingle(data: string): readonly MovedTokens[] | undefined {
  if (data.length !== 2 * word) return undefined
  return [{ tokenId: BigInt(wordAt(data, 0)), amount: BigInt(wordAt(data, word)) }]
}

/** Reads `(uint256[] ids, uint256[] values)`: both lists end inside the data and have one length. */
function readBatch(data: string): readonly MovedTokens[] | undefined {
  const ids = listAt(data, 0)
  const values = listAt(data, word)
  if (ids === undefined || values === undefined || ids.length !== values.length) return undefined
  return Array.from({ length: ids.length }, (_, i) => ({
    tokenId: BigInt(wordAt(data, ids.start + i * word)),
    amount: BigInt(wordAt(data, values.start + i * word))
  }))
}

/** Finds the list whose offset is the word at `at`; all offsets here count hex digits. */
function listAt(data: string, at: number): { readonly start: number; readonly length: number } | undefined {
  const offset = sizeAt(data, at)
  // The first two words are the offsets themselves.
  if (offset === undefined || offset < word) return undefined
  const length = sizeAt(data, offset * 2)
  if (length === undefined) return undefined
  const start = offset * 2 + word
  return length <= (data.length - start) / word ? { start, length } : undefined
}

/** Reads the word at `at` if it can be a size inside `data`. */
function sizeAt(data: string, at: number): number | undefined {
  if (at + word > data.length) return undefined
  const size = BigInt(wordAt(data, at))
  return size <= BigInt(data.length) ? Number(size) : undefined
}
