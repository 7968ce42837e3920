import {
  type Address,
  type Damage,
  type HoldingCandidate,
  IndexDamagedError,
  openStoreReader,
  openStoreWriter,
  type Snapshot,
  type StoreLocation,
  type StoreWriter,
  walkIndex
} from '@chain-data/index'
import { firstTransactionId } from '@chain-data/index/record'
import {
  buildChain,
  commitChain,
  expectedEvents,
  expectedHistory,
  gather,
  hashOf,
  people,
  readHistory,
  withSnapshot
} from '@chain-data/index/test'
import { afterEach, describe, expect, it } from 'vitest'
import { engines } from '../support/testStores.ts'
import { damageIndex } from './damageIndex.ts'
import { startHealer } from './startHealer.ts'

const identity = { chainId: 31_337, genesisHash: hashOf('genesis') }
const person = (n: number): Address => people[n % people.length] ?? '0x'
const candidateOf = (n: number): HoldingCandidate => {
  const base = { owner: person(n), contract: person(3 * n + 1) }
  return n % 3 === 0 ? { ...base, standard: 'erc721', tokenId: BigInt(n) } : { ...base, standard: 'erc20' }
}
const blocks = buildChain(
  Array.from({ length: 40 }, (_, n) => [
    { name: `tx ${n}`, parties: [person(n)], candidates: [candidateOf(n), candidateOf(n + 40)] }
  ])
)
const keyOf = ({ contract, standard, tokenId }: HoldingCandidate) => `${contract} ${standard} ${tokenId}`
const candidatesOf = (address: Address) => [
  ...new Set(
    blocks
      .flatMap(({ transactions }) => transactions)
      .flatMap(({ candidates }) => candidates)
      .filter(({ owner }) => owner === address)
      .map(keyOf)
  )
]

const cleanUps: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

/** Answers from each section, of a reader that knows nothing yet; `undefined` where one is refused. */
async function answers(location: StoreLocation) {
  const reader = await openStoreReader(location, identity.chainId)
  const ask = (read: (snapshot: Snapshot) => Promise<unknown>) =>
    withSnapshot(reader, read).catch((error: unknown) => {
      if (!(error instanceof IndexDamagedError)) throw error
    })
  const found: unknown[] = []
  for (const address of people) {
    found.push(await ask(snapshot => readHistory(snapshot, address)))
    found.push(
      await ask(async snapshot => (await gather(snapshot.holdingCandidates(address))).map(keyOf).sort())
    )
    found.push(await ask(snapshot => gather(snapshot.accountEvents(address))))
  }
  for (let n = 0; n < 41; n++) found.push(await ask(snapshot => snapshot.lookUpHash(hashOf(`tx ${n}`))))
  await reader.close()
  return found
}

const right: readonly unknown[] = [
  ...people.flatMap(address => [
    expectedHistory(blocks, address),
    candidatesOf(address).sort(),
    expectedEvents(blocks, address)
  ]),
  ...Array.from({ length: 40 }, (_, blockNumber) => ({
    kind: 'confirmed',
    position: { blockNumber, index: 0 }
  })),
  { kind: 'unknown' }
]

async function damageOf(location: StoreLocation): Promise<readonly Damage[]> {
  const found: Damage[] = []
  const reader = await openStoreReader(location, identity.chainId)
  for await (const { damage } of walkIndex(reader)) found.push(...damage)
  await reader.close()
  return found
}

const sections = ['address', 'hash', 'token', 'contract', 'event', 'filter'] as const
type Way = 'lost' | 'altered' | 'cut short' | 'exchanged'

