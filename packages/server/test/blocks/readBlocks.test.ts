import { createHash } from 'node:crypto'
import { seedEvmWorld, startAnvil } from '@chain-data/devnet'
import { accountEventsIn } from '@chain-data/index/record'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nodeShapes } from './nodeShapes.ts'
import { oddBlocks } from './oddBlocks.ts'
import { changesOf } from './oddMembers.ts'
import { mutation, randomBlocks } from './randomBlocks.ts'
import { address, erc20Transfer, type Raw, type RawParts, rawBlock } from './rawBlock.ts'
import { type BlockBytes, bytesOf, readBlock, rowsOf } from './readBlock.ts'
import { setCodeTuples } from './setCodeTuples.ts'
import { partsWithEvents, someParts } from './someParts.ts'
import { waivedBlocks } from './waivedBlocks.ts'

const seed = Number(process.env.CHAIN_DATA_TEST_SEED ?? 1)

/** The rows of a block as one line of a golden file; `refused` where it is no block. */
function digest(bytes: BlockBytes): string {
  const rows = readBlock(bytes)
  return rows === undefined ? 'refused' : digestOf(rows)
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32)
}

/** One block each; `-u` writes the file anew, for who means to change what is stored. */
async function expectGolden(name: string, lines: readonly (readonly [string, string])[]): Promise<void> {
  const text = lines.map(([what, value]) => `${value}  ${what}\n`).join('')
  await expect(text).toMatchFileSnapshot(`golden/${name}.txt`)
}

describe('the rows of a block are to the byte what they were', () => {
  it('as these nodes write it', async () => {
    const lines = nodeShapes.flatMap(({ name, write }) =>
      [someParts, [...someParts].reverse(), partsWithEvents].map((parts, place) => {
        const { block, receipts } = write(rawBlock(16, parts, { miner: address(7), baseFeePerGas: '0x7' }))
        return [`${name}, ${place}`, digest(bytesOf(16, block, receipts))] as const
      })
    )
    await expectGolden('nodes', lines)
  })

  it('in the odd shapes of real chains, some of which need waivers', async () => {
    const odd = oddBlocks.map(({ name, parts, header }, place) => {
      const { block, receipts } = rawBlock(place + 1, [parts], header)
      return [name, digest(bytesOf(place + 1, block, receipts))] as const
    })
    const waived = waivedBlocks.flatMap(({ name, needs, build }) => {
      const { block, receipts } = build(16)
      const bytes = bytesOf(16, block, receipts)
      const lenient = readBlock(bytes, { passes: check => needs.includes(check) })
      return [
        [`${name}, no waiver`, digest(bytes)],
        [`${name}, waived`, lenient === undefined ? 'refused' : digestOf(lenient)]
      ] as const
    })
    await expectGolden('oddBlocks', [...odd, ...waived])
  })

  it('when it is large', async () => {
    const parts = Array.from(
      { length: 400 },
      (_, i): RawParts => ({
        transaction: { input: `0x${'a'.repeat(400)}` },
        logs: Array.from({ length: 4 }, (_, place) =>
          erc20Transfer(address(500 + place), address(10 * i + 1), address(10 * i + 2))
        )
      })
    )
    const { block, receipts } = rawBlock(16, parts)
    await expectGolden('large', [['1,600 transfers', digest(bytesOf(16, block, receipts))]])
  })

  /** Each member of an object in turn, with the digest of what all its changes become. */
  const changed = (
    what: string,
    whole: string,
    owner: Raw,
    read: (text: string) => string,
    names: readonly string[] = Object.keys(owner)
  ) =>
    names.map(name => {
      const found = changesOf(whole, owner, name).map(read)
      const refused = found.filter(each => each === 'refused').length
      return [`${what}.${name}, ${refused} of ${found.length} refused`, digestOf(found.join())] as const
    })

  it.each(nodeShapes.filter(({ name }) => /geth/.test(name)))(
    'whatever stands in one of its members, as written by $name',
    async ({ name, write }) => {
      const { block, receipts } = write(rawBlock(16, someParts))
      const [blockText, receiptsText] = [block, receipts].map(part => JSON.stringify(part)) as [
        string,
        string
      ]
      const { transactions, ...header } = block
      const [, creation = {}, failed = {}] = transactions as Raw[]
      const [first = {}, second = {}] = receipts
      const [log = {}] = first.logs as Raw[]
      const bytes = (blockPart: string, receiptsPart: string) =>
        digest({ number: 16, block: Buffer.from(blockPart), receipts: Buffer.from(receiptsPart) })
      const inBlock = (text: string) => bytes(text, receiptsText)
      const inReceipts = (text: string) => bytes(blockText, text)
      await expectGolden(`members of ${name.split(',')[0]}`, [
        ...changed('block', blockText, block, inBlock, Object.keys(header)),
        ...changed('creation', blockText, creation, inBlock),
        ...changed('failed', blockText, failed, inBlock),
        ...changed('receipt 0', receiptsText, first, inReceipts),
        ...changed('receipt 1', receiptsText, second, inReceipts),
        ...changed('log', receiptsText, log, inReceipts)
      ])
    }
  )

  it('whatever stands in a member that speaks of other accounts', async () => {
    const { block, receipts } = rawBlock(16, partsWithEvents, { miner: address(7), baseFeePerGas: '0x7' })
    const text = JSON.stringify(block)
    const [deposit = {}, setCode = {}] = block.transactions
    const [tuple = {}] = setCodeTuples
    const read = (changedText: string) =>
      digest({ ...bytesOf(16, block, receipts), block: Buffer.from(changedText) })
    await expectGolden('events', [
      ...changed('deposit', text, deposit, read, ['mint']),
      ...changed('setCode', text, setCode, read, ['chainId', 'authorizationList']),
      ...changed('tuple', text, tuple, read)
    ])
  })
})

