import { closeSync, copyFileSync, openSync, readSync, rmSync, statSync, writeSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { chainFiles } from '../../src/index/sqlite/open.ts'
import { openSqliteReader } from '../../src/index/sqlite/openReader.ts'
import { openSqliteWriter } from '../../src/index/sqlite/openWriter.ts'
import { temporaryFolder } from '../support/indexHarness.ts'
import { type Answers, askEverything, judge } from './askEverything.ts'
import { isFull, report, seed } from './chaosSizes.ts'
import { fillIndex, identity, questions } from './flippedIndex.ts'

const flips = Number(process.env.FLIPS ?? (isFull ? 1_000 : 50))

let remove: () => Promise<void>
let whole: string
let file: string
let folder: string
let truth: Answers

beforeAll(async () => {
  const made = await temporaryFolder()
  folder = made.path
  remove = made.remove
  file = chainFiles(folder, identity.chainId).database
  whole = `${file}.whole`
  const writer = await openSqliteWriter(folder, identity, {
    epochTransactions: 40,
    mergeFanOut: 2,
    mergeAfterMs: 0,
    minUndoBlocks: 8,
    maxUndoBlocks: 16
  })
  await fillIndex(writer)
  await writer.close()
  copyFileSync(file, whole)
  truth = await answersOf()
}, 60_000)
afterAll(() => remove())

async function answersOf(flipOpen?: () => void): Promise<Answers> {
  const reader = await openSqliteReader(folder, identity.chainId)
  try {
    if (flipOpen !== undefined) {
      await (await reader.openSnapshot()).close()
      flipOpen()
    }
    return await askEverything(reader, questions)
  } finally {
    await reader.close()
  }
}

/** Inverts one bit of a file in place. */
function flip(path: string, bit: number): void {
  const descriptor = openSync(path, 'r+')
  const byte = Buffer.alloc(1)
  const at = Math.floor(bit / 8)
  readSync(descriptor, byte, 0, 1, at)
  byte[0] = (byte[0] ?? 0) ^ (1 << (bit % 8))
  writeSync(descriptor, byte, 0, 1, at)
  closeSync(descriptor)
}

function random(n: number): number {
  let hash = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(n + 1, 0xc2b2ae35)
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  hash = Math.imul(hash ^ (hash >>> 12), 0x297a2d39)
  return ((hash ^ (hash >>> 15)) >>> 0) / 2 ** 32
}

test(`a bit that flips in the file of SQLite gives a refusal, never a wrong answer (SEED=${seed})`, async () => {
  const counts = { flips, unnoticed: 0, refused: 0, wrong: 0 }
  const wrong: string[] = []
  const bits = statSync(whole).size * 8
  for (let n = 0; n < flips; n++) {
    for (const suffix of ['-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true })
    copyFileSync(whole, file)
    const bit = Math.floor(random(n) * bits)
    let answers: Answers
    try {
      if (n % 2 === 0) {
        flip(file, bit)
        answers = await answersOf()
      } else answers = await answersOf(() => flip(file, bit))
    } catch {
      answers = new Map()
    }
    const judged = judge(truth, answers)
    if (judged.wrong.length > 0) {
      counts.wrong++
      wrong.push(
        `flip ${n}, bit ${bit} (page ${Math.floor(bit / 8 / 4096) + 1}): ${judged.wrong.slice(0, 2).join('\n   ')}`
      )
    } else if (judged.refused > 0) counts.refused++
    else counts.unnoticed++
  }
  report('flips.test.ts', { engine: 'sqlite', bytes: bits / 8, questions: truth.size, ...counts })
  expect(wrong).toEqual([])
}, 3_600_000)
