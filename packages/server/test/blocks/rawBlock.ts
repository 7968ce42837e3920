import { getBytes, id, keccak256 } from 'ethers'

/** JSON as a node sends it; a member that is `undefined` is not sent. */
export type Raw = Record<string, unknown>

export interface RawLog {
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
}

/** What differs from a plain transfer that succeeded. */
export interface RawParts {
  readonly transaction?: Raw
  readonly receipt?: Raw
  readonly logs?: readonly RawLog[]
}

export interface RawBlock {
  readonly block: Raw & { readonly transactions: readonly Raw[] }
  readonly receipts: readonly Raw[]
}

const gasUsed = 21_000
/** keccak256 of `Transfer(address,address,uint256)`. */
export const transferTopic = id('Transfer(address,address,uint256)')
export const blockHash = (number: number) => id(`block ${number}`)
export const transactionHash = (number: number, place: number) =>
  id(`transaction ${place} of block ${number}`)
export const quantity = (value: number | bigint) => `0x${value.toString(16)}`
export const wordOf = (hex: string) => `0x${hex.slice(2).padStart(64, '0')}`
/** An address without letters, so that its checksum form is the same. */
export const address = (number: number) => `0x${String(number).padStart(40, '0')}`

export const erc20Transfer = (token: string, from: string, to: string): RawLog => ({
  address: token,
  topics: [transferTopic, wordOf(from), wordOf(to)],
  data: wordOf('0x5')
})

/** The bloom of logs, written again from the Yellow Paper, bit by bit. */
export function referenceBloom(logs: readonly RawLog[]): string {
  let bloom = 0n
  for (const { address: emitter, topics } of logs) {
    for (const value of [emitter, ...topics]) {
      const hash = getBytes(keccak256(value))
      for (const i of [0, 2, 4]) bloom |= 1n << BigInt(((hash[i] ?? 0) * 256 + (hash[i + 1] ?? 0)) % 2048)
    }
  }
  return `0x${bloom.toString(16).padStart(512, '0')}`
}

/** A block with its receipts in which everything agrees, but for what `parts` and `header` put in its place. */
export function rawBlock(number: number, parts: readonly RawParts[], header: Raw = {}): RawBlock {
  const place = { blockHash: blockHash(number), blockNumber: quantity(number) }
  let logIndex = 0
  const transactions = parts.map(({ transaction }, i) => ({
    ...place,
    hash: transactionHash(number, i),
    transactionIndex: quantity(i),
    from: address(number),
    to: address(999),
    value: '0x5',
    input: '0x',
    gas: quantity(gasUsed),
    gasPrice: '0x64',
    nonce: '0x7',
    type: '0x0',
    ...transaction
  }))
  const receipts = parts.map(({ receipt, logs = [] }, i) => {
    const own = {
      ...place,
      transactionHash: transactions[i]?.hash,
      transactionIndex: transactions[i]?.transactionIndex
    }
    return {
      ...own,
      gasUsed: quantity(gasUsed),
      cumulativeGasUsed: quantity(gasUsed * (i + 1)),
      effectiveGasPrice: '0x64',
      status: '0x1',
      contractAddress: null,
      logsBloom: referenceBloom(logs),
      logs: logs.map(log => ({ ...log, ...own, logIndex: quantity(logIndex++) })),
      ...receipt
    }
  })
  const block = {
    number: quantity(number),
    hash: blockHash(number),
    parentHash: blockHash(number - 1),
    timestamp: quantity(1_700_000_000 + number),
    logsBloom: referenceBloom(parts.flatMap(({ logs = [] }) => logs)),
    transactionsRoot: parts.length > 0 ? id('transactions') : emptyRoot,
    receiptsRoot: parts.length > 0 ? id('receipts') : emptyRoot,
    uncles: [],
    ...header,
    transactions
  }
  return { block, receipts }
}

export const emptyRoot = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'
