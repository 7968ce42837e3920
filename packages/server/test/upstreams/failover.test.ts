import { eventually } from '@chain-data/index/test'
import { describe, expect, it } from 'vitest'
import { NodeContradictionError, NodeRpcError, NodeUnavailableError } from '../../src/platform/errors.ts'
import type { Rule } from './startNodeProxy.ts'
import { useUpstreams } from './useUpstreams.ts'

const use = useUpstreams()
const otherHash = `0x${'7'.repeat(64)}`
type Raw = Record<string, unknown>
const blockNumberOf = (params: readonly unknown[]) => Number(params[0])
const failureOf = (promise: Promise<unknown>) =>
  promise.then(
    value => {
      throw new Error(`expected a failure, not ${JSON.stringify(value)}`)
    },
    (error: Error) => error
  )

describe('an upstream that fails', () => {
  it('is passed over at once, and used again by itself once it is well and clearly better', async () => {
    const { rpc, proxies, pass } = await use.pool(2)
    const [first, second] = [proxies[0]!, proxies[1]!]
    const ask = () => rpc.request({ method: 'eth_gasPrice', params: [] })
    await ask()
    first.setDown(true)
    for (let i = 0; i < 5; i++) await ask()
    expect(rpc.figures()).toMatchObject([{ preferred: false }, { preferred: true }])
    expect(second.asked()).toHaveLength(5)
    await eventually('it is out of service', async () => {
      pass(6_000)
      await ask()
      return rpc.figures()[0]?.outOfService
    })
    first.setDown(false)
    await eventually('it is in service again', async () => {
      pass(6_000)
      await ask()
      return rpc.figures()[0]?.outOfService === false
    })
    second.setDown(true)
    await eventually('it is preferred again', async () => {
      await ask()
      return rpc.figures()[0]?.preferred
    })
  })

  it('is put aside when it is wrong about a block, but for the last one, without which nobody answers', async () => {
    const { rpc, proxies } = await use.pool(2)
    await rpc.onEachNode('wrong', async node => node.putAside('is wrong'))
    // Whichever of them answered first.
    const isAside = rpc.figures().map(({ outOfService }) => outOfService)
    expect(isAside.filter(Boolean)).toHaveLength(1)
    await rpc.request({ method: 'eth_gasPrice', params: [] })
    expect(proxies.map(proxy => proxy.asked('eth_gasPrice').length)).toEqual(
      isAside.map(aside => (aside ? 0 : 1))
    )
  })

  it('is left alone for longer after each visit in vain', async () => {
    const { rpc, proxies, pass } = await use.pool(2)
    let visits = 0
    proxies[0]!.obey(() => {
      visits++
      return { status: 503 }
    })
    const visitsWithin = async (ms: number) => {
      const before = visits
      for (let i = 0; i < 10; i++) {
        pass(ms / 10)
        await rpc.request({ method: 'eth_gasPrice', params: [] })
        await eventually('looks have ended', () => proxies.every(({ load }) => load.now === 0))
      }
      return visits - before
    }
    const early = await visitsWithin(100_000)
    await visitsWithin(300_000)
    expect(early).toBeGreaterThan(0)
    // Two calls of an identity batch each: at the longest pause, one visit in 15 to 30 seconds.
    expect(await visitsWithin(30_000)).toBeLessThanOrEqual(2 * 2)
  })

  it('keeps its place after one failure of an upstream that is otherwise much better', async () => {
    const { rpc, proxies, pass } = await use.pool(2)
    const ask = () => rpc.request({ method: 'eth_gasPrice', params: [] })
    proxies[1]!.obey(async ({ method }) => {
      if (method === 'eth_blockNumber') await new Promise(resolve => setTimeout(resolve, 1_000))
      return undefined
    })
    await ask()
    pass(6_000)
    await eventually('both were looked at', async () => {
      await ask()
      return rpc.figures().every(({ head }) => head !== undefined)
    })
    let fails = true
    proxies[0]!.obey(() => {
      const failing = fails
      fails = false
      return failing ? { status: 500 } : undefined
    })
    await ask()
    expect(rpc.figures()[0]?.preferred).toBe(true)
  })
})

describe('a pool of which nobody may be asked', () => {
  it('says so at once, and asks nobody until the time that they named', async () => {
    const { rpc, proxies, pass } = await use.pool(2)
    const throttled: Rule = () => ({ status: 429, headers: { 'retry-after': '60' } })
    for (const proxy of proxies) proxy.obey(throttled)
    const ask = () => rpc.request({ method: 'eth_gasPrice', params: [] })
    expect(await failureOf(ask())).toBeInstanceOf(NodeUnavailableError)
    const asked = () => proxies.reduce((sum, { calls }) => sum + calls.length, 0)
    const before = asked()
    for (let i = 0; i < 20; i++) {
      const error = await failureOf(ask())
      expect(error.message).toMatch(/no upstream may be called for \d{5} ms/)
    }
    expect(asked()).toBe(before)
    for (const proxy of proxies) proxy.obey()
    pass(61_000)
    expect(await ask()).toMatch(/^0x/)
  })
})

