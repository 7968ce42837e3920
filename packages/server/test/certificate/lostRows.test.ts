import { startAnvil } from '@chain-data/devnet'
import { StoreError } from '@chain-data/index'
import { toPosition } from '@chain-data/index/record'
import type { CertificateOptions } from '@chain-data/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createRandom, type Random } from '../../../devnet/src/platform/createRandom.ts'
import { Refusal } from '../../src/platform/refusal.ts'
import { engines, type TestStore } from '../support/testStores.ts'
import { chooseAlterations } from './chooseAlterations.ts'
import { everyAddress } from './everyAddress.ts'
import { type Certifier, openCertifier } from './openCertifier.ts'
import { beginRandomDeeds } from './randomDeeds.ts'
import { type Known, readKnown } from './readKnown.ts'
import { type CertifiedWorld, startCertifiedWorld } from './startCertifiedWorld.ts'
import {
  type AuditedTable,
  openStoredRows,
  type StoredRow,
  type StoredRows,
  type sections
} from './storedRows.ts'

const seed = Number(process.env.CERTIFICATE_SEED ?? 9)
const perKind = 2
const bystanders = 3

/** Rows to lose, the accounts that they are about, and what a certificate must say of them. */
interface Loss {
  readonly kind: string
  readonly table: AuditedTable
  readonly rows: readonly StoredRow[]
  readonly affected: readonly string[]
  readonly finding: Readonly<Record<string, unknown>>
}

describe.each(engines)('in $name', engine => {
  const random = createRandom(seed)
  let store: TestStore
  let world: CertifiedWorld
  let rows: StoredRows
  let all: readonly string[]
  let known: Known
  let certifier: Certifier
  const cleanUps: (() => Promise<void>)[] = []

  beforeAll(async () => {
    const anvil = await startAnvil()
    cleanUps.push(() => anvil.stop())
    store = await engine.create()
    world = await startCertifiedWorld({ ...anvil, store, chain: { traces: 'on' } })
    cleanUps.push(() => world.close())
    const deeds = await beginRandomDeeds(world, anvil.rpcUrl, random)
    for (let block = 0; block < 40; block++) {
      for (let left = 2 + random.below(4); left > 0; left--) await deeds.act().catch(() => undefined)
      await world.mine()
    }
    await world.level()
    rows = openStoredRows(store.location)
    all = [...(await everyAddress(world, true))]
    await world.stopServer()
    known = await readKnown(store.location, all)
    certifier = await openCertifier(store.location, anvil.rpcUrl)
    cleanUps.push(() => certifier.close())
  })
  afterAll(async () => {
    for (const cleanUp of cleanUps.reverse()) await cleanUp()
  })

  it('lost rows fail the certificates of exactly the accounts they are about, and are named, until they are put back', async () => {
    const losses = await chooseLosses(world, rows, known, random)
    for (const { kind, table, rows: lost, affected, finding } of losses) {
      const what = `seed ${seed}: ${kind} ${JSON.stringify(lost).slice(0, 300)}`
      const putBack: (() => Promise<void>)[] = []
      for (const row of lost) putBack.push(await rows.lose(table, row))
      for (const address of affected) {
        const certificate = await certifier.verify(address)
        expect(certificate.verdict, `${what}, ${address}`).toBe('failed')
        expect(certificate.findings, what).toContainEqual(expect.objectContaining(finding))
      }
      // Of a chunk, other accounts may have been read as well.
      const others = table === 'chunk' ? [] : all.filter(address => !affected.includes(address))
      for (let left = bystanders; left > 0 && others.length > 0; left--) {
        const other = others[random.below(others.length)] ?? ''
        expect((await certifier.verify(other)).verdict, `${what}, bystander ${other}`).toBe('proven')
      }
      for (const back of putBack) await back()
      for (const address of affected) {
        expect((await certifier.verify(address)).verdict, `${what} put back`).toBe('proven')
      }
    }
  })

  it('no altered or swapped record, block or row is called proven, and what is whole agrees with its checksums and headers', async () => {
    for (let left = bystanders; left > 0; left--) {
      const address = all[random.below(all.length)] ?? ''
      const { verdict, complete, unaltered, findings } = await certifier.verify(address, { verify: 'roots' })
      expect({ verdict, complete, findings, address }).toMatchObject({ verdict: 'proven', findings: [] })
      expect(unaltered).toMatchObject({ verdict: 'proven', unknownParts: ['transactions', 'senders'] })
      expect([unaltered?.roots, unaltered?.checksums]).toEqual([unaltered?.blocks, unaltered?.blocks])
    }
    const seen = new Set<string>()
    const alterations = await chooseAlterations(rows, known, random)
    expect(new Set(alterations.map(({ table }) => table)).size, `seed ${seed}`).toBe(4)
    for (const { what, affected, alter, putBack } of alterations) {
      await alter()
      const address = affected[random.below(affected.length)] ?? ''
      for (const options of [undefined, { verify: 'roots' }] as const) {
        const found = await verdictOf(certifier, address, options)
        expect(found, `seed ${seed}: ${what}, ${address} ${options?.verify}`).not.toBe('proven')
        for (const kind of found.split(' ')) seen.add(kind)
      }
      await putBack()
    }
    expect([...seen], `seed ${seed}`).toEqual(expect.arrayContaining(['failed', 'INDEX_DAMAGED']))
    const [someone = ''] = alterations.flatMap(({ affected }) => affected)
    expect(await verdictOf(certifier, someone, undefined), `seed ${seed}: ${someone} put back`).toBe('proven')
  })
})

