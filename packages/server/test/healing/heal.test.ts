import { startAnvil } from '@chain-data/devnet'
import { openStoreReader, walkIndex } from '@chain-data/index'
import { eventually } from '@chain-data/index/test'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type FaultProxy, startFaultProxy } from '../support/startFaultProxy.ts'
import { engines, type TestStore } from '../support/testStores.ts'
import { countRows, damageIndex } from './damageIndex.ts'
import { createPaidChain, type PaidChain, startHealing } from './startHealing.ts'

let anvil: Awaited<ReturnType<typeof startAnvil>>
let node: FaultProxy
let chain: PaidChain
let paid: Awaited<ReturnType<PaidChain['pay']>>[]

beforeAll(async () => {
  anvil = await startAnvil()
  node = await startFaultProxy(anvil.rpcUrl)
  chain = await createPaidChain(anvil.rpcUrl)
  paid = []
  for (let block = 0; block < 13; block++) paid.push(await chain.pay())
})
afterAll(async () => {
  await node.close()
  await anvil.stop()
})

describe.each(engines)('an index in $name that is damaged', engine => {
  let store: TestStore
  let server: Awaited<ReturnType<typeof startHealing>>
  let next = 0

  beforeAll(async () => {
    store = await engine.create()
    server = await startHealing(store, [node.url])
    await server.level(chain.rpc)
  })
  afterAll(async () => {
    await server.close()
    await store.remove()
  })

  /** A transaction that no test has damaged yet, and that nobody has asked for. */
  function take() {
    const taken = paid[next++]
    if (taken === undefined) throw new Error('all transactions are used up')
    return { ...taken, id: taken.block * 65_536 }
  }

  /** Damages the index, has it refused, and waits until it answers what is true. */
  async function expectHealed(
    { address, hash, block }: ReturnType<typeof take>,
    sql: string,
    meanwhile = async () => {}
  ) {
    await damageIndex(store.location, sql)
    const { data } = (await server.history(address)).error ?? {}
    expect(data?.reason).toBe('INDEX_DAMAGED')
    await meanwhile()
    const answer = await eventually(
      `block ${block} is replaced`,
      async () => (await server.history(address)).result,
      10_000
    )
    expect(answer.map(record => record.hash)).toEqual([hash])
  }

  it('is refused, and heals: a record that is gone', async () => {
    const paid = take()
    await expectHealed(paid, `DELETE FROM tx WHERE id = ${paid.id}`)
  })

  it.each([
    [
      'a record',
      (id: number) =>
        `UPDATE tx SET rec = ${engine.name === 'sqlite' ? "CAST(substr(rec, 1, 40) || x'ff' || substr(rec, 42) AS BLOB)" : 'set_byte(rec, 40, 255)'} WHERE id = ${id}`
    ]
  ] as const)('is refused, and heals: %s that was altered', async (_, toSql) => {
    const paid = take()
    await expectHealed(paid, toSql(paid.id))
  })

  it('is refused, and heals: all chunks of the address index', async () => {
    const table = engine.name === 'sqlite' ? 'chunk_bound' : 'chunk'
    await expectHealed(take(), `DELETE FROM ${table} WHERE section = 0`)
  })

  it('heals without being read: the manifest', async () => {
    const runs = () => countRows(store.location, 'SELECT count(*) AS n FROM run')
    await damageIndex(store.location, 'DELETE FROM run')
    await eventually('it is whole again', async () => (await runs()) > 0, 10_000)
    const reader = await openStoreReader(store.location, 31_337)
    try {
      for await (const { damage } of walkIndex(reader)) expect(damage).toEqual([])
    } finally {
      await reader.close()
    }
    expect(server.status()).toMatchObject({ phase: 'following', ready: true })
  })

  it('heals without being read: the row of a block, and chunks of the hash index', async () => {
    const [of, by] = [take(), take()]
    const table = engine.name === 'sqlite' ? 'chunk_bound' : 'chunk'
    const lost = async () =>
      (await countRows(
        store.location,
        `SELECT count(*) AS n FROM run WHERE number NOT IN (SELECT run FROM ${table} WHERE section = 1)`
      )) +
      1 -
      (await countRows(store.location, `SELECT count(*) AS n FROM block WHERE number = ${of.block}`))
    expect(await lost()).toBe(0)
    await damageIndex(store.location, `DELETE FROM block WHERE number = ${of.block}`)
    await damageIndex(store.location, `DELETE FROM ${table} WHERE section = 1`)
    await eventually('they are back', async () => (await lost()) === 0, 10_000)
    expect((await server.history(of.address)).result).toHaveLength(1)
    expect(await server.history(by.address, { before: by.hash })).toMatchObject({ result: [] })
    const { passDone, checkedFrom } = await eventually('nothing is damaged', async () => {
      const { integrity } = await server.syncStatus()
      return integrity?.damaged === 0 && integrity
    })
    expect(passDone).toBeGreaterThan(0)
    expect(checkedFrom).toBe(0)
  })

  it('heals without being read: the time of a block, and a record', async () => {
    const [at, by] = [take(), take()]
    const seconds = `SELECT timestamp_seconds AS n FROM block WHERE number = ${at.block}`
    const status = async () =>
      countRows(store.location, `SELECT length(rec) AS n FROM tx WHERE id = ${by.id}`)
    const [time, length] = [await countRows(store.location, seconds), await status()]
    await damageIndex(store.location, `UPDATE block SET timestamp_seconds = 7 WHERE number = ${at.block}`)
    const empty = engine.name === 'sqlite' ? "x'80'" : "'\\x80'::bytea"
    await damageIndex(store.location, `UPDATE tx SET rec = ${empty} WHERE id = ${by.id}`)
    const isWhole = async () =>
      (await countRows(store.location, seconds)) === time && (await status()) === length
    await eventually('time and record are back', isWhole, 10_000)
  })

  it('is refused as long as no node has the block, while other damage heals, and heals then', async () => {
    const paid = take()
    const height = `0x${paid.block.toString(16)}`
    node.setFault(({ method, params }, result) =>
      method === 'eth_getBlockByNumber' && params[0] === height ? null : result
    )
    await expectHealed(paid, `DELETE FROM tx WHERE id = ${paid.id}`, async () => {
      await eventually('the status says so', () =>
        server.status()?.integrity?.problem?.includes('does not have it')
      )
      expect((await server.history(paid.address)).error?.data.reason).toBe('INDEX_DAMAGED')
      const other = take()
      await expectHealed(other, `DELETE FROM tx WHERE id = ${other.id}`)
      expect(server.status()).toMatchObject({ ready: true })
      node.setFault()
    })
    await eventually('the chain is not held up', () => server.status()?.ready)
  })

  const bytes = (hex: string) => (engine.name === 'sqlite' ? `x'${hex}'` : `'\\x${hex}'::bytea`)

  it('heals without being read: account events that were altered', async () => {
    const extra = (where: string) =>
      countRows(store.location, `SELECT count(*) AS n FROM block_extra WHERE ${where}`)
    const { block } = take()
    const altered = `number = ${block} AND rec = ${bytes('00')}`
    expect(await extra(`number = ${block}`)).toBe(1)
    await damageIndex(store.location, `UPDATE block_extra SET rec = ${bytes('00')} WHERE number = ${block}`)
    expect(await extra(altered)).toBe(1)
    await eventually('they are replaced', async () => (await extra(altered)) === 0, 10_000)
    expect(await extra(`number = ${block}`)).toBe(1)
  })

  it('is refused, and heals: an altered entry of the pool', async () => {
    const to = `0x${engine.name === 'sqlite' ? '71' : '72'}${'7'.repeat(38)}`
    const [from] = (await chain.rpc('eth_accounts')) as string[]
    const hash = await chain.rpc('eth_sendTransaction', { from, to, value: '0x1' })
    const pending = () => countRows(store.location, 'SELECT count(*) AS n FROM pool')
    await eventually('it is in the pool', async () => (await pending()) === 1)
    await damageIndex(store.location, `UPDATE pool SET rec = ${bytes('00')}`)
    expect((await server.history(to)).error?.data.reason).toBe('INDEX_DAMAGED')
    const answer = await eventually('the pool was read again', async () => (await server.history(to)).result)
    expect(answer.map(record => record.hash)).toEqual([hash])
    await chain.rpc('evm_mine')
  })

  it('goes on when a reorg removes the newest blocks, whose rows are lost', async () => {
    const [kept, ...removed] = [await chain.pay(), await chain.pay(), await chain.pay()]
    await server.level(chain.rpc)
    await damageIndex(store.location, `DELETE FROM block WHERE number > ${kept.block}`)
    await chain.rpc('anvil_reorg', 2, [])
    await server.level(chain.rpc)
    for (const { address, hash } of removed) {
      expect((await server.history(address)).result).toEqual([])
      const { data } = (await server.history(kept.address, { before: hash })).error ?? {}
      expect(data?.reason).toBe('CURSOR_REORGED')
      expect(data?.lastCommonBlock).toMatchObject({ blockNumber: kept.block })
    }
  })

  it('heals when a reorg meets the damage: a chunk, and the hashes that it removes', async () => {
    const [kept, removed] = [await chain.pay(), await chain.pay()]
    await server.level(chain.rpc)
    const table = engine.name === 'sqlite' ? 'chunk_bound' : 'chunk'
    await damageIndex(store.location, `DELETE FROM ${table} WHERE run = (SELECT max(number) FROM run)`)
    await chain.rpc('anvil_reorg', 1, [])
    await server.level(chain.rpc)
    const { result } = await eventually('histories are answered', async () => {
      const answer = await server.history(removed.address)
      return answer.result && answer
    })
    expect(result).toEqual([])
    expect((await server.history(kept.address)).result?.map(({ hash }) => hash)).toEqual([kept.hash])

    const next = async () => (await server.history(kept.address, { before: removed.hash })).error?.data.reason
    expect(await next()).toBe('CURSOR_REORGED')
    await damageIndex(store.location, 'UPDATE reorged SET ancestor_number = ancestor_number - 1')
    expect(await next()).toBe('INDEX_DAMAGED')
    await eventually('it is forgotten', async () => (await next()) === 'INVALID_PARAMS', 10_000)
    expect(server.status()).toMatchObject({ phase: 'following', ready: true })
  })
})
