import { eventually } from '@chain-data/index/test'
import { describe, expect, it } from 'vitest'
import type { EvmUpstreams } from '../../src/nodes/evm/rpc.ts'
import { NodeUnavailableError } from '../../src/platform/errors.ts'
import type { Rule, RuleAnswer } from './startNodeProxy.ts'
import { useUpstreams } from './useUpstreams.ts'

const use = useUpstreams()
const price = { method: 'eth_gasPrice', params: [] }
const hang: Rule = ({ method }) => (method === 'eth_gasPrice' ? new Promise(() => undefined) : undefined)

/** All at once: none of them may be so late beside the others that it is given to a second upstream already. */
const learnUsualTime = (rpc: EvmUpstreams) =>
  Promise.all(Array.from({ length: 15 }, () => rpc.request(price)))

/** Answers to `eth_gasPrice` wait until they are released. */
function holdBack(answer: RuleAnswer | undefined): { rule: Rule; release: () => void } {
  let release = () => {}
  const released = new Promise<void>(resolve => {
    release = resolve
  })
  return {
    async rule({ method }) {
      if (method !== 'eth_gasPrice') return undefined
      await released
      return answer
    },
    release: () => release()
  }
}

describe('a read that takes longer than usual', () => {
  it('is given to a second upstream, whose answer is taken, and the first is called off', async () => {
    const { rpc, proxies } = await use.pool(2)
    await learnUsualTime(rpc)
    await eventually('looks have ended', () => proxies.every(({ load }) => load.now === 0))
    proxies[0]!.obey(hang)
    expect(await rpc.request(price)).toMatch(/^0x/)
    expect(rpc.figures()[1]).toMatchObject({ hedgesSent: 1, hedgesWon: 1 })
    await eventually('the first was called off', () => proxies[0]!.load.now === 0)
    // Being slower once is not a failure.
    expect(rpc.figures()[0]).toMatchObject({ outOfService: false, preferred: true })
  })

  it('is not, beyond a tenth of the calls', async () => {
    const { rpc, proxies } = await use.pool(2)
    for (let i = 0; i < 20; i++) await rpc.request(price)
    const { rule, release } = holdBack(undefined)
    proxies[0]!.obey(rule)
    const all = Promise.all(Array.from({ length: 40 }, () => rpc.request(price)))
    const sent = () => rpc.figures()[1]?.hedgesSent ?? 0
    await eventually('one is given to the second', () => sent() > 0)
    release()
    await all
    expect(sent()).toBeLessThanOrEqual((20 + 40) / 10)
  })

  it('is not with one upstream', async () => {
    const { rpc, proxies } = await use.pool(1)
    await learnUsualTime(rpc)
    proxies[0]!.obey(hang)
    await expect(rpc.request(price, { timeoutMs: 300 })).rejects.toBeInstanceOf(NodeUnavailableError)
    expect(rpc.figures()[0]).toMatchObject({ hedgesSent: 0 })
    expect(proxies[0]!.asked()).toHaveLength(16)
  })

  it('fails like any other when neither answer is sound', async () => {
    const { rpc, proxies } = await use.pool(2, { maxAttempts: 2 })
    await learnUsualTime(rpc)
    const { rule, release } = holdBack({ status: 500 })
    proxies[0]!.obey(rule)
    proxies[1]!.obey(({ method }) => (method === 'eth_gasPrice' ? { status: 502 } : undefined))
    const failing = expect(rpc.request(price)).rejects.toBeInstanceOf(NodeUnavailableError)
    await eventually('it is given to the second', () => rpc.figures()[1]?.hedgesSent === 1)
    release()
    await failing
  })
})

