import { eventually } from '@chain-data/index/test'
import { afterEach, describe, expect, it } from 'vitest'
import { type WaivableCheck, waivableCheckNames } from '../../src/model/waivableChecks.ts'
import {
  address,
  blockHash,
  emptyRoot,
  erc20Transfer,
  quantity,
  type Raw,
  type RawBlock,
  rawBlock,
  transactionHash
} from './rawBlock.ts'
import { type BlockService, startBlockService } from './startBlockService.ts'
import { startScriptedChain } from './startScriptedChain.ts'
import { waivedBlocks } from './waivedBlocks.ts'

const receiver = address(999)
const services: BlockService[] = []

async function start(...args: Parameters<typeof startBlockService>): Promise<BlockService> {
  const service = await startBlockService(...args)
  services.push(service)
  return service
}
afterEach(async () => {
  for (const service of services.splice(0)) await service.close()
})

const waive = (...checks: WaivableCheck[]) => checks.map(check => ({ check, reason: `${check} is known` }))

interface Place {
  readonly hash: string
  readonly blockNumber: number | undefined
}

async function placesOf(service: BlockService, of: string, page?: object): Promise<Place[]> {
  return (await service.history(of, page)).map(record => ({
    hash: record.hash,
    blockNumber: 'blockNumber' in record ? record.blockNumber : undefined
  }))
}

/** One record a page, until a page is empty; fails when a page brings a record again. */
async function pageThrough(service: BlockService, of: string): Promise<Place[]> {
  const seen: Place[] = []
  for (let page = await placesOf(service, of, { limit: 1 }); page.length > 0; ) {
    const { hash = '' } = page[0] ?? {}
    expect(seen.map(record => record.hash)).not.toContain(hash)
    seen.push(...page)
    page = await placesOf(service, of, { limit: 1, before: hash })
  }
  return seen
}

describe('a chain that breaks checks', () => {
  const raw = waivedBlocks.map(({ build }, place) => build(place + 1))
  const kept = waivedBlocks.flatMap(({ keeps }, i) =>
    keeps.map(place => ({ hash: String(raw[i]?.block.transactions[place]?.hash), blockNumber: i + 1 }))
  )

  it('is indexed with its waivers, each transaction once, page by page too', async () => {
    const service = await start(raw, { waivers: waive(...waivableCheckNames) })
    await service.indexed(raw.length)
    const toReceiver = kept.filter(({ hash }) => {
      const listed = raw.flatMap(({ block }) => block.transactions).find(one => one.hash === hash)
      return listed?.to === receiver
    })
    const seen = await placesOf(service, receiver)
    expect(seen).toEqual(toReceiver.reverse())
    expect(await pageThrough(service, receiver)).toEqual(seen)
  })

  it('has each used waiver told once at info, with the reason it was given', async () => {
    const service = await start(raw, { waivers: waive(...waivableCheckNames) })
    await service.indexed(raw.length)
    const told = service.logLines
      .map(line => JSON.parse(line) as { level: number; msg: string; reason?: string })
      .filter(({ level, msg }) => level === 30 && msg.startsWith('the waiver '))
      .map(({ msg, reason }) => [msg, reason])
    const wanted = waivableCheckNames
      .filter(name => name !== 'unknownBlock')
      .map(name => [`the waiver ${name} is needed`, `${name} is known`])
    expect(told.sort()).toEqual(wanted.sort())
  })

  it('stalls without its waiver, names it, and has stored nothing of the block', async () => {
    const zeroBloom = waivedBlocks[0]
    const blocks = [rawBlock(1, [{}]), zeroBloom?.build(2) ?? rawBlock(2, []), rawBlock(3, [{}])]
    const service = await start(blocks, { waivers: waive('logsBloom'), serveWhileSyncing: true })
    await eventually('the trouble is logged', () =>
      service.logLines.some(line => line.includes('block 2') && line.includes('(waiver emptyBloom)'))
    )
    await eventually('block 1 is indexed', () => service.server.status()[0]?.indexedTo?.number === 1)
    expect(service.server.status()[0]?.indexedTo?.hash).toBe(blockHash(1))
  })
})

