import { eventually, temporaryFolder } from '@chain-data/index/test'
import { describe, expect, it } from 'vitest'
import { ConfigError } from '../../src/platform/errors.ts'
import { runTestIndexer } from '../support/indexHarness.ts'
import type { NodeProxy, Rule } from './startNodeProxy.ts'
import { useUpstreams } from './useUpstreams.ts'

const use = useUpstreams()
const price = { method: 'eth_gasPrice', params: [] }
const servesChain = (chainId: string): Rule => {
  return ({ method }) => (method === 'eth_chainId' ? { result: chainId } : undefined)
}
const hasGenesis = (hash: string): Rule => {
  return async ({ params }, truth) =>
    params[0] === '0x0' ? { result: { ...((await truth()) as object), hash } } : undefined
}
const otherGenesis = `0x${'8'.repeat(64)}` as const
const timesIdentified = ({ calls }: NodeProxy) =>
  calls.filter(({ method }) => method === 'eth_chainId').length
const errorsOf = (lines: Record<string, unknown>[]) =>
  lines.filter(({ level }) => level === 50).map(({ problem }) => problem)

describe('an upstream of another chain', () => {
  it('gives no answer, is named by its position, and another one is used', async () => {
    const { rpc, proxies, lines } = await use.pool(2)
    proxies[0]!.obey(servesChain('0x5'))
    for (let i = 0; i < 5; i++) await rpc.request(price)
    expect(proxies[0]!.asked()).toEqual([])
    expect(errorsOf(lines)).toEqual(['chain 31337: upstream 1 serves chain 5, expected 31337'])
    expect(rpc.figures()[0]).toMatchObject({ outOfService: true })
  })

  it('is looked at again, but rarely', async () => {
    const { rpc, proxies, pass } = await use.pool(2)
    proxies[1]!.obey(servesChain('0x5'))
    await rpc.request(price)
    // The wrong one twice: one answer alone might be a mistake.
    await eventually(
      'both have shown their chain',
      () => timesIdentified(proxies[0]!) === 1 && timesIdentified(proxies[1]!) === 2
    )
    for (let i = 0; i < 9; i++) {
      pass(6_000)
      await rpc.request(price)
      await eventually('looks have ended', () => proxies.every(({ load }) => load.now === 0))
    }
    expect(timesIdentified(proxies[1]!)).toBe(2)
    proxies[1]!.obey()
    pass(10_000)
    await eventually('it is in service', async () => {
      await rpc.request(price)
      return rpc.figures()[1]?.outOfService === false
    })
    expect(timesIdentified(proxies[1]!)).toBe(3)
  })

  it('is not what one wrong answer makes of the right one', async () => {
    const { rpc, proxies, lines } = await use.pool(1)
    let lies = 1
    proxies[0]!.obey(({ method }) => (method === 'eth_chainId' && lies-- > 0 ? { result: '0x5' } : undefined))
    await rpc.request(price)
    expect(lies).toBeLessThan(1)
    expect(errorsOf(lines)).toEqual([])
    expect(timesIdentified(proxies[0]!)).toBe(2)
  })

  it('is a ConfigError for the caller when there is no other', async () => {
    const { rpc, proxies } = await use.pool(2)
    for (const proxy of proxies) proxy.obey(servesChain('0x5'))
    const failure = await rpc.request(price).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(ConfigError)
    expect(failure).toMatchObject({ message: 'chain 31337: upstream 1 serves chain 5, expected 31337' })
    expect(proxies.flatMap(proxy => proxy.asked())).toEqual([])
  })

  it('is found out again after the connection was lost', async () => {
    const { rpc, proxies } = await use.pool(1)
    await rpc.request(price)
    await rpc.request(price)
    expect(timesIdentified(proxies[0]!)).toBe(1)
    proxies[0]!.setDown(true)
    await rpc.request(price, { timeoutMs: 100 }).catch(() => undefined)
    proxies[0]!.setDown(false)
    proxies[0]!.obey(servesChain('0x5'))
    const before = proxies[0]!.asked().length
    await expect(rpc.request(price)).rejects.toThrow('upstream 1 serves chain 5, expected 31337')
    expect(proxies[0]!.asked()).toHaveLength(before)
  })
})

describe('the genesis block', () => {
  it('tells two chains of one id apart once that of the index is known', async () => {
    const { rpc, proxies, lines } = await use.pool(2)
    proxies[0]!.obey(hasGenesis(otherGenesis))
    await rpc.request(price)
    const { genesisHash } = await rpc.onOneNode('block 0', async node => {
      const block = (await node.request({ method: 'eth_getBlockByNumber', params: ['0x1', false] })) as {
        parentHash: `0x${string}`
      }
      return { genesisHash: block.parentHash }
    })
    rpc.expectGenesis(genesisHash)
    const before = proxies[0]!.asked().length
    for (let i = 0; i < 3; i++) await rpc.request(price)
    expect(proxies[0]!.asked()).toHaveLength(before)
    expect(errorsOf(lines)).toEqual([
      `chain 31337: upstream 1 serves another chain than the index (genesis ${otherGenesis} / ${genesisHash}): ` +
        'use another node or store, or run `chain-data reset 31337` to index anew'
    ])
  })

  it.each([false, true])(
    'of an existing index picks the right upstream at a start, whichever comes first; of a development chain: %s',
    async dev => {
      const folder = await temporaryFolder()
      use.later(folder.remove)
      const first = runTestIndexer(folder.path, { rpcUrls: [use.node().rpcUrl] })
      await first.until('it follows', ({ phase }) => phase === 'following')
      await first.stop()
      const wrong = await use.proxy()
      wrong.obey(hasGenesis(otherGenesis))
      const second = runTestIndexer(folder.path, { rpcUrls: [wrong.url, use.node().rpcUrl], dev })
      use.later(() => second.stop())
      await second.until('it follows', ({ phase }) => phase === 'following')
      expect(wrong.asked('eth_getBlockReceipts')).toEqual([])
    }
  )
})