describe('the concurrency of an upstream', () => {
  it('is bounded; what is more waits in order', async () => {
    const { rpc, proxies } = await use.pool(1)
    const waiting: (() => void)[] = []
    proxies[0]!.obey(async ({ method }) => {
      if (method === 'eth_gasPrice') await new Promise<void>(resolve => waiting.push(resolve))
      return undefined
    })
    await rpc.identity()
    const all = Promise.all(Array.from({ length: 50 }, () => rpc.request(price)))
    await eventually('it is full', () => waiting.length === 16)
    let answered = 0
    while (answered < 50) {
      await eventually('more are asked', () => waiting.length > 0)
      waiting.shift()?.()
      answered++
    }
    await all
    // It doubles with the first full round of answers; the second one ends with the calls.
    expect(proxies[0]!.load.most).toBeLessThanOrEqual(32)
    expect(rpc.figures()[0]?.concurrencyLimit).toBeGreaterThan(16)
  })

  it('is halved when the upstream asks for less or does not answer in time', async () => {
    const { rpc, proxies, pass } = await use.pool(1)
    await rpc.request(price)
    const throttled = { status: 429, headers: { 'retry-after': '30' } }
    proxies[0]!.obey(({ method }) => (method === 'eth_gasPrice' ? throttled : undefined))
    await rpc.request(price).catch(() => undefined)
    expect(rpc.figures()[0]?.concurrencyLimit).toBe(8)
    pass(60_000)
    proxies[0]!.obey(hang)
    await rpc.request(price, { timeoutMs: 100 }).catch(() => undefined)
    expect(rpc.figures()[0]?.concurrencyLimit).toBe(4)
  })

  it('gives the place of an aborted call to the next', async () => {
    const { rpc, proxies } = await use.pool(1)
    proxies[0]!.obey(hang)
    await rpc.identity()
    const abort = new AbortController()
    const stuck = Array.from({ length: 16 }, () =>
      rpc.request(price, { signal: abort.signal }).catch((error: unknown) => error)
    )
    const next = rpc.request({ method: 'eth_accounts', params: [] })
    await eventually('it is full', () => proxies[0]!.load.now === 16)
    const reason = new Error('no longer wanted')
    abort.abort(reason)
    expect(await Promise.all(stuck)).toEqual(stuck.map(() => reason))
    expect(await next).toBeInstanceOf(Array)
  })
})

describe('what one upstream lacks', () => {
  it('is found out once for each, and each is used in its own way', async () => {
    const { source, rpc, proxies, pass } = await use.pool(2)
    proxies[0]!.obey(({ method }) =>
      method === 'eth_getBlockReceipts' ? { error: { code: -32601, message: 'no such method' } } : undefined
    )
    const block = use.crowdedBlock()
    for (let i = 0; i < 3; i++) await source.block(block.number)
    expect(proxies[0]!.asked('eth_getBlockReceipts')).toHaveLength(1)
    expect(proxies[0]!.asked('eth_getTransactionReceipt')).toHaveLength(3 * block.transactionHashes.length)
    expect(proxies[1]!.asked()).toEqual([])
    proxies[0]!.setDown(true)
    await source.block(block.number)
    await source.block(block.number)
    expect(proxies[1]!.asked('eth_getTransactionReceipt')).toEqual([])
    expect(proxies[1]!.asked('eth_getBlockReceipts').length).toBeGreaterThanOrEqual(1)
    proxies[0]!.setDown(false)
    proxies[1]!.setDown(true)
    pass(60_000)
    await source.block(block.number)
    expect(proxies[0]!.asked('eth_getBlockReceipts')).toHaveLength(1)
    expect(rpc.figures()).toHaveLength(2)
  })

  it('is asked of one that has it', async () => {
    const { rpc, proxies } = await use.pool(2)
    proxies[0]!.obey(({ method }) =>
      method === 'txpool_content' ? { error: { code: -32601, message: 'no such method' } } : undefined
    )
    for (let i = 0; i < 3; i++) {
      expect(await rpc.request({ method: 'txpool_content', params: [] })).toHaveProperty('pending')
    }
    expect(proxies[0]!.asked('txpool_content')).toHaveLength(1)
  })
})
