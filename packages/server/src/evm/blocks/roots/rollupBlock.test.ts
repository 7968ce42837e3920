import { describe, expect, it } from 'vitest'
import { rootParts } from '../../../model/rootParts.ts'
import { verifyHeader, verifyReceipts } from '../verify.ts'
import { createRootChecks } from './createRootChecks.ts'

/*
 * A block of the OP stack after Canyon, with its own hashes: the deposit that sets what is known of L1, and its receipt,
 * which commits to the nonce of the deposit.
 */

const noBloom = `0x${'0'.repeat(512)}`
const hash = '0xfc70e073ec6e1bb7f387698e4be418d7b1ff2216f625cdf41e1b80fb08029ef5'
const transactionHash = '0x13a644af4f64ce801dcd57faa823e8952f2290b810fdd31995dda62977ed3df1'
const place = { blockHash: hash, blockNumber: '0x112', transactionIndex: '0x0' }
const emptyRoot = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'
const word = (hex: string) => hex.padStart(64, '0')

const deposit = {
  ...{ ...place, hash: transactionHash, type: '0x7e', gasPrice: '0x0', nonce: '0x111' },
  from: '0xdeaddeaddeaddeaddeaddeaddeaddeaddead0001',
  to: '0x4200000000000000000000000000000000000015',
  ...{ gas: '0xf4240', value: '0x0', mint: '0x0', v: '0x0', r: '0x0', s: '0x0' },
  input: [
    ...['0x015d8eb9', word('1267f33'), word('65da6073'), word('75d3f8610')],
    '97c24796a4f639846a6a3ea3a59c11de8d89e11f551bae8feca9271a78926d42',
    ...[word('4'), word('415c8893d514f9bc5211d36eeda4183226b84aa7'), word('bc'), word('a6fe0')]
  ].join(''),
  sourceHash: '0x5a1b66228a26547e2ce6fe1aa734d2c34e062e42ccd5710463e6987890f1ad5d'
}

const block = {
  ...{ hash, number: '0x112', difficulty: '0x0', extraData: '0x', gasLimit: '0x1c9c380', gasUsed: '0xb76d' },
  ...{
    baseFeePerGas: '0x1418f329',
    timestamp: '0x65da607b',
    nonce: '0x0000000000000000',
    logsBloom: noBloom
  },
  parentHash: '0xcfbc479d5f63476538db9ff15295167a6e91ecc9d6cf54be471eded689c251c9',
  sha3Uncles: '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347',
  miner: '0x4200000000000000000000000000000000000011',
  stateRoot: '0x86be45fb7a22b8c12cbce8d538372b800377cc589de590b6d88f5f65dde97df8',
  transactionsRoot: '0xb01a2ad2c1ceb76f2edcdc02f2e0453c52e24c421fb04132cdfc0da5b70a593e',
  receiptsRoot: '0x8c303881b3e408cc739f55ef3e5133075d552cbec9ee987aff6b71f58cf291ee',
  withdrawalsRoot: emptyRoot,
  mixHash: '0x8bc8a48326d9309959f2452206c1c842be9fcc9840c789845caab9d290a9700c',
  ...{ transactions: [deposit], uncles: [], withdrawals: [] as object[] }
}

const receipt = {
  ...{ ...place, transactionHash, type: '0x7e', status: '0x1', logs: [], logsBloom: noBloom },
  ...{ gasUsed: '0xb76d', cumulativeGasUsed: '0xb76d', effectiveGasPrice: '0x0' },
  ...{ depositNonce: '0x111', depositReceiptVersion: '0x1' }
}

async function verify(
  changed: Partial<typeof block>,
  ofReceipt: Partial<typeof receipt> = {}
): Promise<void> {
  const checks = await createRootChecks({ parts: rootParts })
  const header = verifyHeader({ ...block, ...changed }, 0x112)
  checks.header(header)
  checks.receipts(verifyReceipts(header, [{ ...receipt, ...ofReceipt }]))
}

describe('a block of a rollup', () => {
  it('agrees with its header: deposits are not signed, and their receipts commit to their nonce', async () => {
    await expect(verify({})).resolves.toBeUndefined()
  })

  it('is refused with another mint, sender or nonce of a deposit, or a withdrawal', async () => {
    await expect(verify({ transactions: [{ ...deposit, mint: '0x1' }] })).rejects.toThrow(
      'hash of its fields'
    )
    const from = '0xdeaddeaddeaddeaddeaddeaddeaddeaddead0002'
    await expect(verify({ transactions: [{ ...deposit, from }] })).rejects.toThrow('hash of its fields')
    await expect(verify({}, { depositNonce: '0x112' })).rejects.toThrow('receiptsRoot is')
    const withdrawal = { index: '0x1', validatorIndex: '0x1', address: from, amount: '0x1' }
    await expect(verify({ withdrawals: [withdrawal] })).rejects.toThrow('does not commit to any')
  })

  it('names a transaction type that it cannot encode', async () => {
    const transactions = [{ ...deposit, type: '0x75' }]
    await expect(verify({ transactions })).rejects.toThrow('has type 117, whose encoding is not known')
  })
})