/** SQL that damages the first chunk of a section in the first run. */
const statements: Readonly<Record<(typeof engines)[number]['name'], (section: number, way: Way) => string>> =
  {
    sqlite(section, way) {
      const bound = `(SELECT chunk FROM chunk_bound WHERE section = ${section} ORDER BY run, lower LIMIT 1)`
      if (way === 'lost') return `DELETE FROM chunk WHERE id = ${bound}`
      const bytes = {
        altered: "CAST(substr(bytes, 1, 3) || x'5a' || substr(bytes, 5) AS BLOB)",
        'cut short': 'CAST(substr(bytes, 1, length(bytes) - 1) AS BLOB)',
        exchanged: '(SELECT bytes FROM chunk ORDER BY id DESC LIMIT 1)'
      }
      return `UPDATE chunk SET bytes = ${bytes[way]} WHERE id = ${bound}`
    },
    postgres(section, way) {
      const where = `WHERE (run, section, lower) = (SELECT run, section, lower FROM chunk WHERE section = ${section} ORDER BY run, lower LIMIT 1)`
      if (way === 'lost') return `DELETE FROM chunk ${where}`
      const bytes = {
        altered: 'set_byte(bytes, 3, 255 - get_byte(bytes, 3))',
        'cut short': 'substring(bytes FOR length(bytes) - 1)',
        exchanged: '(SELECT bytes FROM chunk ORDER BY run DESC, section DESC, lower DESC LIMIT 1)'
      }
      return `UPDATE chunk SET bytes = ${bytes[way]} ${where}`
    }
  }

describe.each(engines)('a run of an index in $name', ({ name, create }) => {
  let location: StoreLocation
  let writer: StoreWriter

  async function fill(): Promise<void> {
    const made = await create()
    cleanUps.push(made.remove)
    location = made.location
    writer = await openStoreWriter(location, identity)
    cleanUps.push(() => writer.close())
    for (let at = 0; at < blocks.length; at += 5) await commitChain(writer, blocks.slice(at, at + 5))
    await writer.markBackfilled()
    expect(await answers(location)).toStrictEqual(right)
    expect(await damageOf(location)).toEqual([])
  }

  it.each(
    sections.flatMap((section, number) =>
      (['lost', 'altered', 'cut short', 'exchanged'] as const).map(way => ({ section, number, way }))
    )
  )(
    'whose chunk of the section $section is $way refuses what it may lack, is found, and is written again',
    async ({ number, way }) => {
      await fill()
      await damageIndex(location, statements[name](number, way))
      const found = await answers(location)
      expect(found).toContain(undefined)
      for (const [i, answer] of found.entries())
        if (answer !== undefined) expect(answer).toStrictEqual(right[i])
      const damage = await damageOf(location)
      expect(damage).toContainEqual(expect.objectContaining({ part: 'chunk', section: number }))

      const { board, fetched, healAll, stop } = startHealer(writer, blocks, damage)
      cleanUps.push(stop)
      await healAll()
      expect(fetched, 'no node is asked').toEqual([])
      expect(await answers(location)).toStrictEqual(right)
      expect(await damageOf(location)).toEqual([])
      expect(board.read().indexUnusable).toBeUndefined()
    }
  )

  it('is written again once the block that it needs was fetched', async () => {
    await fill()
    await damageIndex(location, statements[name](0, 'lost'))
    const damage = await damageOf(location)
    await damageIndex(location, `DELETE FROM tx WHERE id = ${firstTransactionId(3)}`)
    const { fetched, healAll, stop } = startHealer(writer, blocks, damage)
    cleanUps.push(stop)
    await healAll()
    expect(fetched).toEqual([3])
    expect(await answers(location)).toStrictEqual(right)
    expect(await damageOf(location)).toEqual([])
  })

  it.each([
    ['lost', 'DELETE FROM run WHERE number = (SELECT min(number) FROM run)'],
    ['lost with all others', 'DELETE FROM run'],
    [
      'altered',
      `UPDATE run SET rec = ${name === 'sqlite' ? "x'80'" : "'\\x80'"} WHERE number = (SELECT max(number) FROM run)`
    ]
  ])('whose row in the manifest is %s is written again', async (_, sql) => {
    await fill()
    await damageIndex(location, sql)
    expect((await answers(location)).every(answer => answer === undefined)).toBe(true)
    const damage = await damageOf(location)
    expect(damage).toContainEqual({ part: 'manifest' })
    const { fetched, healAll, stop } = startHealer(writer, blocks, damage)
    cleanUps.push(stop)
    await healAll()
    expect(fetched, 'no node is asked').toEqual([])
    expect(await answers(location)).toStrictEqual(right)
    expect(await damageOf(location)).toEqual([])
  })
})