describe('a block that breaks several checks', () => {
  it('stalls once with all of them and the waivers that let it pass, as the log has them', async () => {
    const { block, receipts } = rawBlock(2, [{}, {}], { transactionsRoot: emptyRoot })
    const odd = { block, receipts: receipts.map(receipt => ({ ...receipt, cumulativeGasUsed: '0x0' })) }
    const blocks = [rawBlock(1, [{}]), odd, rawBlock(3, [{}])]
    const stalled = await start(blocks, { serveWhileSyncing: true })
    const read = () => stalled.logLines.map(line => JSON.parse(line)).find(line => line.suggestedWaivers)
    await eventually('the stall is logged', () => read() !== undefined)
    expect(stalled.server.status()[0]?.problem).toMatch(
      /^block 2: breaks 2 checks: emptyRoot, cumulativeGas; /
    )
    const { suggestedWaivers } = read()
    const well = await start(blocks, { waivers: suggestedWaivers })
    await well.indexed(3)
  })
})

describe('a receipt that contradicts its block', () => {
  const logs = [erc20Transfer(address(500), address(1), address(2))]
  const { block, receipts } = rawBlock(2, [{ logs }, { logs, transaction: { from: address(33) } }])
  const [first = {}, second = {}] = receipts
  const odd = { block, receipts: [first, { ...second, blockNumber: '0x1', from: address(8), status: '0x0' }] }
  const blocks = [rawBlock(1, [{ logs }]), odd, rawBlock(3, [{ logs }])]

  it('stalls the chain, and log, status and answers name the waiver that helps', async () => {
    const stalled = await start(blocks)
    const read = () => stalled.logLines.map(line => JSON.parse(line)).find(line => line.suggestedWaivers)
    await eventually('the stall is logged', () => read() !== undefined)
    const advice =
      /receipt 1 is of block 1 \(waiver unknownReceipt indexes the transaction with its receipt unknown\)/
    expect(read().problem).toMatch(advice)
    expect(stalled.server.status()[0]?.problem).toMatch(advice)
    expect(await stalled.historyText(receiver)).toMatch(advice)
    expect(read().suggestedWaivers).toMatchObject([{ check: 'unknownReceipt', fromBlock: 2, toBlock: 2 }])
  })

  it('is unknown with the waiver: its transaction stays, and the coverage names the block', async () => {
    const service = await start(blocks, { waivers: waive('unknownReceipt') })
    await service.indexed(3)
    const [record] = await service.history(address(33), { include: ['transfers', 'operations'] })
    expect(record).toEqual({
      ...{ hash: block.transactions[1]?.hash, from: address(33), to: receiver, value: '0x5', data: '0x' },
      ...{ gasLimit: 21_000, type: 0, nonce: 7, timestamp: 1_700_000_002, blockNumber: 2 }
    })
    // What another receipt of the block shows is known.
    expect(await placesOf(service, address(1))).toHaveLength(3)
    expect((await service.history(receiver)).map(({ status }) => status)).toEqual([3, undefined, 3, 3])
    expect(await pageThrough(service, receiver)).toHaveLength(4)
    const { coverage } = await service.call('svc_getTransactionsByAddress', address(77))
    expect(coverage).toBe('31337;from=0;to=3;transfers=3;operations=3;unknown="2"')
    const { text } = await service.call('svc_getSyncStatus')
    expect(JSON.parse(text).result).toMatchObject({
      ...{ ready: true, transfersFrom: 3, operationsFrom: 3, unknownBlocks: [{ from: 2, to: 2 }] },
      covers: { transfers: false, operations: false }
    })
  })

  it('stays known where another node gives it sound', async () => {
    const sound = await startScriptedChain([blocks[0]!, { block, receipts }, blocks[2]!])
    const service = await start(blocks, { waivers: waive('unknownReceipt'), otherUrls: [sound.url] })
    await service.indexed(3)
    expect((await service.history(address(33)))[0]?.status).toBe(3)
    expect((await service.call('svc_getTransactionsByAddress', address(33))).coverage).not.toContain(
      'unknown'
    )
    await sound.close()
  })
})