describe('an answer that its reader refuses', () => {
  const receiptsLie: Rule = async ({ method }, truth) =>
    method === 'eth_getBlockReceipts'
      ? { result: ((await truth()) as Raw[]).map(receipt => ({ ...receipt, blockHash: otherHash })) }
      : undefined

  it('counts as the fault of its upstream, and another one is asked', async () => {
    const { source, rpc, proxies } = await use.pool(2)
    proxies[0]!.obey(receiptsLie)
    const { number, transactionHashes } = use.crowdedBlock()
    expect((await source.block(number)).transactionCount).toBe(transactionHashes.length)
    expect(rpc.figures()[0]?.calls).toMatchObject({ unsound: 1 })
    expect(proxies[1]!.asked('eth_getBlockReceipts')).toHaveLength(1)
  })

  it('is thrown as a contradiction only when nobody answers soundly, each asked once', async () => {
    const { source, proxies } = await use.pool(3)
    for (const proxy of proxies) proxy.obey(receiptsLie)
    const error = await failureOf(source.block(use.crowdedBlock().number))
    expect(error).toBeInstanceOf(NodeContradictionError)
    for (const proxy of proxies) expect(proxy.asked('eth_getBlockReceipts')).toHaveLength(1)
  })

  it('is told rather than that another upstream could not be reached or did not have it', async () => {
    const { source, proxies } = await use.pool(3)
    const { number } = use.crowdedBlock()
    proxies[0]!.obey(({ method }) => (method === 'eth_getBlockByNumber' ? { result: null } : undefined))
    proxies[1]!.obey(async ({ method, params }, truth) =>
      method === 'eth_getBlockByNumber' && params[0] !== '0x0'
        ? { result: { ...((await truth()) as Raw), number: '0x1' } }
        : undefined
    )
    proxies[2]!.setDown(true)
    expect((await failureOf(source.block(number))).message).toMatch(/answered block 1/)
  })

  it('may be one of a single call', async () => {
    const { rpc, proxies } = await use.pool(2)
    proxies[0]!.obey(({ method }) => (method === 'eth_gasPrice' ? { result: 'plenty' } : undefined))
    const read = (value: unknown) => {
      if (!/^0x/.test(String(value))) throw new NodeContradictionError('no quantity')
      return BigInt(String(value))
    }
    expect(await rpc.request({ method: 'eth_gasPrice', params: [] }, { read })).toBeTypeOf('bigint')
  })
})

describe('a header that no receipts fit', () => {
  it('is asked for elsewhere at once, together with its receipts, though its giver is still preferred', async () => {
    const { rpc, source, proxies } = await use.pool(2)
    proxies[1]!.obey(async ({ method }) => {
      if (method === 'eth_blockNumber') await new Promise(resolve => setTimeout(resolve, 1_000))
      return undefined
    })
    await rpc.request({ method: 'eth_gasPrice', params: [] })
    await eventually('both were looked at', () => rpc.figures().every(({ head }) => head !== undefined))
    const { number } = use.crowdedBlock()
    proxies[0]!.obey(async ({ method, params }, truth) => {
      if (method !== 'eth_getBlockByNumber' || blockNumberOf(params) !== number) return undefined
      const block = (await truth()) as Raw & { transactions: Raw[] }
      const transactions = block.transactions.map(transaction => ({ ...transaction, blockHash: otherHash }))
      return { result: { ...block, hash: otherHash, transactions } }
    })
    const { hash } = (await use
      .driver()
      .rpc('eth_getBlockByNumber', `0x${number.toString(16)}`, false)) as Raw
    expect((await source.block(number)).ref.hash).toBe(hash)
    expect(rpc.figures()[0]?.preferred).toBe(true)
  })
})