it('a block has two accounts with authorizations or a mint, and one that gets the tip', () => {
  const { block, receipts } = rawBlock(16, partsWithEvents, { miner: address(7), baseFeePerGas: '0x7' })
  const accounts = accountEventsIn(rowsOf(bytesOf(16, block, receipts)).extras)
  expect(accounts.length).toBe(3)
  expect(accounts[0]?.address).toBe(address(16))
})

describe(`random blocks (seed ${seed}, CHAIN_DATA_TEST_SEED repeats it)`, () => {
  it('with logs that are transfers, or nearly, are read', () => {
    fc.assert(
      fc.property(randomBlocks, ({ block, receipts }) => {
        expect(readBlock(bytesOf(16, block, receipts))).toBeDefined()
      }),
      { seed, numRuns: 200 }
    )
  })

  it('in whose bytes something was changed are read or refused', () => {
    const counts = { read: 0, refused: 0 }
    // Making a block costs more than reading it many times.
    const blocks = fc
      .sample(randomBlocks, { seed, numRuns: 40 })
      .map(({ block, receipts }) => bytesOf(16, block, receipts))
    const changes = fc.array(mutation, { minLength: 1, maxLength: 2 })
    fc.assert(
      fc.property(fc.constantFrom(...blocks), changes, fc.boolean(), (bytes, list, inBlock) => {
        const changed = list.reduce((text, mutate) => mutate(text), inBlock ? bytes.block : bytes.receipts)
        const rows = readBlock(inBlock ? { ...bytes, block: changed } : { ...bytes, receipts: changed })
        counts[rows === undefined ? 'refused' : 'read']++
      }),
      { seed, numRuns: 2_000 }
    )
    expect(Math.min(counts.read, counts.refused)).toBeGreaterThan(100)
  })
})

it('all blocks of an anvil on which every kind of transaction was sent are read', async () => {
  const node = await startAnvil()
  try {
    const { world } = await seedEvmWorld(node.rpcUrl, { pool: false })
    const call = async (method: string, params: readonly unknown[]) => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
      const headers = { 'content-type': 'application/json' }
      const response = await fetch(node.rpcUrl, { method: 'POST', headers, body })
      return (await response.json()) as { result: Raw & { transactions: unknown[] } }
    }
    const head = Number((await call('eth_blockNumber', [])).result)
    let count = 0
    for (let number = 1; number <= head; number++) {
      const { result: block } = await call('eth_getBlockByNumber', [`0x${number.toString(16)}`, true])
      const { result: receipts } = await call('eth_getBlockReceipts', [block.hash])
      const { transactionCount } = rowsOf(bytesOf(number, block, receipts))
      expect(transactionCount).toBe(block.transactions.length)
      count += transactionCount
    }
    expect(count).toBeGreaterThanOrEqual(world.transactions.length)
  } finally {
    await node.stop()
  }
})
