import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import type { PricedAsset, ReadPrices } from '../../model/prices.ts'
import { createPrices } from './prices.ts'

const gold = `0x${'ab'.repeat(20)}`
const silver = `0x${'cd'.repeat(20)}`
const assets: readonly PricedAsset[] = [
  { chainId: 1 },
  { chainId: 1, address: gold },
  { chainId: 1, address: silver }
]

const cleanUps: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

function start(source: ReadPrices | string) {
  const lines: string[] = []
  const clock = { nowMs: 1_800_000_000_000, now: () => clock.nowMs }
  const logger = {
    info: (message: string) => lines.push(message),
    warn: (message: string, fields?: { problem?: string }) => lines.push(`${message}: ${fields?.problem}`)
  }
  const prices = createPrices({ source, logger, clock })
  const read = async (asked = assets, budgetMs = 2_000) => {
    const { signal } = new AbortController()
    const { quote, priceOf, isComplete } = await prices.read(asked, { budgetMs, signal })
    return { quote, isComplete, prices: asked.map(({ address }) => priceOf(address)) }
  }
  return { prices, read, lines, clock }
}

/** A function that answers one text, and remembers what it was asked. */
function answering(answer: unknown) {
  const asked: (readonly PricedAsset[])[] = []
  const source: ReadPrices = async question => {
    asked.push(question)
    return answer as never
  }
  return { source, asked }
}

