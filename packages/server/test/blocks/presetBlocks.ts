import {
  address,
  erc20Transfer,
  quantity,
  type Raw,
  type RawBlock,
  type RawParts,
  rawBlock,
  referenceBloom
} from './rawBlock.ts'
import { stateSyncBlock, systemBlock } from './waivedBlocks.ts'

/** A block as chains with a preset make it. */
export interface PresetBlock {
  readonly name: string
  readonly chainIds: readonly number[]
  readonly build: (number: number) => RawBlock
  /** Places of its transactions in the history of `account`. */
  readonly kept: readonly number[]
  /** The same block with a fault that no preset excuses. */
  readonly spoilt: Readonly<Record<string, (number: number) => RawBlock>>
  /** Last block that may be so; absent: no end is known. */
  readonly last?: number
}

/** The receiver of every transfer in the blocks. */
export const account = address(700)
const zero = `0x${'0'.repeat(512)}`
const emptyRoot = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'
const transfer = (from: number, parts: RawParts = {}): RawParts => ({
  ...parts,
  logs: [erc20Transfer(address(500), address(from), account)]
})

/** Changes the receipts of a block. */
const receiptsOf =
  (build: (number: number) => RawBlock, change: (receipt: Raw, place: number) => Raw) =>
  (number: number): RawBlock => {
    const { block, receipts } = build(number)
    return { block, receipts: receipts.map(change) }
  }

/** Changes one transaction of a block and its receipt. */
const partOf =
  (build: (number: number) => RawBlock, place: number, transaction: Raw, receipt: Raw = {}) =>
  (number: number): RawBlock => {
    const { block, receipts } = build(number)
    const changed = { ...block.transactions[place], ...transaction }
    return {
      block: { ...block, transactions: block.transactions.with(place, changed) },
      receipts: receipts.with(place, { ...receipts[place], ...receipt })
    }
  }

const withoutLogs = (build: (number: number) => RawBlock, place: number) =>
  receiptsOf(build, (receipt, i) => (i === place ? { ...receipt, logs: [], logsBloom: zero } : receipt))
const otherReceiver = (build: (number: number) => RawBlock) =>
  receiptsOf(build, receipt => ({ ...receipt, to: address(998) }))

/** A transaction that looks like a state sync and has a hash of its own. */
function likeStateSync(number: number): RawBlock {
  const { block, receipts } = bor(number)
  const other = rawBlock(number, [{}, {}, {}])
  const { hash } = other.block.transactions[2] ?? {}
  const [first = {}, second = {}] = receipts
  const logs = (second.logs as Raw[]).map(log => ({ ...log, transactionHash: hash }))
  return {
    block: { ...block, transactions: block.transactions.with(1, { ...block.transactions[1], hash }) },
    receipts: [first, { ...second, transactionHash: hash, logs }]
  }
}

const bor = (number: number) => stateSyncBlock(number, [transfer(1)])
const hyper = (number: number) => systemBlock(number, [transfer(1)])
const ethermint = (number: number) =>
  rawBlock(number, [transfer(1), transfer(2)], { receiptsRoot: emptyRoot })
/** As Cronos had it: a transaction without room, a reverted one whose logs are counted, and gas of both. */
function cronos(number: number): RawBlock {
  const whole = rawBlock(number, [transfer(1), {}, { receipt: { status: '0x0' } }, transfer(2)], {
    receiptsRoot: emptyRoot,
    logsBloom: referenceBloom([
      erc20Transfer(address(500), address(1), account),
      erc20Transfer(address(500), address(2), account),
      erc20Transfer(address(501), address(3), account)
    ])
  })
  const receipts = whole.receipts.toSpliced(1, 1).map((receipt, place) => {
    const logs = (receipt.logs as Raw[]).map(log => ({ ...log, logIndex: quantity(place * 4) }))
    return { ...receipt, logs }
  })
  return { block: whole.block, receipts }
}
/** As in block 2,689,327 of Cronos: the receipt of a creation names the block's hash, and another height and parties. */
function cronosStrange(number: number): RawBlock {
  const { block, receipts } = rawBlock(number, [transfer(1), { transaction: { from: account, to: null } }], {
    receiptsRoot: emptyRoot
  })
  const [first = {}, second = {}] = receipts
  const other = { blockNumber: quantity(number - 1), from: address(8), to: address(9), status: '0x0' }
  return { block, receipts: [first, { ...second, ...other }] }
}
const cronosGas = (number: number) =>
  rawBlock(number, [transfer(1, { receipt: { cumulativeGasUsed: '0xffff' } }), transfer(2)], {
    receiptsRoot: emptyRoot
  })
