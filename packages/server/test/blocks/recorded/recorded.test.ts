import { toHex } from '@chain-data/index/record'
import { beforeAll, describe, expect, it } from 'vitest'
import type { RootChecks } from '../../../src/evm/blocks/roots/createRootChecks.ts'
import { encodeTransaction } from '../../../src/evm/blocks/roots/encodeTransaction.ts'
import { loadRecoverSender, type RecoverSender } from '../../../src/evm/blocks/roots/recoverSender.ts'
import { findType } from '../../../src/evm/blocks/roots/transactionTypes.ts'
import { verifyBlockHash } from '../../../src/evm/blocks/roots/verifyBlockHash.ts'
import type { VerifiedHeader } from '../../../src/evm/blocks/verification/verifiedBlock.ts'
import { chainPresets } from '../../../src/model/chainPresets.ts'
import { rootParts } from '../../../src/model/rootParts.ts'
import { keccak256 } from '../../../src/platform/keccak256.ts'
import type { Raw } from '../rawBlock.ts'
import { allChecks, verifyWhole, type WholeBlock } from '../verifyWhole.ts'
import arbitrumOne from './arbitrumOne.json' with { type: 'json' }
import headers from './headers.json' with { type: 'json' }
import transactions from './transactions.json' with { type: 'json' }

/*
 * Blocks, headers and transactions of public chains as their nodes answered them. The hashes and roots in them are those of the
 * chains. A chain's preset may only name parts that are shown here.
 */

let checks: RootChecks
let recover: RecoverSender

beforeAll(async () => {
  checks = await allChecks()
  recover = await loadRecoverSender()
})

describe('headers of public chains', () => {
  it.each(Object.entries<Raw>(headers))('%s: the hash follows from the header', (_, raw) => {
    const header = (given: Raw) =>
      ({ ref: { number: Number(raw.number), hash: raw.hash }, raw: given }) as VerifiedHeader
    expect(() => verifyBlockHash(header(raw))).not.toThrow()
    expect(() => verifyBlockHash(header({ ...raw, timestamp: '0x1' }))).toThrow('the hash of its header is')
  })
})

describe('transactions of public chains', () => {
  const encode = (raw: Raw) => encodeTransaction(raw, 'a transaction')
  const hashOf = (raw: Raw) => toHex(keccak256(encode(raw)?.bytes ?? new Uint8Array()))

  it.each(Object.entries<Raw>(transactions))('%s: the hash follows from the fields', (_, raw) => {
    expect(hashOf(raw)).toBe(raw.hash)
    const signed = encode(raw)?.signed
    if (signed !== undefined) expect(recover(signed)).toBe(raw.from)
    for (const name of findType(raw, 'a transaction')?.fields ?? []) {
      const { [name]: value } = raw
      if (typeof value === 'string') expect(hashOf({ ...raw, [name]: alter(value) })).not.toBe(raw.hash)
    }
  })
})

describe('whole blocks of public chains', () => {
  const { chainId, block, receipts } = arbitrumOne
  const place = { blockHash: block.hash, blockNumber: block.number }
  const whole: WholeBlock = { block, receipts: receipts.map(receipt => ({ ...receipt, ...place })) }
  const [begin, transaction, ...others] = block.transactions
  const [first, receipt, ...later] = whole.receipts

  it('Arbitrum One, block 150,000,000: all parts follow from the answers', async () => {
    expect(chainPresets.get(chainId)?.roots).toEqual(rootParts)
    expect(() => verifyWhole(whole, checks)).not.toThrow()
  })

  it.each([
    ['a value', { value: '0x1' }, {}, 'hash of its fields'],
    ['a sender', { from: begin!.from }, { from: begin!.from }, 'was signed by'],
    ['a status', {}, { status: '0x0' }, 'receiptsRoot is'],
    [
      'a price other than the base fee',
      {},
      { effectiveGasPrice: transaction!.gasPrice },
      'effectiveGasPrice is'
    ]
  ])('is refused with %s that is not its own', (_, ofTransaction, ofReceipt, message) => {
    const transactions = [begin!, { ...transaction, ...ofTransaction }, ...others]
    const altered = [first!, { ...receipt, ...ofReceipt }, ...later]
    expect(() => verifyWhole({ block: { ...block, transactions }, receipts: altered }, checks)).toThrow(
      message
    )
  })
})

/** Another value of the same form. */
function alter(hex: string): string {
  return hex === '0x' ? '0x01' : hex.replace(/.$/, digit => (digit === '1' ? '2' : '1'))
}