describe('a receipt that a block lacks', () => {
  const logs = [erc20Transfer(address(500), address(1), address(2))]
  const parts = [{ logs }, { logs, transaction: { from: address(33) } }, { logs }]
  const { block, receipts } = rawBlock(2, parts, { receiptsRoot: emptyRoot })
  const [first = {}, second = {}, third = {}] = receipts
  const odd = (...given: (Raw | null)[]) => ({ block, receipts: given as Raw[] })
  const around = (middle: RawBlock) => [rawBlock(1, [{ logs }]), middle, rawBlock(3, [{ logs }])]
  const waivers = waive('emptyRoot', 'unknownReceipt')
  const statuses = async (service: BlockService) =>
    (await service.history(receiver)).map(({ status }) => status)

  it.each([
    ['is not in the list', odd(first, third)],
    ['is null in the list', odd(first, null, third)]
  ])('and that no node has, is unknown: it %s', async (_, middle) => {
    const service = await start(around(middle), { waivers })
    await service.indexed(3)
    expect(await statuses(service)).toEqual([3, 3, undefined, 3, 3])
    expect((await service.history(address(33)))[0]).not.toHaveProperty('gasSpent')
    const { coverage } = await service.call('svc_getTransactionsByAddress', address(33))
    expect(coverage).toContain('unknown="2"')
  })

  it.each([
    ['is not in the list', odd(first, third), [second]],
    ['is null in the list', odd(first, null, third), [second]],
    ['is one of none', odd(), receipts]
  ])('but that its node has by itself, is known: it %s', async (_, middle, singleReceipts) => {
    const service = await start(around(middle), { waivers, singleReceipts })
    await service.indexed(3)
    expect(await statuses(service)).toEqual([3, 3, 3, 3, 3])
    const { coverage } = await service.call('svc_getTransactionsByAddress', address(33))
    expect(coverage).not.toContain('unknown')
  })

  it('and that is another one by itself, is unknown', async () => {
    const singleReceipts = [{ ...second, from: address(8), blockNumber: '0x9' }]
    const service = await start(around(odd(first, third)), { waivers, singleReceipts })
    await service.indexed(3)
    expect(await statuses(service)).toEqual([3, 3, undefined, 3, 3])
  })
})

describe('a hash that two consecutive blocks list', () => {
  const hash = transactionHash(2, 1)

  function listedTwice(): RawBlock[] {
    const second = rawBlock(3, [{ transaction: { hash } }, { transaction: { from: address(2) } }])
    const first = rawBlock(2, [{}, {}, {}])
    return [
      rawBlock(1, [{}]),
      { block: first.block, receipts: first.receipts.toSpliced(1, 1) },
      second,
      rawBlock(4, [{}])
    ]
  }

  it.each([true, false])(
    'is in the history once, from the block that has its receipt (block receipts: %s)',
    async blockReceipts => {
      const waivers = waive('unknownReceipt', 'duplicateHash')
      const service = await start(listedTwice(), { waivers, blockReceipts })
      await service.indexed(4)
      const seen = await pageThrough(service, receiver)
      expect(seen.filter(record => record.hash === hash)).toEqual([{ hash, blockNumber: 3 }])
      expect(seen).toHaveLength(6)
      expect((await placesOf(service, address(2))).map(({ blockNumber }) => blockNumber)).toEqual([3, 2, 2])
    }
  )

  it('is refused without the waiver', async () => {
    const service = await start(listedTwice(), { serveWhileSyncing: true })
    await eventually('the trouble is logged', () =>
      service.logLines.some(line => line.includes('(waiver unknownReceipt indexes'))
    )
    await eventually('block 1 is indexed', () => service.server.status()[0]?.indexedTo?.number === 1)
  })

  it('may be at other places, with a gap between them', async () => {
    const late = rawBlock(3, [{ transaction: { hash, transactionIndex: quantity(9) } }])
    const [one, two, , four] = listedTwice()
    const service = await start([one!, two!, late, four!], {
      waivers: waive('unknownReceipt', 'duplicateHash')
    })
    await service.indexed(4)
    expect((await pageThrough(service, receiver)).map(({ blockNumber }) => blockNumber)).toEqual([
      4, 3, 2, 2, 1
    ])
  })
})
