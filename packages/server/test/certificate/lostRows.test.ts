import { startAnvil } from '@chain-data/devnet'
import { StoreError } from '@chain-data/index'
import { decodeAccountEvents, toPosition } from '@chain-data/index/record'
import type { CertificateOptions } from '@chain-data/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createRandom, type Random } from '../../../devnet/src/platform/createRandom.ts'
import { Refusal } from '../../src/platform/refusal.ts'
import { engines, type TestStore } from '../support/testStores.ts'
import { walkChain } from '../support/walkChain.ts'
import { chooseAlterations } from './chooseAlterations.ts'
import { everyAddress } from './everyAddress.ts'
import { type Certifier, openCertifier } from './openCertifier.ts'
import { beginRandomDeeds } from './randomDeeds.ts'
import { type CertifiedWorld, startCertifiedWorld } from './startCertifiedWorld.ts'
import { type AuditedTable, openStoredRows, type StoredRow, type StoredRows } from './storedRows.ts'

const seed = Number(process.env.CERTIFICATE_SEED ?? 9)
const perKind = 1
const bystanders = 3

/** A row to lose, whose accounts it is about, and what a certificate must say of it. */
interface Loss {
  readonly kind: string
  readonly table: AuditedTable
  readonly row: StoredRow
  readonly affected: readonly string[]
  readonly finding: Readonly<Record<string, unknown>>
}

