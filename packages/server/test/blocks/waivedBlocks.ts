import { concat, keccak256, toBeHex, toUtf8Bytes } from 'ethers'
import type { WaivableCheck } from '../../src/model/waivableChecks.ts'
import {
  address,
  blockHash,
  erc20Transfer,
  quantity,
  type Raw,
  type RawBlock,
  type RawParts,
  rawBlock,
  referenceBloom,
  transactionHash
} from './rawBlock.ts'

const token = address(500)
const zeroBloom = `0x${'0'.repeat(512)}`

/** One block as a real chain makes it, the waivers it needs, and what of it is left. */
export interface WaivedBlock {
  readonly name: string
  readonly needs: readonly WaivableCheck[]
  /** Checks that it breaks too where its waivers are missing. */
  readonly otherwise?: readonly WaivableCheck[]
  readonly build: (number: number) => RawBlock
  /** Places of the listed transactions that are kept. */
  readonly keeps: readonly number[]
}

const transfer = (number: number) => ({ logs: [erc20Transfer(token, address(number), address(700))] })

/** A block of Bor: the last transaction is the state sync, and the header is that of the others. */
export function stateSyncBlock(number: number, parts: readonly RawParts[]): RawBlock {
  const zero = address(0)
  const hash = keccak256(concat([toUtf8Bytes('matic-bor-receipt-'), toBeHex(number, 8), blockHash(number)]))
  const { block, receipts } = rawBlock(number, [
    ...parts,
    {
      transaction: { hash, from: zero, to: zero, value: '0x0', gas: '0x0', gasPrice: '0x0', nonce: '0x0' },
      receipt: { gasUsed: '0x0', cumulativeGasUsed: '0x0', effectiveGasPrice: '0x0', from: zero, to: zero },
      logs: [erc20Transfer(address(501), zero, address(700))]
    }
  ])
  return { block: { ...rawBlock(number, parts).block, transactions: block.transactions }, receipts }
}

/** A block of HyperEVM: the first two transactions are the system's, and the header is that of the others. */
export function systemBlock(number: number, parts: readonly RawParts[]): RawBlock {
  const system = [701, 702].map(to => ({
    transaction: { from: address(222), value: '0x0', gas: '0x30d40', gasPrice: '0x0' },
    receipt: { gasUsed: '0x0', cumulativeGasUsed: '0x0', effectiveGasPrice: '0x0' },
    logs: [erc20Transfer(address(502), address(222), address(to))]
  }))
  const { block, receipts } = rawBlock(number, [...system, ...parts])
  return {
    block: { ...rawBlock(number, parts).block, transactions: block.transactions },
    // The gas of the others is summed without the system's.
    receipts: receipts.map((receipt, i) =>
      i < system.length
        ? receipt
        : {
            ...receipt,
            cumulativeGasUsed: rawBlock(number, parts).receipts[i - system.length]?.cumulativeGasUsed
          }
    )
  }
}

const logsOf = (receipt: Raw | undefined) => (receipt?.logs ?? []) as object[]

