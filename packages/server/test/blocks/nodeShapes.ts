import { id } from 'ethers'
import { blockHash, quantity, type Raw, type RawBlock } from './rawBlock.ts'

/** How one node writes blocks: which members, in which order, and what it says besides. */
export interface NodeShape {
  readonly name: string
  write(raw: RawBlock): { readonly block: Raw; readonly receipts: readonly Raw[] }
}

const zeroHash = `0x${'0'.repeat(64)}`

/** The members named, in this order, then all others. */
function inOrder(names: string, raw: Raw): Raw {
  const order = names.split(' ')
  const known = order.filter(name => name in raw).map(name => [name, raw[name]])
  return Object.fromEntries([...known, ...Object.entries(raw).filter(([name]) => !order.includes(name))])
}

const signature = { r: id('r'), s: id('s'), v: '0x1', yParity: '0x1', chainId: '0x1' }
const header = {
  sha3Uncles: id('uncles'),
  miner: `0x${'1'.repeat(40)}`,
  stateRoot: id('state'),
  difficulty: '0x0',
  gasLimit: '0x1c9c380',
  gasUsed: '0x5208',
  extraData: '0x6265617665726275696c642e6f7267',
  mixHash: zeroHash,
  nonce: '0x0000000000000000',
  baseFeePerGas: '0x7',
  size: '0x400',
  withdrawals: [{ index: '0x1', validatorIndex: '0x2', address: `0x${'2'.repeat(40)}`, amount: '0x3' }],
  withdrawalsRoot: id('withdrawals'),
  blobGasUsed: '0x0',
  excessBlobGas: '0x0',
  parentBeaconBlockRoot: id('beacon')
}

function shaped(
  { block, receipts }: RawBlock,
  orders: {
    readonly block: string
    readonly transaction: string
    readonly receipt: string
    readonly log: string
  },
  besides: {
    readonly block?: Raw
    readonly transaction?: Raw
    readonly receipt?: Raw
    readonly log?: Raw
  } = {}
) {
  const transactions = block.transactions.map(transaction =>
    inOrder(orders.transaction, { ...signature, ...transaction, ...besides.transaction })
  )
  const written = receipts.map((receipt, place) => {
    const { from, to, type } = block.transactions[place] ?? {}
    const logs = (receipt.logs as Raw[]).map(log =>
      inOrder(orders.log, { ...log, removed: false, ...besides.log })
    )
    return inOrder(orders.receipt, { from, to, type, ...receipt, logs, ...besides.receipt })
  })
  return {
    block: inOrder(orders.block, { ...header, ...block, transactions, ...besides.block }),
    receipts: written
  }
}

/** The orders in which these nodes write, as their answers show. */
export const nodeShapes: readonly NodeShape[] = [
  {
    name: 'geth',
    write: raw =>
      shaped(raw, {
        block:
          'baseFeePerGas blobGasUsed difficulty excessBlobGas extraData gasLimit gasUsed hash logsBloom miner mixHash nonce number parentBeaconBlockRoot parentHash receiptsRoot sha3Uncles size stateRoot timestamp transactions transactionsRoot uncles withdrawals withdrawalsRoot',
        transaction:
          'blockHash blockNumber from gas gasPrice maxPriorityFeePerGas maxFeePerGas hash input nonce to transactionIndex value type accessList chainId v r s yParity',
        receipt:
          'blockHash blockNumber contractAddress cumulativeGasUsed effectiveGasPrice from gasUsed logs logsBloom status to transactionHash transactionIndex type',
        log: 'address topics data blockNumber transactionHash transactionIndex blockHash logIndex removed'
      })
  },
  {
    name: 'anvil, reth',
    write: raw =>
      shaped(
        raw,
        {
          block:
            'hash parentHash sha3Uncles miner stateRoot transactionsRoot receiptsRoot logsBloom difficulty number gasLimit gasUsed timestamp extraData mixHash nonce baseFeePerGas withdrawalsRoot size uncles transactions',
          transaction:
            'type chainId nonce gas maxFeePerGas maxPriorityFeePerGas to value accessList input r s yParity v hash blockHash blockNumber transactionIndex from gasPrice blockTimestamp',
          receipt:
            'type status cumulativeGasUsed logs logsBloom transactionHash transactionIndex blockHash blockNumber gasUsed effectiveGasPrice blobGasPrice from to contractAddress blockTimestamp',
          log: 'address topics data blockHash blockNumber blockTimestamp transactionHash transactionIndex logIndex removed'
        },
        {
          transaction: { blockTimestamp: '0x6553f100' },
          receipt: { blobGasPrice: '0x1', blockTimestamp: 1_700_000_000 },
          log: { blockTimestamp: '0x6553f100' }
        }
      )
  },
  {
    name: 'nethermind, erigon',
    write: raw =>
      shaped(
        raw,
        {
          block:
            'author difficulty extraData gasLimit gasUsed hash logsBloom miner mixHash nonce number parentHash receiptsRoot sha3Uncles size stateRoot totalDifficulty timestamp transactions transactionsRoot uncles',
          transaction:
            'hash nonce blockHash blockNumber transactionIndex from to value gasPrice gas input data chainId type v s r',
          receipt:
            'transactionHash transactionIndex blockHash blockNumber cumulativeGasUsed gasUsed effectiveGasPrice from to contractAddress logs logsBloom status type',
          log: 'removed logIndex transactionIndex transactionHash blockHash blockNumber address data topics'
        },
        { block: { author: `0x${'1'.repeat(40)}`, totalDifficulty: '0xc70d815d562d3cfa955' } }
      )
  },
  {
    name: 'op-geth, with fees of the parent chain',
    write: raw =>
      shaped(
        raw,
        {
          block: 'baseFeePerGas hash number parentHash timestamp transactions',
          transaction:
            'blockHash blockNumber from gas gasPrice hash input nonce to transactionIndex value type',
          receipt:
            'blockHash blockNumber contractAddress cumulativeGasUsed effectiveGasPrice from gasUsed l1BaseFeeScalar l1BlobBaseFee l1BlobBaseFeeScalar l1Fee l1GasPrice l1GasUsed logs logsBloom status to transactionHash transactionIndex type',
          log: 'address topics data blockNumber transactionHash transactionIndex blockHash logIndex removed'
        },
        {
          receipt: {
            l1BaseFeeScalar: '0x8dd',
            l1BlobBaseFee: '0x1',
            l1BlobBaseFeeScalar: '0x101c12',
            l1Fee: '0x2a8b4c9f1d',
            l1GasPrice: '0x1f3a',
            l1GasUsed: '0x640',
            blobGasUsed: '0x20000'
          }
        }
      )
  },
  {
    name: 'arbitrum, bsc: other members besides',
    write: raw =>
      shaped(
        raw,
        {
          block: 'hash number transactions',
          transaction: 'blockHash hash',
          receipt: 'transactionHash logs',
          log: 'topics address'
        },
        {
          block: {
            l1BlockNumber: '0x1',
            sendCount: '0x2',
            sendRoot: id('send'),
            milliTimestamp: '0x18bcfe56800'
          },
          transaction: { authorizationList: [{ chainId: '0x1', address: blockHash(1), nonce: quantity(1) }] },
          receipt: { gasUsedForL1: '0x0', l1BlockNumber: '0x1', timeboosted: false, root: null }
        }
      )
  }
]
