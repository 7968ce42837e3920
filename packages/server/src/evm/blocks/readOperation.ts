import type { UserOperation } from '@chain-data/index'
import { addressInWord, type Log, word, wordAt, zeroAddress } from './log.ts'

/** keccak256 of `UserOperationEvent(bytes32,address,address,uint256,bool,uint256,uint256)`: ERC-4337, EntryPoint 0.6 to 0.9. */
export const userOperationTopic = '0x49628fd1471006c1482da88028e9ce4dbb080b815c9b0344d39e5a8e6ec1419f'

/**
 * Reads an ERC-4337 operation from its log: 4 topics (hash, sender, paymaster) and 128 bytes (nonce, success, cost, gas). Any
 * contract may be an EntryPoint, as any may be a token: its address is part of what is read.
 *
 * @returns absent for a log of another shape.
 * @see ERC-4337
 */
export function readOperation({ address, topics, data }: Log): UserOperation | undefined {
  const [, userOpHash, second, third] = topics
  const sender = addressInWord(second)
  const paymaster = addressInWord(third)
  if (topics.length !== 4 || data.length !== 4 * word) return undefined
  if (userOpHash === undefined || sender === undefined || paymaster === undefined) return undefined
  const success = BigInt(wordAt(data, word))
  if (success > 1n) return undefined
  return {
    entryPoint: address,
    userOpHash,
    sender,
    ...(paymaster !== zeroAddress && { paymaster }),
    nonce: BigInt(wordAt(data, 0)),
    success: success === 1n,
    actualGasCost: BigInt(wordAt(data, 2 * word))
  }
}