/** A transaction that was tried again, with a receipt of each time; the other one is repeated under a wrong index. */
function hedera(number: number): RawBlock {
  const { block, receipts } = rawBlock(number, [transfer(1), {}])
  const gas = '0xffff'
  const whole = receipts.map(receipt => ({ ...receipt, cumulativeGasUsed: gas }))
  const [first = {}, second = {}] = whole
  return {
    block: { ...block, transactions: [...block.transactions] },
    receipts: [first, second, { ...second, transactionIndex: '0x9' }]
  }
}
const stable = (number: number) =>
  receiptsOf(
    n => rawBlock(n, [transfer(1), transfer(2)]),
    receipt => ({ ...receipt, logs: (receipt.logs as Raw[]).map(log => ({ ...log, logIndex: '0x0' })) })
  )(number)
const zkSync = receiptsOf(
  number => rawBlock(number, [transfer(1), transfer(2)]),
  receipt => ({ ...receipt, cumulativeGasUsed: '0x0', logsBloom: zero })
)
/** The receipt of the block names the block where others name a transaction. */
function celo(number: number): RawBlock {
  const { block, receipts } = rawBlock(number, [transfer(1), transfer(2)])
  const [first = {}, second = {}] = receipts
  const logs = (second.logs as Raw[]).map(log => ({ ...log, transactionHash: block.hash }))
  return {
    block: { ...block, transactions: block.transactions.slice(0, 1) },
    receipts: [first, { ...second, transactionHash: block.hash, logs }]
  }
}

export const presetBlocks: readonly PresetBlock[] = [
  {
    name: 'a state sync after other transactions',
    chainIds: [137],
    build: bor,
    kept: [1, 0],
    spoilt: {
      'a transaction that only looks like it': likeStateSync,
      'another transaction without its log': withoutLogs(bor, 0),
      'another transaction with other gas': partOf(bor, 0, {}, { cumulativeGasUsed: '0x0' }),
      'the state sync without its log': receiptsOf(bor, (receipt, place) =>
        place === 1 ? { ...receipt, logs: [] } : receipt
      )
    },
    last: 80_084_799
  },
  {
    name: 'a state sync alone',
    chainIds: [80_002],
    build: number => stateSyncBlock(number, []),
    kept: [0],
    spoilt: {
      'a root that says there is another transaction': number => {
        const { block, receipts } = stateSyncBlock(number, [])
        return {
          block: { ...block, transactionsRoot: rawBlock(number, [{}]).block.transactionsRoot },
          receipts
        }
      }
    },
    last: 28_899_615
  },
  {
    name: 'a state sync',
    chainIds: [109],
    build: bor,
    kept: [1, 0],
    spoilt: { 'a transaction that only looks like it': likeStateSync }
  },
  {
    name: 'system transactions before the others',
    chainIds: [999, 998],
    build: hyper,
    kept: [2],
    spoilt: {
      'one that offers a gas price': partOf(hyper, 1, { gasPrice: '0x64' }),
      'one that counts gas': partOf(hyper, 1, {}, { cumulativeGasUsed: '0x5208' }),
      'another transaction without its log': withoutLogs(hyper, 2)
    }
  },
  {
    name: 'headers of Ethermint',
    chainIds: [338, 2_222, 7_000],
    build: ethermint,
    kept: [1, 0],
    spoilt: {
      'a missing receipt': number => ({ ...ethermint(number), receipts: ethermint(number).receipts.slice(1) })
    }
  },
  {
    name: 'a transaction without room, and logs of a reverted one',
    chainIds: [25],
    build: cronos,
    kept: [3, 0],
    spoilt: { 'a receipt with another receiver': otherReceiver(cronos) },
    last: 19_999_999
  },
  {
    name: 'a receipt of another height and other parties',
    chainIds: [25],
    build: cronosStrange,
    kept: [1, 0],
    spoilt: {
      'a transaction of another height': partOf(cronosStrange, 1, { blockNumber: '0x9' })
    },
    last: 19_999_999
  },
  {
    name: 'gas of others',
    chainIds: [25],
    build: cronosGas,
    kept: [1, 0],
    spoilt: { 'a receipt with another receiver': otherReceiver(cronosGas) },
    last: 19_999_999
  },
  {
    name: 'receipts of each time that a transaction was tried',
    chainIds: [295],
    build: hedera,
    kept: [0],
    spoilt: { 'a transaction without its log': withoutLogs(hedera, 0) }
  },
  {
    name: 'log indexes that begin anew',
    chainIds: [988, 2_201],
    build: stable,
    kept: [1, 0],
    spoilt: { 'a transaction without its log': withoutLogs(stable, 0) }
  },
  {
    name: 'receipts without bloom and cumulative gas',
    chainIds: [324, 2_741],
    build: zkSync,
    kept: [1, 0],
    spoilt: { 'a transaction without its log': withoutLogs(zkSync, 0) }
  },
  {
    name: 'a receipt of the block itself',
    chainIds: [42_220],
    build: celo,
    kept: [0],
    spoilt: { 'a transaction without its log': withoutLogs(celo, 0) },
    last: 31_056_499
  }
]
