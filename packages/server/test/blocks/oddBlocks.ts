import { id } from 'ethers'
import { address, erc20Transfer, type Raw, type RawParts, wordOf } from './rawBlock.ts'

/** What a transaction of a real chain looks like, and what it becomes on the wire. */
export interface OddBlock {
  readonly name: string
  readonly parts: RawParts
  readonly header?: Raw
  /** Fields of the record that differ from those of a plain transfer; `undefined`: absent. */
  readonly is: Raw
}

const someone = address(12)
const created = address(13)
export const feeToken = address(16)
const zero = address(0)
const huge = 2n ** 64n - 1n

/** Hex of 64 bits in JSON is a number with every digit, which `JSON.parse` rounds. */
const rounded = Number(huge)

/** Every shape stands in a block of its own; the sender is the address with the block's number. */
export const oddBlocks: readonly OddBlock[] = [
  {
    name: 'OP deposit (0x7e): no nonce, no signature, no gas price; the receipt knows the nonce',
    parts: {
      transaction: {
        type: '0x7e',
        nonce: undefined,
        gasPrice: undefined,
        sourceHash: id('source'),
        mint: '0x5',
        isSystemTx: false
      },
      receipt: {
        effectiveGasPrice: undefined,
        depositNonce: '0x9',
        depositReceiptVersion: '0x1',
        l1Fee: '0x0'
      }
    },
    is: { type: 126, nonce: 9, gasPrice: '0x0', fees: '0x0' }
  },
  {
    name: 'OP deposit before Regolith: no nonce anywhere',
    parts: {
      transaction: { type: '0x7e', nonce: undefined, gasPrice: '0x0' },
      receipt: { effectiveGasPrice: '0x0' }
    },
    is: { type: 126, nonce: 0, gasPrice: '0x0', fees: '0x0' }
  },
  {
    name: 'OP transaction: the fee of the parent chain counts, the size of its data is no blob',
    parts: {
      transaction: { type: '0x2', maxFeePerGas: '0x64', maxPriorityFeePerGas: '0x1', accessList: [] },
      receipt: {
        l1Fee: '0x10',
        l1GasPrice: '0x3',
        l1GasUsed: '0x640',
        blobGasUsed: '0x20000',
        blobGasPrice: '0x1'
      }
    },
    is: { type: 2, maxFeePerGas: '0x64', maxPriorityFeePerGas: '0x1', accessList: [], fees: '0x200b30' }
  },
  {
    name: 'Arbitrum deposit (0x64): no nonce, no gas, no data',
    parts: {
      transaction: {
        type: '0x64',
        nonce: undefined,
        gas: '0x0',
        input: undefined,
        gasPrice: '0x0',
        requestId: id('1')
      },
      receipt: { gasUsed: '0x0', cumulativeGasUsed: '0x0', effectiveGasPrice: '0x0', l1BlockNumber: '0x1' }
    },
    is: { type: 100, nonce: 0, gasLimit: 0, gasPrice: '0x0', gasSpent: '0x0', fees: '0x0' }
  },
  {
    name: 'Arbitrum retry (0x68): gas for the parent chain is part of the gas used',
    parts: {
      transaction: { type: '0x68', maxFeePerGas: '0x64', ticketId: id('ticket'), refundTo: someone },
      receipt: { gasUsedForL1: '0x100' }
    },
    is: { type: 104, maxFeePerGas: '0x64' }
  },
  {
    name: 'Arbitrum retryable (0x69): no receiver that would be a creation',
    parts: { transaction: { type: '0x69', to: undefined, retryTo: someone, retryValue: '0x1' } },
    is: { type: 105, to: undefined }
  },
  {
    name: 'Arbitrum internal (0x6a)',
    parts: { transaction: { type: '0x6a', value: undefined, gas: '0x0', gasPrice: '0x0' } },
    is: { type: 106, value: '0x0', gasLimit: 0 }
  },
  {
    name: 'Celo with a fee currency (0x7b): its caps and price are passed on as they are',
    parts: {
      transaction: {
        type: '0x7b',
        feeCurrency: someone,
        maxFeePerGas: '0x70',
        maxPriorityFeePerGas: '0x2',
        accessList: []
      }
    },
    is: { type: 123, maxFeePerGas: '0x70', maxPriorityFeePerGas: '0x2', accessList: [] }
  },
  {
    name: 'Celo with a gateway fee (0x7c): null access list',
    parts: { transaction: { type: '0x7c', accessList: null, gatewayFee: '0x0' } },
    is: { type: 124 }
  },
  {
    name: 'zkSync Era (0x71): zero roots, l1BatchNumber, block gas in quantities with leading zeros',
    parts: { transaction: { type: '0x71', gas: '0x0000005208', l1BatchNumber: '0x1', maxFeePerGas: '0x64' } },
    header: { transactionsRoot: `0x${'0'.repeat(64)}`, receiptsRoot: `0x${'0'.repeat(64)}` },
    is: { type: 113, maxFeePerGas: '0x64' }
  },
  {
    name: 'zkSync Era priority operation (0xff)',
    parts: { transaction: { type: '0xff', maxPriorityFeePerGas: '0x0', maxFeePerGas: '0x64' } },
    is: { type: 255, maxFeePerGas: '0x64', maxPriorityFeePerGas: '0x0' }
  },
  {
    name: 'BSC system transaction: free, to a system contract',
    parts: {
      transaction: { gasPrice: '0x0', gas: '0x7fffffffffffffff', to: address(1000) },
      receipt: { effectiveGasPrice: '0x0' }
    },
    is: { gasPrice: '0x0', fees: '0x0', to: address(1000), gasLimit: Number(2n ** 63n - 1n) }
  },
  {
    name: 'Avalanche, Cronos: extra header fields and both input and data',
    parts: { transaction: { input: '0xabcd', data: '0xabcd' } },
    header: { extDataHash: id('ext'), extDataGasUsed: '0x0', blockGasCost: '0x0' },
    is: { data: '0xabcd' }
  },
  {
    name: 'data alone',
    parts: { transaction: { input: undefined, data: '0xABCD' } },
    is: { data: '0xabcd' }
  },
  {
    name: 'Tron-like: a native transaction without receiver or code, zero receipts root, padded nonce',
    parts: {
      transaction: { to: null, nonce: '0x0000000000000000', type: '0x0', input: '0x' },
      receipt: { contractAddress: null, to: null }
    },
    header: { receiptsRoot: `0x${'0'.repeat(64)}`, stateRoot: '0x' },
    is: { to: undefined, nonce: 0 }
  },
  {
    name: 'IoTeX-like: a status that is a code, no effective price, no type, an empty receiver',
    parts: {
      transaction: { to: '', type: undefined, input: '0x60' },
      receipt: { status: '0x6a', effectiveGasPrice: undefined, contractAddress: created }
    },
    is: { to: undefined, status: 4, data: '0x60' }
  },
  {
    name: 'before Byzantium: a root in place of the status, and all gas used',
    parts: { receipt: { status: undefined, root: id('root') } },
    is: {}
  },
  {
    name: 'a root beside the status',
    parts: { receipt: { status: '0x0', root: id('root') } },
    is: { status: 4 }
  },
  {
    name: 'a contract address on a plain call',
    parts: { receipt: { contractAddress: created } },
    is: {}
  },
  {
    name: 'a contract address on a failed creation',
    parts: {
      transaction: { to: null, input: '0x60' },
      receipt: { status: '0x0', contractAddress: created }
    },
    is: { to: undefined, status: 4, data: '0x60' }
  },
  {
    name: 'Tempo (0x76): the transfer of the fee, logged by a transaction that failed',
    parts: {
      transaction: { type: '0x76', feeToken },
      receipt: { status: '0x0', feeToken, feePayer: address(14) },
      logs: [erc20Transfer(feeToken, address(14), address(15))]
    },
    is: { type: 0x76, status: 4 }
  },
  {
    name: 'a creation',
    parts: { transaction: { to: null, input: '0x60' }, receipt: { contractAddress: created } },
    is: { to: undefined, data: '0x60', contractAddress: created }
  },
  {
    name: 'neither effectiveGasPrice nor contractAddress in the receipt',
    parts: { receipt: { effectiveGasPrice: undefined, contractAddress: undefined } },
    is: {}
  },
  {
    name: 'a price that follows from the caps and the base fee',
    parts: {
      transaction: { type: '0x2', gasPrice: undefined, maxFeePerGas: '0x64', maxPriorityFeePerGas: '0x2' },
      receipt: { effectiveGasPrice: undefined }
    },
    header: { baseFeePerGas: '0xa' },
    is: {
      type: 2,
      maxFeePerGas: '0x64',
      maxPriorityFeePerGas: '0x2',
      accessList: [],
      gasPrice: '0xc',
      fees: '0x3d860'
    }
  },
  {
    name: 'a protocol type without fee caps',
    parts: { transaction: { type: '0x2' } },
    is: { type: 2, accessList: [], maxFeePerGas: '0x64', maxPriorityFeePerGas: '0x64' }
  },
  {
    name: 'set code (4) without authorizationList and with a null access list',
    parts: {
      transaction: { type: '0x4', maxFeePerGas: '0x64', maxPriorityFeePerGas: '0x1', accessList: null }
    },
    is: { type: 4, accessList: [], maxFeePerGas: '0x64', maxPriorityFeePerGas: '0x1' }
  },
  {
    name: 'blobs (3)',
    parts: {
      transaction: {
        type: '0x3',
        maxFeePerGas: '0x64',
        maxPriorityFeePerGas: '0x1',
        maxFeePerBlobGas: '0x3B9ACA00',
        blobVersionedHashes: [id('b'), id('c')]
      },
      receipt: { blobGasUsed: '0x20000', blobGasPrice: '0x2' }
    },
    is: {
      ...{ type: 3, accessList: [], maxFeePerGas: '0x64', maxPriorityFeePerGas: '0x1', fees: '0x240b20' },
      ...{ maxFeePerBlobGas: '0x3b9aca00', blobVersionedHashes: [id('b'), id('c')] }
    }
  },
  {
    name: 'blob fields on a type that nobody knows',
    parts: { transaction: { type: '0x50' }, receipt: { blobGasUsed: '0x20000', blobGasPrice: '0x2' } },
    is: { type: 80, fees: '0x240b20' }
  },
  {
    name: 'an access list on a legacy transaction, and fee caps too',
    parts: { transaction: { accessList: [], maxFeePerGas: '0x64', maxPriorityFeePerGas: '0x1' } },
    is: {}
  },
  {
    name: 'type, gas and nonce as numbers, and no transaction index',
    parts: {
      transaction: { type: 1, gas: 21_000, nonce: 7, transactionIndex: undefined, accessList: [] },
      receipt: { status: 1, transactionIndex: undefined }
    },
    is: { type: 1, accessList: [] }
  },
  {
    name: 'upper-case hex, quantities of odd length, with leading zeros, and 0x for zero',
    parts: { transaction: { value: '0X0ABC', gasPrice: '0x', nonce: '0x007', input: '0XAB' } },
    is: { value: '0xabc', data: '0xab' }
  },
  {
    name: 'gas, nonce and chain id beyond 2^53',
    parts: {
      transaction: {
        gas: `0x${huge.toString(16)}`,
        nonce: `0x${huge.toString(16)}`,
        chainId: `0x${'f'.repeat(20)}`
      }
    },
    is: { gasLimit: rounded, nonce: rounded }
  },
  {
    name: 'a place in the block that leaves a gap',
    parts: { transaction: { transactionIndex: '0x7' } },
    is: {}
  },
  {
    name: 'no bloom in header and receipt, no logs member, no cumulative gas',
    parts: { receipt: { logsBloom: undefined, logs: undefined, cumulativeGasUsed: undefined } },
    header: { logsBloom: undefined },
    is: {}
  },
  {
    name: 'no sender in the transaction: the receipt has it',
    parts: { transaction: { from: undefined }, receipt: { from: someone } },
    is: { from: someone }
  },
  {
    name: 'a mint by the zero address, as system transactions write it',
    parts: {
      transaction: { from: zero },
      logs: [
        {
          address: address(500),
          topics: [id('Transfer(address,address,uint256)'), wordOf(zero), wordOf(someone)],
          data: wordOf('0x1')
        }
      ]
    },
    is: { from: zero }
  },
  {
    name: 'blobs (3) of which the node tells nothing',
    parts: {
      transaction: { type: '0x3', maxFeePerGas: '0x64', maxPriorityFeePerGas: '0x1', maxFeePerBlobGas: null }
    },
    is: { type: 3, accessList: [], maxFeePerGas: '0x64', maxPriorityFeePerGas: '0x1' }
  },
  {
    name: 'blob fields and blob gas on a type that nobody knows',
    parts: {
      transaction: { type: '0x50', maxFeePerBlobGas: '0x1', blobVersionedHashes: [] },
      receipt: { blobGasUsed: '0x20000', blobGasPrice: '0x2' }
    },
    is: { type: 80, fees: '0x240b20', maxFeePerBlobGas: '0x1', blobVersionedHashes: [] }
  },
  {
    name: 'blob fields on a protocol type that carries no blobs',
    parts: {
      transaction: { type: '0x1', accessList: [], maxFeePerBlobGas: '0x1', blobVersionedHashes: [] },
      receipt: { blobGasUsed: '0x20000', blobGasPrice: '0x2' }
    },
    is: { type: 1, accessList: [] }
  }
]
