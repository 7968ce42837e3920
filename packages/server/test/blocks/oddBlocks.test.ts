import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { feeToken, oddBlocks } from './oddBlocks.ts'
import { address, type Raw, type RawBlock, rawBlock } from './rawBlock.ts'
import { type BlockService, startBlockService } from './startBlockService.ts'

const raw = oddBlocks.map(({ parts, header }, place) => rawBlock(place + 1, [parts], header))
const rows = oddBlocks.map((odd, place) => ({ ...odd, number: place + 1 }))
let service: BlockService

beforeAll(async () => {
  service = await startBlockService(raw)
  await service.indexed(raw.length)
})
afterAll(() => service.close())

/** What a plain transfer becomes, with the differences of this one. */
function expected(number: number, { block }: RawBlock, is: Raw): Raw {
  const all = {
    hash: block.transactions[0]?.hash,
    from: address(number),
    to: address(999),
    value: '0x5',
    data: '0x',
    gasLimit: 21_000,
    nonce: 7,
    type: 0,
    timestamp: Number(block.timestamp),
    status: 3,
    gasSpent: '0x5208',
    gasPrice: '0x64',
    fees: '0x200b20',
    blockNumber: number,
    ...is
  }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
}

describe('a transaction of a real chain becomes on the wire', () => {
  it.each(rows)('what the table says: $name', async ({ number, is }) => {
    const wanted = expected(number, raw[number - 1]!, is)
    const records = await service.history(wanted.from as string)
    expect(records.find(({ hash }) => hash === wanted.hash)).toEqual(wanted)
  })

  it('with every digit of 64 bits', async () => {
    const place = rows.find(({ name }) => name.includes('beyond 2^53'))?.number ?? 0
    const text = await service.historyText(address(place))
    expect(text).toContain('"gasLimit":18446744073709551615,')
    expect(text).toContain('"nonce":18446744073709551615')
  })

  it('with the fee that a failed transaction has logged, for who paid and who received it', async () => {
    const number = rows.find(({ name }) => name.startsWith('Tempo'))?.number ?? 0
    const hash = raw[number - 1]?.block.transactions[0]?.hash
    for (const party of [address(14), address(15)]) {
      const found = (await service.history(party, { include: ['transfers'] })).find(
        each => each.hash === hash
      )
      expect(found).toMatchObject({
        status: 4,
        transfers: [{ standard: 'ERC-20', address: feeToken, from: address(14), to: address(15) }]
      })
    }
  })

  it('with no waiver used', () => {
    expect(service.logLines.filter(line => line.includes('waiver'))).toEqual([])
  })

  it('in the history of the receiver as well, each once', async () => {
    const hashes = (await service.history(address(999))).map(({ hash }) => hash)
    const sentThere = rows
      .filter(({ is }) => !('to' in is))
      .map(({ number }) => raw[number - 1]?.block.transactions[0]?.hash)
    expect(hashes).toEqual(sentThere.reverse())
  })
})
