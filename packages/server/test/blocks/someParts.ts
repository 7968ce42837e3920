import { address, erc20Transfer, type RawParts, transactionHash } from './rawBlock.ts'
import { setCodeTuples } from './setCodeTuples.ts'

/** Plain, creating, failed and legacy transactions, two of them with something in it that most have not. */
export const someParts: readonly RawParts[] = [
  {
    logs: [
      erc20Transfer(address(500), address(1), address(2)),
      erc20Transfer(address(501), address(1), address(2))
    ]
  },
  { transaction: { to: null, input: '0x6001' }, receipt: { contractAddress: address(13) } },
  {
    transaction: {
      type: '0x2',
      maxFeePerGas: '0x70',
      maxPriorityFeePerGas: '0x2',
      accessList: [{ address: address(3), storageKeys: [`0x${'0'.repeat(63)}1`, `0x${'a'.repeat(64)}`] }],
      input: `0xa9059cbb${'0'.repeat(24)}${'b'.repeat(40)}${'0'.repeat(61)}102`
    },
    receipt: { status: '0x0' }
  },
  { transaction: { type: '0x1', accessList: [], value: '0x0', nonce: '0x0' } }
]

/** A deposit that mints, and a transaction with authorities. */
export const partsWithEvents: readonly RawParts[] = [
  {
    transaction: { type: '0x7e', mint: '0x5', gasPrice: '0x0', sourceHash: transactionHash(1, 1) },
    receipt: { effectiveGasPrice: '0x0', depositNonce: '0x1' }
  },
  {
    transaction: {
      type: '0x4',
      maxFeePerGas: '0x70',
      maxPriorityFeePerGas: '0x2',
      chainId: '0x1',
      authorizationList: setCodeTuples
    },
    receipt: { status: '0x0' }
  }
]