async function listen(answer: RequestListener): Promise<string> {
  const server = createServer(answer)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  cleanUps.push(() => {
    server.closeAllConnections()
    return new Promise(resolve => server.close(resolve))
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/prices`
}

const failure = { quote: undefined, isComplete: false, prices: [undefined, undefined, undefined] }
const named = (price: unknown, address = gold) => ({
  currency: 'USD',
  prices: [
    { chainId: 1, price: '3012.55' },
    { chainId: 1, address, price }
  ]
})

describe('a function', () => {
  it('names prices of native currency and tokens, in any order and case; what it leaves out has none', async () => {
    const { source, asked } = answering({
      currency: 'USD',
      prices: [
        { chainId: 1, address: gold.toUpperCase().replace('X', 'x'), price: '0.5' },
        { chainId: 1, price: '3012.55' }
      ]
    })
    expect(await start(source).read()).toEqual({
      quote: { currency: 'USD', timestampSeconds: 1_800_000_000 },
      isComplete: true,
      prices: ['3012.55', '0.5', undefined]
    })
    expect(asked).toEqual([assets])
  })

  it.each([
    ['negative', '-1'],
    ['NaN', 'NaN'],
    ['with an exponent', '1e9999'],
    ['10 kB of digits', '9'.repeat(10_000)],
    ['more decimal places than anybody reads', `0.${'1'.repeat(37)}`],
    ['a number', 1.5],
    ['an object', {}],
    ['missing', undefined]
  ])(
    'a price that is %s is left out, the others stay, and the answer says that one is missing',
    async (_, price) => {
      const { read } = start(answering(named(price)).source)
      expect(await read()).toMatchObject({ isComplete: false, prices: ['3012.55', undefined, undefined] })
    }
  )

  it('null is a price that the host does not know', async () => {
    const { read } = start(answering(named(null)).source)
    expect(await read()).toMatchObject({ isComplete: true, prices: ['3012.55', undefined, undefined] })
  })

  it('a price of an asset that was not asked for is ignored', async () => {
    const { read } = start(answering(named('7', `0x${'77'.repeat(20)}`)).source)
    expect(await read()).toMatchObject({ isComplete: true, prices: ['3012.55', undefined, undefined] })
    const other = answering({ currency: 'USD', prices: [{ chainId: 2, address: gold, price: '7' }] })
    expect(await start(other.source).read()).toMatchObject({ prices: [undefined, undefined, undefined] })
  })

  it('a price that is named twice is none', async () => {
    const twice = named('7')
    twice.prices.push({ chainId: 1, address: gold, price: '8' }, { chainId: 1, address: gold, price: '7' })
    const { read } = start(answering(twice).source)
    expect(await read()).toMatchObject({ isComplete: false, prices: ['3012.55', undefined, undefined] })
  })

  it.each([
    ['no object', 'USD'],
    ['nothing', undefined],
    ['a currency of another kind', { currency: 7, prices: [] }],
    ['a currency of words', { currency: 'US dollars', prices: [] }],
    ['no list', { currency: 'USD', prices: { native: '1' } }],
    ['too long a list', { currency: 'USD', prices: new Array(1_001).fill(null) }]
  ])('an answer that is %s is not used at all', async (_, answer) => {
    const { read, lines } = start(answering(answer).source)
    expect(await read()).toEqual(failure)
    expect(lines).toEqual([expect.stringContaining('prices fail')])
  })

  it('that throws is asked again after ten seconds, is logged once without its words, and once when it answers again', async () => {
    let isWell = false
    let count = 0
    const { read, lines, clock } = start(async () => {
      count++
      if (!isWell) throw new RangeError('password=secret')
      return { currency: 'USD', prices: [{ chainId: 1, price: '2' }] }
    })
    expect(await read()).toEqual(failure)
    expect(await read()).toEqual(failure)
    expect(count).toBe(1)
    clock.nowMs += 10_000
    expect(await read()).toEqual(failure)
    isWell = true
    clock.nowMs += 10_000
    expect(await read()).toMatchObject({ isComplete: true, prices: ['2', undefined, undefined] })
    expect(lines).toEqual([
      'prices fail, holdings are answered without them: RangeError',
      'prices answer again'
    ])
  })

  it('that never answers is given up, and its signal aborts', async () => {
    let given: AbortSignal | undefined
    const { read, lines } = start((_, { signal }) => {
      given = signal
      return new Promise(() => {})
    })
    expect(await read(assets, 20)).toEqual(failure)
    expect(given?.aborted).toBe(true)
    expect(lines).toEqual(['prices fail, holdings are answered without them: no answer in time'])
  })

  it('is not called failing because a caller has gone', async () => {
    const caller = new AbortController()
    const { prices, read, lines } = start(
      async (_, { signal }) =>
        await new Promise((resolve, reject) => {
          if (!caller.signal.aborted) signal.addEventListener('abort', () => reject(signal.reason))
          else resolve({ currency: 'USD', prices: [] })
        })
    )
    const reading = prices.read(assets, { budgetMs: 2_000, signal: caller.signal })
    caller.abort(new Error('gone'))
    await expect(reading).rejects.toThrow('gone')
    expect(lines).toEqual([])
    expect(await read()).toMatchObject({ isComplete: true })
  })

  it('is asked again for an asset after a minute, and for others at once', async () => {
    const { source, asked } = answering(named('1'))
    const { read, clock } = start(source)
    await read(assets.slice(0, 2))
    clock.nowMs += 59_000
    const mixed = await read()
    expect(asked).toEqual([assets.slice(0, 2), [assets[2]]])
    // The oldest of them.
    expect(mixed).toMatchObject({
      quote: { timestampSeconds: 1_800_000_000 },
      prices: ['3012.55', '1', undefined]
    })
    clock.nowMs += 1_000
    await read(assets.slice(0, 2))
    expect(asked.at(-1)).toEqual(assets.slice(0, 2))
  })

  it('that changes its currency has no prices of the old one in an answer', async () => {
    let currency = 'USD'
    const { read, clock } = start(async question => ({
      currency,
      prices: question.map(asset => ({ ...asset, price: '3' }))
    }))
    await read(assets.slice(0, 2))
    currency = 'EUR'
    clock.nowMs += 1_000
    expect(await read()).toMatchObject({
      ...{ quote: { currency: 'EUR' }, isComplete: false },
      prices: [undefined, undefined, '3']
    })
  })

  it('is asked for a thousand assets at most, and the answer says that there are more', async () => {
    const many = Array.from({ length: 1_001 }, (_, i) => ({
      ...{ chainId: 1, address: `0x${i.toString(16).padStart(40, '0')}` }
    }))
    const { source, asked } = answering({ currency: 'USD', prices: [] })
    expect(await start(source).read(many)).toMatchObject({ isComplete: false })
    expect(asked[0]).toHaveLength(1_000)
  })
})

describe('a URL', () => {
  it('is sent the assets by POST and answers as a function does', async () => {
    const bodies: unknown[] = []
    const url = await listen(async (request, response) => {
      let text = ''
      for await (const chunk of request) text += chunk
      bodies.push([request.method, request.url, request.headers['content-type'], JSON.parse(text)])
      response.end(JSON.stringify(named('0.000000000000000001')))
    })
    expect(await start(url).read()).toMatchObject({
      ...{ quote: { currency: 'USD' }, isComplete: true },
      prices: ['3012.55', '0.000000000000000001', undefined]
    })
    expect(bodies).toEqual([['POST', '/prices', 'application/json', assets]])
  })

  it.each<[string, RequestListener, string]>([
    ['fails', (_, response) => response.writeHead(500).end('{}'), 'it answered HTTP 500'],
    [
      'redirects',
      (_, response) => response.writeHead(307, { location: '/other' }).end(),
      'it answered HTTP 307'
    ],
    [
      'limits the rate',
      (_, response) => response.writeHead(429).end(),
      'metadata.prices limits the rate of calls (HTTP 429)'
    ],
    ['answers no JSON', (_, response) => response.end('<html>'), 'its answer is no JSON'],
    [
      'answers too much',
      (_, response) => response.end(' '.repeat(600_000)),
      'metadata.prices answered more than 524288 bytes'
    ],
    ['hangs up', (_, response) => response.destroy(), 'metadata.prices cannot be reached (ECONNRESET)']
  ])('that %s leaves the prices unknown', async (_, answer, problem) => {
    const { read, lines } = start(await listen(answer))
    expect(await read()).toEqual(failure)
    expect(lines).toEqual([`prices fail, holdings are answered without them: ${problem}`])
  })

  it('that is slow leaves the prices unknown', async () => {
    const url = await listen(() => {})
    expect(await start(url).read(assets, 50)).toEqual(failure)
  })
})