/** One for each waiver at least, in the shape of the chain named. */
export const waivedBlocks: readonly WaivedBlock[] = [
  {
    name: 'IoTeX, Tron: no bloom although there are logs',
    needs: ['emptyBloom'],
    build(number) {
      const { block, receipts } = rawBlock(number, [transfer(number)], { logsBloom: zeroBloom })
      return { block, receipts: receipts.map(receipt => ({ ...receipt, logsBloom: zeroBloom })) }
    },
    keeps: [0]
  },
  {
    name: 'Polygon: a state sync, of which the header knows nothing',
    needs: ['stateSync'],
    build: number => stateSyncBlock(number, [transfer(number)]),
    keeps: [0, 1]
  },
  {
    name: 'Polygon: nothing but a state sync',
    needs: ['stateSync'],
    build: number => stateSyncBlock(number, []),
    keeps: [0]
  },
  {
    name: 'HyperEVM: system transactions before the others, of which the header knows nothing',
    needs: ['systemTransaction'],
    otherwise: ['logsBloom', 'cumulativeGas'],
    build: number => systemBlock(number, [transfer(number)]),
    keeps: [0, 1, 2]
  },
  {
    name: 'HyperEVM: nothing but system transactions',
    needs: ['systemTransaction'],
    otherwise: ['emptyRoot', 'logsBloom'],
    build: number => systemBlock(number, []),
    keeps: [0, 1]
  },
  {
    name: 'Cronos: a bloom with the logs of a reverted transaction',
    needs: ['logsBloom'],
    build: number =>
      rawBlock(number, [transfer(number), { receipt: { status: '0x0' } }], {
        logsBloom: referenceBloom([...transfer(number).logs, erc20Transfer(token, address(3), address(4))])
      }),
    keeps: [0, 1]
  },
  {
    name: 'IoTeX: a root over native actions, of which none is an EVM transaction',
    needs: ['emptyRoot'],
    build: number => rawBlock(number, [], { transactionsRoot: blockHash(7_777) }),
    keeps: []
  },
  {
    name: 'Ethermint: a hash that failed, then succeeded, listed and answered twice',
    needs: ['duplicateHash'],
    build(number) {
      const hash = transactionHash(number, 0)
      return rawBlock(number, [{ receipt: { status: '0x0' } }, { transaction: { hash } }, {}])
    },
    keeps: [1, 2]
  },
  {
    name: 'a hash listed once that has two receipts',
    needs: ['duplicateHash'],
    build(number) {
      const { block, receipts } = rawBlock(number, [{}, {}])
      const [first, second] = receipts
      return { block, receipts: [{ ...first, status: '0x0' }, { ...first }, { ...second }] }
    },
    keeps: [0, 1]
  },
  {
    name: 'Ethermint: a listed transaction without a receipt',
    needs: ['unknownReceipt'],
    build(number) {
      const { block, receipts } = rawBlock(number, [{}, {}])
      return { block, receipts: receipts.slice(0, 1) }
    },
    keeps: [0, 1]
  },
  {
    name: 'Ethermint: a single receipt that comes from the block where the transaction ran',
    needs: ['duplicateHash'],
    build(number) {
      const { block, receipts } = rawBlock(number, [{}, {}])
      const elsewhere = { blockHash: blockHash(number + 1), blockNumber: quantity(number + 1) }
      return {
        block,
        receipts: receipts.map((receipt, i) => (i === 1 ? { ...receipt, ...elsewhere } : receipt))
      }
    },
    keeps: [0]
  },
  {
    name: 'Celo: a receipt of the block itself, in its bloom',
    needs: ['extraReceipt'],
    build(number) {
      const whole = rawBlock(number, [transfer(number), transfer(number)])
      const [first, second] = whole.receipts
      const [listed] = whole.block.transactions
      const logs = logsOf(second).map(log => ({ ...log, transactionHash: blockHash(number) }))
      return {
        block: { ...whole.block, transactions: [listed ?? {}] },
        receipts: [first ?? {}, { ...second, transactionHash: blockHash(number), logs }]
      }
    },
    keeps: [0]
  },
  {
    name: 'receipts without a block hash',
    needs: ['receiptBlockHash'],
    build: number => rawBlock(number, [{ receipt: { blockHash: undefined } }]),
    keeps: [0]
  },
  {
    name: 'a receipt with another receiver',
    needs: ['receiptParties'],
    build: number => rawBlock(number, [{ receipt: { to: address(998) } }]),
    keeps: [0]
  },
  {
    name: 'Ethermint: places that repeat',
    needs: ['transactionIndex'],
    build: number => rawBlock(number, [{}, { transaction: { transactionIndex: '0x0' } }]),
    keeps: [0, 1]
  },
  {
    name: 'Sei: log indexes with gaps',
    needs: ['logIndex'],
    build(number) {
      const { block, receipts } = rawBlock(number, [transfer(number)])
      const logs = logsOf(receipts[0]).map(log => ({ ...log, logIndex: '0x4' }))
      return { block, receipts: [{ ...receipts[0], logs }] }
    },
    keeps: [0]
  },
  {
    name: 'zkSync Era: no cumulative gas',
    needs: ['cumulativeGas'],
    build: number => rawBlock(number, [{ receipt: { cumulativeGasUsed: '0x0' } }]),
    keeps: [0]
  }
]
