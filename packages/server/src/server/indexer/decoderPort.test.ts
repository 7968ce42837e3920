import { MessageChannel } from 'node:worker_threads'
import { afterEach, describe, expect, it } from 'vitest'
import { blockHash, erc20Transfer, type RawBlock, rawBlock } from '../../../test/blocks/rawBlock.ts'
import { setCodeTuples } from '../../../test/blocks/setCodeTuples.ts'
import type { DecoderSettings } from '../../evm/blocks/createBlockDecoder.ts'
import { UpstreamError } from '../../nodes/upstreams/upstreamError.ts'
import { connectDecoder, createDecoder, type Decoder } from './decoderPort.ts'

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

/** Both ends in one thread: what travels is cloned and handed over all the same. */
function connect(decoder: Decoder = createDecoder(), settings: DecoderSettings = { waivers: [] }) {
  const { port1, port2 } = new MessageChannel()
  decoder.serve(port2)
  closing.push(() => port1.close())
  return { ...connectDecoder(port1, settings), end: () => port2.close() }
}

const noNonces = async () => undefined
const token = `0x${'7'.repeat(40)}`
const logs = [erc20Transfer(token, `0x${'1'.repeat(40)}`, `0x${'2'.repeat(40)}`)]

/** As a node answers; the ids are in the other order. */
function answerOf({ block, receipts }: RawBlock) {
  const entries = [
    { jsonrpc: '2.0', id: 8, result: receipts },
    { jsonrpc: '2.0', id: 7, result: block }
  ]
  return { number: Number(block.number), ids: [7, 8], body: [Buffer.from(JSON.stringify(entries))] }
}

describe('a decoder in another thread', () => {
  it('returns a block as it is stored, with the uses of waivers', async () => {
    const settings = { waivers: [{ check: 'emptyBloom' as const, reason: 'test' }] }
    const raw = rawBlock(5, [{ logs }, {}], { logsBloom: `0x${'0'.repeat(512)}` })
    const decoded = await connect(createDecoder(), settings).decode(answerOf(raw), noNonces)
    expect(decoded).toMatchObject({
      rows: { ref: { number: 5, hash: blockHash(5) }, transactionCount: 2 },
      ...{ ignoredLogs: 0, waived: ['emptyBloom'] }
    })
  })

  it.each<[string, Buffer]>([
    ['a block that is refused', Buffer.concat(answerOf({ ...rawBlock(5, [{}]), receipts: [] }).body)],
    ['a block that the node does not have', Buffer.from('[{"id":7,"result":null},{"id":8,"result":[]}]')],
    ['an error', Buffer.from('{"jsonrpc":"2.0","id":null,"error":{"code":-32005,"message":"limit"}}')],
    ['no JSON', Buffer.from('<html>')]
  ])('gives the answer back of %s', async (_, bytes) => {
    const text = bytes.toString()
    // A piece that has a buffer of its own, and one that shares it with others.
    const body = [Uint8Array.from(bytes.subarray(0, 3)), bytes.subarray(3)]
    const left = await connect().decode({ number: 5, ids: [7, 8], body }, noNonces)
    expect(Buffer.concat('body' in left ? left.body : []).toString()).toBe(text)
    expect(body.map(({ length }) => length)).toEqual([0, text.length - 3])
  })

  it('asks for nonces of authorities where a block has any, and meanwhile decodes others', async () => {
    const transaction = { type: '0x4', chainId: '0x1', authorizationList: setCodeTuples }
    const connection = connect()
    const asked: unknown[] = []
    const order: number[] = []
    let answerNonces = () => {}
    let begin = () => {}
    const begun = new Promise<void>(resolve => {
      begin = resolve
    })
    const first = connection.decode(answerOf(rawBlock(5, [{ transaction }])), async (block, authorities) => {
      asked.push(block.parentHash, authorities.length)
      begin()
      await new Promise<void>(resolve => {
        answerNonces = resolve
      })
      const nonces = { before: 7n, after: 9n }
      return new Map(authorities.map(authority => [authority, nonces]))
    })
    const second = connection.decode(answerOf(rawBlock(6, [{}])), noNonces)
    for (const [number, decoded] of [first, second].entries()) void decoded.then(() => order.push(number))
    await Promise.all([second, begun])
    answerNonces()
    expect(await first).toMatchObject({ rows: { hasUncheckedAuthorities: false } })
    expect(asked).toEqual([blockHash(4), 1])
    expect(order).toEqual([1, 0])
  })

  it('lets chains take turns, however many blocks one of them has waiting', async () => {
    const decoder = createDecoder()
    const [one, two] = [connect(decoder), connect(decoder)]
    const order: string[] = []
    const decode = (chain: typeof one, name: string, count: number) =>
      Array.from({ length: count }, (_, i) =>
        chain.decode(answerOf(rawBlock(i, [{}])), noNonces).then(() => order.push(name))
      )
    await Promise.all([...decode(one, 'one', 12), ...decode(two, 'two', 3)])
    expect(order).toHaveLength(15)
    // At most two of the other chain before the first, one before each further.
    expect(order.lastIndexOf('two')).toBeLessThan(8)
  })

  it('rejects what a thread had that has ended, and what comes later, as to be fetched again', async () => {
    const connection = connect()
    const under = connection.decode(answerOf(rawBlock(5, [{}])), noNonces)
    connection.end()
    const failure = await under.catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(UpstreamError)
    expect(failure).toMatchObject({
      fault: 'busy',
      message: expect.stringContaining('decodes blocks has ended')
    })
    expect(connection.isGone()).toBe(true)
    await expect(connection.decode(answerOf(rawBlock(5, [{}])), noNonces)).rejects.toThrow('has ended')
  })
})
