import { encodeRlp, keccak256, type RlpStructuredData, toBeHex } from 'ethers'
import type { Raw } from './rawBlock.ts'
import type { WholeBlock } from './verifyWhole.ts'

const fields = [
  ...['parentHash', 'sha3Uncles', 'miner', 'stateRoot', 'transactionsRoot', 'receiptsRoot', 'logsBloom'],
  ...['difficulty', 'number', 'gasLimit', 'gasUsed', 'timestamp', 'extraData', 'mixHash', 'nonce'],
  ...[
    'baseFeePerGas',
    'withdrawalsRoot',
    'blobGasUsed',
    'excessBlobGas',
    'parentBeaconBlockRoot',
    'requestsHash'
  ]
]
const quantities = new Set([
  ...['difficulty', 'number', 'gasLimit', 'gasUsed', 'timestamp', 'baseFeePerGas'],
  ...['blobGasUsed', 'excessBlobGas']
])

/** A quantity as RLP takes it: no leading zeros, and nothing for zero. */
const minimal = (value: unknown) => (BigInt(String(value)) === 0n ? '0x' : toBeHex(BigInt(String(value))))

/**
 * Works out the root of 3 to 16 values by hand. The key of index 0 is 0x80 and that of index n is n, so the root is a branch
 * with a leaf at 8, which keeps the half byte 0, and at 0 a branch of leaves that keep nothing.
 */
function rootByHand([first = '', ...others]: readonly string[]): string {
  const leaves = branchOf(others.map((value, i) => [i + 1, ['0x20', value]]))
  const root = branchOf([
    [0, leaves],
    [8, ['0x30', first]]
  ])
  return keccak256(encodeRlp(root))
}

/** A child of fewer than 32 bytes stands in the branch itself. */
function branchOf(children: readonly (readonly [slot: number, node: RlpStructuredData[]])[]) {
  const slots: RlpStructuredData[] = Array.from({ length: 17 }, () => '0x')
  for (const [slot, node] of children) {
    const encoded = encodeRlp(node)
    slots[slot] = encoded.length < 2 + 2 * 32 ? node : keccak256(encoded)
  }
  return slots
}

/**
 * Gives a block withdrawals, the transactions root that it would have on Ethereum (anvil puts the blobs into it), and the
 * hash of its header, all by other code than the server's.
 * @param transactions - as they are signed.
 */
export function resealBlock(
  { block, receipts }: WholeBlock,
  transactions: readonly string[],
  withdrawals: readonly Raw[]
): WholeBlock {
  const encoded = withdrawals.map(({ index, validatorIndex, address, amount }) =>
    encodeRlp([minimal(index), minimal(validatorIndex), String(address), minimal(amount)])
  )
  const changed: Raw = {
    ...block,
    withdrawals,
    transactionsRoot: rootByHand(transactions),
    withdrawalsRoot: rootByHand(encoded)
  }
  const header = fields.map(name => (quantities.has(name) ? minimal(changed[name]) : String(changed[name])))
  const text = JSON.stringify({ block: changed, receipts })
  return JSON.parse(text.replaceAll(String(block.hash), keccak256(encodeRlp(header)))) as WholeBlock
}