describe.each(engines)('in $name', engine => {
  const random = createRandom(seed)
  let store: TestStore
  let world: CertifiedWorld
  let rows: StoredRows
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
    await world.stopServer()
    certifier = await openCertifier(store.location, anvil.rpcUrl)
    cleanUps.push(() => certifier.close())
  })
  afterAll(async () => {
    for (const cleanUp of cleanUps.reverse()) await cleanUp()
  })

  it('one lost row fails the certificates of exactly the accounts it is about, and is named, until it is put back', async () => {
    const all = [...(await everyAddress(world, true))]
    const losses = await chooseLosses(world, rows, random)
    const kinds = new Set(losses.map(({ kind }) => kind))
    expect([...kinds].sort(), `seed ${seed}`).toEqual(expectedKinds(store))
    for (const { kind, table, row, affected, finding } of losses) {
      const what = `seed ${seed}: ${kind} ${JSON.stringify(row).slice(0, 300)}`
      const putBack = await rows.lose(table, row)
      for (const address of affected) {
        const certificate = await certifier.verify(address)
        expect(certificate.verdict, `${what}, ${address}`).toBe('failed')
        expect(certificate.findings, what).toContainEqual(expect.objectContaining(finding))
      }
      const others = all.filter(address => !affected.includes(address))
      for (let left = bystanders; left > 0; left--) {
        const other = others[random.below(others.length)] ?? ''
        expect((await certifier.verify(other)).verdict, `${what}, bystander ${other}`).toBe('proven')
      }
      await putBack()
      for (const address of affected) {
        expect((await certifier.verify(address)).verdict, `${what} put back`).toBe('proven')
      }
    }
  })

  it('no altered or swapped record, block or row is called proven, and what is whole agrees with its checksums and headers', async () => {
    const all = [...(await everyAddress(world, true))]
    for (let left = bystanders; left > 0; left--) {
      const address = all[random.below(all.length)] ?? ''
      const { verdict, complete, unaltered, findings } = await certifier.verify(address, { verify: 'roots' })
      expect({ verdict, complete, findings, address }).toMatchObject({ verdict: 'proven', findings: [] })
      expect(unaltered).toMatchObject({ verdict: 'proven', unknownParts: ['transactions', 'senders'] })
      expect([unaltered?.roots, unaltered?.checksums]).toEqual([unaltered?.blocks, unaltered?.blocks])
    }
    const seen = new Set<string>()
    const alterations = await chooseAlterations(rows, random)
    expect(new Set(alterations.map(({ table }) => table)).size, `seed ${seed}`).toBeGreaterThan(4)
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

function expectedKinds({ location }: TestStore): readonly string[] {
  const kinds = [
    ...['block', 'creation', 'holding', 'internal party', 'nft party', 'receiver of nothing'],
    ...['receiver of value', 'record', 'sender', 'tip', 'token party', 'authorization', 'burn']
  ]
  return (location.kind === 'sqlite' ? [...kinds, 'hash'] : kinds).sort()
}

/** Some rows of every kind there is. */
async function chooseLosses(
  world: CertifiedWorld,
  rows: StoredRows,
  random: Random
): Promise<readonly Loss[]> {
  const addressRows = await rows.list('address_tx')
  const partiesOf = (id: number) =>
    addressRows.filter(row => row.tx_id === id).map(({ address }) => `0x${address}`)
  const hashAt = await readHashes(world)
  const found = new Map<string, Loss[]>()
  const add = (loss: Loss) => found.set(loss.kind, [...(found.get(loss.kind) ?? []), loss])

  for (const row of addressRows) {
    const address = `0x${row.address}`
    const { hash, kindOf } = hashAt(Number(row.tx_id))
    const finding = { kind: 'MISSING_TRANSACTION', transactionHash: hash }
    add({ kind: kindOf(address), table: 'address_tx', row, affected: [address], finding })
  }
  for (const row of await rows.list('tx')) {
    const finding = { kind: 'MISSING_RECORD', transactionHash: hashAt(Number(row.id)).hash }
    add({ kind: 'record', table: 'tx', row, affected: partiesOf(Number(row.id)), finding })
  }
  for (const row of await rows.list('tx_hash')) {
    const finding = { kind: 'MISSING_HASH', transactionHash: hashAt(Number(row.tx_id)).hash }
    add({ kind: 'hash', table: 'tx_hash', row, affected: partiesOf(Number(row.tx_id)), finding })
  }
  for (const row of await rows.list('block')) {
    const affected = addressRows.filter(({ tx_id }) => toPosition(Number(tx_id)).blockNumber === row.number)
    // The head is read with each answer: without it there is no index.
    if (affected.length === 0 || row.number === Number(await world.rpc('eth_blockNumber'))) continue
    const finding = { kind: 'MISSING_BLOCK', blockNumber: Number(row.number) }
    const addresses = [...new Set(affected.map(({ address }) => `0x${address}`))]
    add({ kind: 'block', table: 'block', row, affected: addresses, finding })
  }
  for (const row of await rows.list('account_event')) {
    const kind = await kindOfEvent(world, row)
    const finding = { kind: 'MISSING_EVENT', blockNumber: Number(row.block) }
    if (kind) add({ kind, table: 'account_event', row, affected: [`0x${row.address}`], finding })
  }
  const received = new Set((await walkChain(world.rpc)).transactions.flatMap(({ holdings }) => holdings))
  for (const row of await rows.list('holding')) {
    const owner = `0x${row.owner}`
    // A hint of the one standard that needs no id; candidates of blocks that are gone stay, and nobody needs them.
    if (!received.has(`${owner} 0x${row.contract} erc20`) || Number(row.standard) !== 0) continue
    const address = expect.stringMatching(new RegExp(String(row.contract), 'i')) as string
    const finding = { kind: 'MISSING_HOLDING', address }
    add({ kind: 'holding', table: 'holding', row, affected: [owner], finding })
  }
  return [...found.values()].flatMap(losses =>
    Array.from(
      { length: Math.min(perKind, losses.length) },
      () => losses[random.below(losses.length)] as Loss
    )
  )
}

interface Raw {
  readonly hash: string
  readonly from: string
  readonly to?: string | null
  readonly value: string
}

interface Receipt {
  readonly contractAddress?: string | null
  readonly logs: readonly { readonly topics: readonly string[] }[]
}

/** What each transaction has to do with an address, as the node tells it. */
async function readHashes({ rpc }: CertifiedWorld) {
  const transactions = new Map<number, Raw & Receipt>()
  const head = Number(await rpc('eth_blockNumber'))
  for (let number = 0; number <= head; number++) {
    const height = `0x${number.toString(16)}`
    const block = (await rpc('eth_getBlockByNumber', height, true)) as { transactions: Raw[] }
    const receipts = (await rpc('eth_getBlockReceipts', height)) as Receipt[]
    for (const [index, raw] of block.transactions.entries()) {
      transactions.set(number * 65_536 + index, { ...raw, ...(receipts[index] ?? { logs: [] }) })
    }
  }
  return (id: number) => {
    const raw = transactions.get(id)
    if (raw === undefined) throw new Error(`the chain has no transaction ${id}`)
    return {
      hash: raw.hash,
      kindOf(address: string): string {
        if (raw.from === address) return 'sender'
        if ([raw.to, raw.contractAddress?.toLowerCase()].includes(address)) {
          return BigInt(raw.value) > 0n ? 'receiver of value' : 'receiver of nothing'
        }
        const logs = raw.logs.filter(({ topics }) => topics.some(topic => topic.endsWith(address.slice(2))))
        if (logs.some(({ topics }) => topics.length === 4)) return 'nft party'
        return logs.some(({ topics }) => topics.length === 3) ? 'token party' : 'internal party'
      }
    }
  }
}

/** An authorization that was not valid changed nothing: nobody can miss it. */
async function kindOfEvent({ rpc }: CertifiedWorld, row: StoredRow): Promise<string | undefined> {
  const events = decodeAccountEvents(Buffer.from(String(row.rec), 'hex'))
  const [first] = events
  if (first === undefined || first.kind !== 'authorization') return first?.kind
  const nonceAt = async (height: number) =>
    Number(await rpc('eth_getTransactionCount', `0x${row.address}`, `0x${height.toString(16)}`))
  const block = (await rpc('eth_getBlockByNumber', `0x${Number(row.block).toString(16)}`, true)) as {
    transactions: { from: string }[]
  }
  const used = (await nonceAt(Number(row.block))) - (await nonceAt(Number(row.block) - 1))
  const sent = block.transactions.filter(({ from }) => from === `0x${row.address}`).length
  return used > sent ? 'authorization' : undefined
}
