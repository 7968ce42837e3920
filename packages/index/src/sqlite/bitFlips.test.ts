import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { patient } from '../../../../.config/patience.ts'
import { buildChain, hashOf } from '../../test/buildChain.ts'
import { commitChain } from '../../test/commitChain.ts'
import { createNumbers } from '../../test/createNumbers.ts'
import { expectedHistory } from '../../test/expectedHistory.ts'
import { gather, readHistory, readPages, withSnapshot } from '../../test/readAll.ts'
import type { Address, Hash, IndexedBlock } from '../model/evm.ts'
import { StoreError } from '../platform/errors.ts'
import type { Snapshot } from '../port/store.ts'
import { loadSqliteDriver } from './loadDriver.ts'
import { chainFiles } from './open.ts'
import { openSqliteReader } from './openReader.ts'
import { openSqliteWriter } from './openWriter.ts'

const seed = Number(process.env.CHAIN_DATA_SEED ?? 1)
const flips = process.env.CHAOS === 'full' ? 4_000 : 25
const identity = { chainId: 31_337, genesisHash: hashOf('genesis') }

const account = (i: number) => hashOf(`account ${i}`).slice(0, 42) as Address
const accounts = Array.from({ length: 400 }, (_, i) => account(i))
/** Each has a few accounts; one has them all, a fifth of them is in no block. */
const blocks = buildChain(
  Array.from({ length: 90 }, (_, block) =>
    Array.from({ length: 12 }, (_, i) => {
      const parties = [0, 1, 2].map(step => account((block * 37 + i * 11 + step * 101) % 320))
      const owner = parties[1] ?? '0x'
      return {
        name: `${block}/${i}`,
        parties: [...new Set([account(0), ...parties])],
        candidates: [
          { owner, contract: account(1_000 + ((block + i) % 40)), standard: 'erc20' as const },
          {
            owner,
            contract: account(2_000 + i),
            standard: 'erc721' as const,
            tokenId: BigInt(block * 1_000 + i)
          }
        ]
      }
    })
  )
)

let folder: string
let path: string
let whole: Buffer

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'chain-data-flips-'))
  path = chainFiles(folder, identity.chainId).database
  // The older half of the blocks is merged, the newer half is not.
  const layout = { maxRuns: 0, mergeFactor: 3, unmergedBlocks: 45 }
  const writer = await openSqliteWriter(folder, identity, { ...layout, mergeAfterMs: null })
  for (const block of blocks) await commitOne(block)
  await writer.close()
  whole = readFileSync(path)

  async function commitOne(block: IndexedBlock) {
    await commitChain(writer, [block], { finalized: Math.min(45, block.ref.number) })
  }
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Each question that is asked of a file, as text. */
type Question = readonly [name: string, ask: (snapshot: Snapshot) => Promise<unknown>]

function questionsAbout(address: Address, hash: Hash): readonly Question[] {
  return [
    [`history of ${address}`, snapshot => readHistory(snapshot, address)],
    [`pages of ${address}`, snapshot => readPages(snapshot, address, 7)],
    [`count of ${address}`, snapshot => snapshot.countHistory(address, 1_000)],
    [`candidates of ${address}`, snapshot => gather(snapshot.holdingCandidates(address))],
    [`transaction ${hash}`, snapshot => snapshot.lookUpHash(hash)]
  ]
}

const toText = (value: unknown) =>
  JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? `${each}n` : each))

/** Asks each question of the file as it is. @returns the answers; those that were refused are left out. */
async function answers(questions: readonly Question[]): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>()
  const refused = (error: unknown) => expect(error, String(error)).toBeInstanceOf(StoreError)
  const reader = await openSqliteReader(folder, identity.chainId).catch(refused)
  if (reader === undefined) return found
  for (const [name, ask] of questions) {
    try {
      await withSnapshot(reader, async snapshot => {
        // A file in which no index is found is answered with a refusal too.
        if ((await snapshot.indexedRange()) !== undefined) found.set(name, toText(await ask(snapshot)))
      })
    } catch (error) {
      refused(error)
    }
  }
  await reader.close()
  return found
}

test(
  `whatever bit of the file is flipped, every answer is true or refused (CHAIN_DATA_SEED=${seed})`,
  async () => {
    const next = createNumbers(seed)
    const hashes = blocks.flatMap(({ transactions }) => transactions.map(each => each.transaction.hash))
    const file = openSync(path, 'r+')
    let noticed = 0
    try {
      for (let flip = 0; flip < flips; flip++) {
        const picked = [account(0), ...Array.from({ length: 3 }, () => accounts[next(400)] ?? '0x')]
        const questions = picked.flatMap(address => {
          const hash = next(3) === 0 ? hashOf(`unknown ${flip}`) : (hashes[next(hashes.length)] ?? '0x')
          return questionsAbout(address, hash)
        })
        const truth = await answers(questions)
        expect(truth.size).toBe(new Set(questions.map(([name]) => name)).size)
        const at = next(whole.length)
        const bit = next(8)
        writeSync(file, Buffer.from([(whole[at] ?? 0) ^ (1 << bit)]), 0, 1, at)
        const found = await answers(questions)
        writeSync(file, whole, at, 1, at)
        for (const [name, answer] of found) {
          expect(answer, `${name} after bit ${bit} of byte ${at} was flipped`).toBe(truth.get(name))
        }
        if (found.size < truth.size) noticed++
      }
    } finally {
      closeSync(file)
    }
    expect(noticed).toBeGreaterThan(0)
  },
  patient(120_000)
)

test('the file that bits are flipped in has merged runs and others, and answers truly', async () => {
  const connection = loadSqliteDriver().open(path, { busyTimeoutMs: 1_000 })
  const [row] = connection.prepare<{ runs: number }>('SELECT count(*) AS runs FROM run').all([])
  connection.close()
  expect(row?.runs).toBeGreaterThan(45)
  expect(row?.runs).toBeLessThan(60)
  const reader = await openSqliteReader(folder, identity.chainId)
  const snapshot = await reader.openSnapshot()
  for (const address of accounts.slice(300)) {
    expect(await readHistory(snapshot, address)).toStrictEqual(expectedHistory(blocks, address))
  }
  await snapshot.close()
  await reader.close()
})
