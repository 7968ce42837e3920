import { toHex } from '@chain-data/index/record'
import { beforeAll, describe, expect, it } from 'vitest'
import { createRootChecks, type RootChecks } from '../../../src/evm/blocks/roots/createRootChecks.ts'
import { encodeTransaction } from '../../../src/evm/blocks/roots/encodeTransaction.ts'
import { loadRecoverSender, type RecoverSender } from '../../../src/evm/blocks/roots/recoverSender.ts'
import { findType } from '../../../src/evm/blocks/roots/transactionTypes.ts'
import { verifyBlockHash } from '../../../src/evm/blocks/roots/verifyBlockHash.ts'
import { createWaivers } from '../../../src/evm/blocks/verification/contradiction.ts'
import type { VerifiedHeader } from '../../../src/evm/blocks/verification/verifiedBlock.ts'
import { verifyHeader, verifyReceipts } from '../../../src/evm/blocks/verify.ts'
import { chainPresets } from '../../../src/model/chainPresets.ts'
import { knownExceptions } from '../../../src/model/knownExceptions.ts'
import { type RootPart, rootParts } from '../../../src/model/rootParts.ts'
import { keccak256 } from '../../../src/platform/keccak256.ts'
import type { Raw } from '../rawBlock.ts'
import { allChecks, verifyWhole, type WholeBlock } from '../verifyWhole.ts'
import arbitrumOne from './arbitrumOne.json' with { type: 'json' }
import bittensorTestnet from './bittensorTestnet.json' with { type: 'json' }
import cronos from './cronos.json' with { type: 'json' }
import headers from './headers.json' with { type: 'json' }
import hyperEvm from './hyperEvm.json' with { type: 'json' }
import stableTestnet from './stableTestnet.json' with { type: 'json' }
import tempo from './tempo.json' with { type: 'json' }
import tempoModerato from './tempoModerato.json' with { type: 'json' }
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

