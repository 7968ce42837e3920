import {
  type Address,
  type Damage,
  openStoreReader,
  openStoreWriter,
  type StoreLocation,
  type StoreReader,
  type StoreWriter
} from '@chain-data/index'
import { firstTransactionId } from '@chain-data/index/record'
import {
  buildChain,
  commitChain,
  decodeRecords,
  expectedHistory,
  hashOf,
  people,
  readAudit,
  readHistory,
  withSnapshot
} from '@chain-data/index/test'
import { afterEach, expect, it } from 'vitest'
import { silentLogger } from '../../src/platform/logger.ts'
import { createCounts } from '../../src/server/metrics/counts.ts'
import { createDamageReport } from '../../src/server/rpc/createDamageReport.ts'
import { type Engine, engines } from '../support/testStores.ts'
import { damageIndex } from './damageIndex.ts'
import { startHealer } from './startHealer.ts'

const identity = { chainId: 31_337, genesisHash: hashOf('genesis') }
const [alice, bob] = people as [Address, Address]
/** More transactions of each account than one chunk of a history has. */
const blocks = buildChain(
  Array.from({ length: 40 }, (_, block) =>
    Array.from({ length: 8 }, (_, n) => ({
      ...{ name: `tx ${block} ${n}`, parties: [alice, bob] },
      candidates:
        n > 0 ? [] : [{ owner: alice, contract: bob, standard: 'erc721', tokenId: BigInt(block) } as const]
    }))
  )
)
const damagedBlock = 7

const cleanUps: (() => Promise<unknown>)[] = []
let location: StoreLocation
let writer: StoreWriter
let reader: StoreReader
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

async function store(engine: Engine): Promise<void> {
  const made = await engine.create()
  cleanUps.push(made.remove)
  location = made.location
  writer = await openStoreWriter(location, identity)
  cleanUps.push(() => writer.close())
  await commitChain(writer, blocks)
  await writer.markBackfilled()
  reader = await openStoreReader(location, identity.chainId)
  cleanUps.push(() => reader.close())
}

const damageRecord = () => {
  const altered = location.kind === 'sqlite' ? "x'80'" : "'\\x80'::bytea"
  return damageIndex(
    location,
    `UPDATE tx SET rec = ${altered} WHERE id = ${firstTransactionId(damagedBlock) + 3}`
  )
}
const damage: Damage = { part: 'record', block: damagedBlock }
const historyOf = (address: Address) => withSnapshot(reader, snapshot => readHistory(snapshot, address))

it.each(engines)(
  'a damaged block in the middle of long histories and of a certificate is passed on once, fetched once, and read right from then on, in $name',
  async engine => {
    await store(engine)
    await damageRecord()
    const passedOn: Promise<void>[] = []
    const report = createDamageReport({
      ...{ logger: silentLogger, counts: createCounts() },
      onDamage: (_, met) => void passedOn.push(reader.reportDamage(met))
    })
    for (const address of [alice, bob, alice]) {
      const expected = expectedHistory(blocks, address)
      const read = await withSnapshot(reader, async snapshot => {
        let count = 0
        try {
          for await (const chunk of snapshot.records(address)) {
            const { length } = chunk.ids
            expect(decodeRecords(chunk)).toStrictEqual(expected.slice(count, count + length))
            count += length
          }
        } catch (error) {
          expect(error).toMatchObject({ damage })
          report(error, identity.chainId)
        }
        return count
      })
      expect(read, 'the middle is reached').toBeGreaterThan(0)
      expect(read, 'nothing from the damaged block on is read').toBeLessThan((40 - damagedBlock) * 8)
    }
    const audited = await readAudit(reader, alice)
    expect(audited.flatMap(({ missing }) => missing)).toContainEqual({
      position: { blockNumber: damagedBlock, index: 3 },
      part: 'alteredRecord'
    })
    expect(passedOn).toHaveLength(1)
    await Promise.all(passedOn)

    const { fetched, healAll, stop } = startHealer(writer, blocks)
    cleanUps.push(stop)
    await healAll()
    expect(fetched).toEqual([damagedBlock])
    for (const address of [alice, bob]) {
      expect(await historyOf(address)).toStrictEqual(expectedHistory(blocks, address))
    }
    expect((await readAudit(reader, alice)).flatMap(({ missing }) => missing)).toEqual([])
  }
)