/** A refusal calls nothing proven either. */
async function verdictOf(
  certifier: Certifier,
  address: string,
  options: CertificateOptions | undefined
): Promise<string> {
  try {
    const { verdict, findings } = await certifier.verify(address, options)
    return [verdict, ...findings.map(({ kind }) => kind)].join(' ')
  } catch (error) {
    if (error instanceof Refusal) return error.reason
    if (error instanceof StoreError) return error.name
    throw error
  }
}

/** Some rows of every kind there is. */
async function chooseLosses(
  world: CertifiedWorld,
  rows: StoredRows,
  known: Known,
  random: Random
): Promise<readonly Loss[]> {
  const pick = <T>(list: readonly T[]) => list[random.below(list.length)] as T
  const head = Number(await world.rpc('eth_blockNumber'))
  const hashOf = async (id: number) => {
    const { blockNumber, index } = toPosition(id)
    const height = `0x${blockNumber.toString(16)}`
    const block = (await world.rpc('eth_getBlockByNumber', height, false)) as { transactions: string[] }
    return block.transactions[index] ?? ''
  }
  const records = await rows.list('tx')
  const blocks = (await rows.list('block')).filter(
    // The head is read with each answer: without it there is no index.
    ({ number }) => known.inBlock(Number(number)).length > 0 && Number(number) !== head
  )
  const extras = (await rows.list('block_extra')).filter(
    ({ number }) => known.withEvents(Number(number)).length > 0
  )
  const found: Loss[] = []
  for (let left = perKind; left > 0; left--) {
    const [record, block, extra, hashed] = [pick(records), pick(blocks), pick(extras), pick(records)]
    const transactionHash = await hashOf(Number(record.id))
    const lostHash = await hashOf(Number(hashed.id))
    const number = Number(block.number)
    const extraNumber = Number(extra.number)
    const owner = pick(known.owners)
    const withEvents = pick(known.withEvents(Number(pick(extras).number)))
    const chunks = async (
      section: keyof typeof sections,
      key: string
    ): Promise<Pick<Loss, 'table' | 'rows'>> => ({
      table: 'chunk',
      rows: await rows.chunksOf(section, key)
    })
    const damaged = { kind: 'INDEX_DAMAGED' }
    found.push(
      {
        ...{ kind: 'record', table: 'tx', rows: [record], affected: known.partiesOf(Number(record.id)) },
        finding: { kind: 'MISSING_RECORD', transactionHash }
      },
      {
        ...{ kind: 'block', table: 'block', rows: [block], affected: known.inBlock(number) },
        finding: { blockNumber: number }
      },
      {
        ...{ kind: 'extra', table: 'block_extra', rows: [extra], affected: known.withEvents(extraNumber) },
        finding: { ...damaged, blockNumber: extraNumber }
      },
      { ...(await chunks('address', owner.slice(2))), kind: 'address', affected: [owner], finding: damaged },
      { ...(await chunks('token', owner.slice(2))), kind: 'token', affected: [owner], finding: damaged },
      {
        ...(await chunks('event', withEvents.slice(2))),
        ...{ kind: 'event', affected: [withEvents], finding: damaged }
      },
      {
        ...(await chunks('hash', lostHash.slice(2, 14))),
        ...{ kind: 'hash', affected: known.partiesOf(Number(hashed.id)) },
        // A chunk has the hashes of many transactions, and not all of them are named.
        finding: { kind: 'MISSING_HASH' }
      }
    )
  }
  return found
}