// The block as a whole, 564 transactions with their receipts, is too large to be recorded here. All of its parts follow.
it('the preset of Polygon names what block 50,000,000 shows', () => {
  const { roots, olderRoots } = chainPresets.get(137) ?? {}
  expect(roots).toEqual(['header', 'withdrawals', 'senders'])
  expect(olderRoots?.parts).toEqual(rootParts)
  expect(olderRoots?.toBlock).toBeGreaterThan(50_000_000)
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

describe('blocks of public chains of which the parts in their presets follow from the answers', () => {
  interface Recorded extends WholeBlock {
    readonly chain: string
    readonly chainId: number
  }
  const recorded: readonly (readonly [name: string, block: Recorded, parts: readonly RootPart[]])[] = [
    ['HyperEVM, block 50,000', hyperEvm, rootParts],
    ['Tempo, block 17,708,868', tempo, rootParts],
    ['Tempo Moderato, block 6,541', tempoModerato, rootParts],
    [
      'Stable Testnet, block 59,083,166',
      stableTestnet,
      ['transactions', 'receipts', 'withdrawals', 'senders']
    ],
    ['Bittensor Testnet, block 6,646,068', bittensorTestnet, ['transactions', 'receipts', 'senders']],
    ['Cronos, block 10,000', cronos, ['senders']]
  ]
  /** Checks parts of a block as its chain's preset has it. */
  async function check({ chainId, block, receipts }: Recorded, parts: readonly RootPart[]): Promise<void> {
    const waivers = createWaivers(knownExceptions.get(chainId) ?? [])
    const checks = await createRootChecks({ parts })
    const header = verifyHeader(block, Number(block.number), waivers)
    checks.header(header)
    checks.receipts(verifyReceipts(header, receipts, waivers))
  }

  it.each(recorded)('%s: those that the preset names', async (_, whole, parts) => {
    expect(chainPresets.get(whole.chainId)?.roots).toEqual(parts)
    await check(whole, parts)
  })

  it('are more up to the block at which the encoding changed', async () => {
    const { block, receipts } = hyperEvm
    const number = Number(block.number)
    const verify = async (toBlock: number, status: string, to?: string) => {
      const checks = await createRootChecks({ parts: ['header'], older: { toBlock, parts: rootParts } })
      const transactions = block.transactions.map(each => (to === undefined ? each : { ...each, to }))
      const header = verifyHeader({ ...block, transactions }, number)
      checks.header(header)
      checks.receipts(
        verifyReceipts(
          header,
          receipts.map(each => ({ ...each, status, to: to ?? each.to }))
        )
      )
    }
    await verify(number, '0x1')
    await expect(verify(number, '0x0')).rejects.toThrow('receiptsRoot is')
    await expect(verify(number, '0x1', withdrawal.address)).rejects.toThrow('hash of its fields')
    await verify(number - 1, '0x0', withdrawal.address)
  })

  it('Tempo: a receiver, an input and a fee that do not follow from the calls are refused', async () => {
    const { block, receipts } = tempo
    const [transaction, ...others] = block.transactions
    const ofTransaction = (altered: object): Recorded => ({
      ...tempo,
      block: { ...block, transactions: [{ ...transaction, ...altered }, ...others] }
    })
    const ofReceipt = (altered: object): Recorded => ({
      ...tempo,
      receipts: receipts.map((receipt, index) => (index === 0 ? { ...receipt, ...altered } : receipt))
    })
    const [call] = transaction?.calls ?? []
    await expect(
      check(ofTransaction({ to: call?.to, input: call?.input, value: '0x0' }), rootParts)
    ).resolves.toBe(undefined)
    for (const [altered, message] of [
      [ofTransaction({ to: withdrawal.address }), 'to is'],
      [ofTransaction({ input: '0x01' }), 'input is'],
      [ofTransaction({ data: '0x01' }), 'data is'],
      [ofTransaction({ feePayerSignature: { r: '0x1', s: '0x1', yParity: '0x0' } }), 'hash of its fields'],
      [ofReceipt({ to: withdrawal.address }), 'to is'],
      [ofReceipt({ to: null }), 'to is'],
      [ofReceipt({ effectiveGasPrice: '0x1' }), 'effectiveGasPrice is']
    ] as const) {
      await expect(check(altered, rootParts)).rejects.toThrow(message)
    }
  })

  it('Cronos: the hash of a transaction follows from its fields', async () => {
    const { block, receipts } = cronos
    const hash = `0x${'1'.repeat(64)}`
    const altered = {
      ...cronos,
      block: { ...block, transactions: block.transactions.map(each => ({ ...each, hash })) },
      receipts: receipts.map(each => ({
        ...{ ...each, transactionHash: hash },
        logs: each.logs.map(log => ({ ...log, transactionHash: hash }))
      }))
    }
    await expect(check(altered, ['senders'])).rejects.toThrow('the hash of its fields')
  })

  it('Stable: a transaction without a signature is from nobody but the chain', async () => {
    const { block } = stableTestnet
    const [system, ...others] = block.transactions
    const from = others[0]?.from
    const altered = { ...stableTestnet, block: { ...block, transactions: [{ ...system, from }, ...others] } }
    await expect(check({ ...altered, receipts: [] }, ['transactions', 'senders'])).rejects.toThrow(
      'signed by nobody'
    )
    // Where the root does not cover it, a node may have taken the signature away.
    await expect(check(stableTestnet, ['senders'])).rejects.toThrow('signed by nobody')
  })

  it.each(recorded)('%s: an altered value is refused', async (_, whole, parts) => {
    const { block, receipts } = whole
    const [transaction, ...others] = block.transactions
    const altered: Readonly<Record<RootPart, Recorded>> = {
      header: { ...whole, block: { ...block, gasLimit: '0x1' } },
      withdrawals: { ...whole, block: { ...block, withdrawals: [withdrawal] } },
      transactions: {
        ...whole,
        block: { ...block, transactions: [{ ...transaction, value: '0x1' }, ...others] }
      },
      senders: { ...whole, block: { ...block, transactions: [{ ...transaction, value: '0x1' }, ...others] } },
      receipts: { ...whole, receipts: receipts.map(receipt => ({ ...receipt, status: '0x0' })) }
    }
    for (const part of parts) await expect(check(altered[part], parts), part).rejects.toThrow()
  })
})

const withdrawal = { index: '0x1', validatorIndex: '0x1', address: `0x${'1'.repeat(40)}`, amount: '0x1' }

/** Another value of the same form. */
function alter(hex: string): string {
  return hex === '0x' ? '0x01' : hex.replace(/.$/, digit => (digit === '1' ? '2' : '1'))
}