describe('null and missing data', () => {
  const lagging: Rule = ({ method, params }) => {
    if (/^eth_getBlock|Receipt/.test(method) && params[0] !== '0x0') return { result: null }
    if (method === 'eth_getBalance') return { error: { code: -32000, message: 'header not found' } }
    return undefined
  }
  const account = `0x${'1'.repeat(40)}`

  it.each<[string, (hash: string) => [string, unknown[]]]>([
    ['a block by height', () => ['eth_getBlockByNumber', ['0x1', false]]],
    ['a block by hash', hash => ['eth_getBlockByHash', [hash, false]]],
    ['the receipts of a block', hash => ['eth_getBlockReceipts', [hash]]],
    ['state', () => ['eth_getBalance', [account, '0x1']]]
  ])('for %s are a reason to ask another upstream', async (_, callFor) => {
    const { rpc, proxies } = await use.pool(2)
    proxies[0]!.obey(lagging)
    const { hash } = (await use.driver().rpc('eth_getBlockByNumber', '0x1', false)) as { hash: string }
    const [method, params] = callFor(hash)
    expect(await rpc.request({ method, params })).not.toBeNull()
    expect(proxies[0]!.asked(method)).toHaveLength(1)
  })

  it('are the answer once everybody has given it', async () => {
    const { rpc, source, proxies } = await use.pool(2)
    for (const proxy of proxies) proxy.obey(lagging)
    expect(await rpc.request({ method: 'eth_getBlockByNumber', params: ['0x1', false] })).toBeNull()
    const error = await failureOf(rpc.request({ method: 'eth_getBalance', params: [account, '0x1'] }))
    expect(error).toBeInstanceOf(NodeRpcError)
    expect(await source.knowsBlock(`0x${'5'.repeat(64)}`)).toBe(false)
    for (const proxy of proxies) expect(proxy.asked('eth_getBlockByHash')).toHaveLength(1)
  })

  it('for the first call of a batch send the whole batch elsewhere, and never the errors of other entries', async () => {
    const { rpc, proxies } = await use.pool(2)
    proxies[0]!.obey(lagging)
    const balance = { method: 'eth_getBalance', params: [account, '0x1'] }
    const price = { method: 'eth_gasPrice', params: [] }
    expect((await rpc.batch([balance, price]))[0]).toMatchObject({ ok: true })
    expect(proxies[1]!.asked()).toHaveLength(2)
    const fresh = await use.pool(2)
    fresh.proxies[0]!.obey(lagging)
    expect((await fresh.rpc.batch([price, balance]))[1]).toMatchObject({ ok: false })
    expect(fresh.proxies[1]!.asked()).toHaveLength(0)
  })

  it('are not confused with a revert or wrong params, which are final', async () => {
    const { rpc, proxies } = await use.pool(2)
    for (const error of [
      { code: 3, message: 'execution reverted: header not found', data: '0x08c379a0' },
      { code: -32602, message: 'invalid argument 0' }
    ]) {
      proxies[0]!.obey(({ method }) => (method === 'eth_call' ? { error } : undefined))
      expect(await failureOf(rpc.request({ method: 'eth_call', params: [{}, 'latest'] }))).toMatchObject({
        rpcCode: error.code
      })
    }
    expect(proxies[1]!.asked('eth_call')).toHaveLength(0)
  })
})

describe('an upstream that names a head which does not exist', () => {
  it('loses its preference by the blocks that it then does not have', async () => {
    const { rpc, source, proxies, pass } = await use.pool(2)
    const far = (value: unknown) => ({ ...(value as Raw), number: '0xffffff' })
    proxies[0]!.obey(async ({ method, params }, truth) => {
      if (method === 'eth_blockNumber') return { result: '0xffffff' }
      return method === 'eth_getBlockByNumber' && params[0] === 'latest'
        ? { result: far(await truth()) }
        : undefined
    })
    expect((await source.head()).head.number).toBe(0xffffff)
    await eventually('both were looked at', () => rpc.figures().every(figures => figures.head !== undefined))
    const { length } = use.driver().world.blocks
    await eventually('the true head is told', async () => {
      await source.block(length).catch(() => undefined)
      pass(1_000)
      return (await source.head()).head.number < 0xffffff
    })
  })
})

describe('a lagging upstream', () => {
  it('is not asked for a block above its head while another has shown that height, and loses its preference', async () => {
    const { rpc, source, proxies, pass } = await use.pool(2)
    const head = use.headNumber()
    const shown = head - 3
    proxies[0]!.obey(async ({ method, params }, truth) => {
      if (method === 'eth_blockNumber') return { result: `0x${shown.toString(16)}` }
      if (method !== 'eth_getBlockByNumber' || blockNumberOf(params) <= shown) return undefined
      if (params[0] !== 'latest') return { result: null }
      return { result: { ...((await truth()) as Raw), number: `0x${shown.toString(16)}` } }
    })
    await rpc.request({ method: 'eth_gasPrice', params: [] })
    await eventually('both were looked at', () => rpc.figures().every(figures => figures.head !== undefined))
    expect(rpc.figures()).toMatchObject([{ lagBlocks: 3 }, { lagBlocks: 0 }])
    for (let number = shown + 1; number <= head; number++) await source.blockRef(number)
    expect(proxies[0]!.asked('eth_getBlockByNumber')).toHaveLength(0)
    // Three blocks are no reason to leave a node for good; twenty are.
    proxies[0]!.obey(({ method }) => (method === 'eth_blockNumber' ? { result: '0x1' } : undefined))
    pass(6_000)
    await eventually('the other is preferred', async () => {
      await rpc.request({ method: 'eth_gasPrice', params: [] })
      return rpc.figures()[1]?.preferred
    })
  })
})
