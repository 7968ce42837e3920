import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { StoreReader } from '@chain-data/index'
import {
  chainFiles,
  chainSchema,
  openOwnPostgresReader,
  openPostgresWriter,
  openSqliteReader,
  openSqliteWriter,
  queryOnce,
  startPostgres,
  temporaryFolder
} from '@chain-data/index/test'
import { afterAll, expect, test } from 'vitest'
import { type Answers, askEverything, judge } from './askEverything.ts'
import { isFull, report, seed } from './chaosSizes.ts'
import { fillIndex, identity, questions } from './flippedIndex.ts'

/** An index in files. */
interface IndexInFiles {
  readonly files: readonly IndexFile[]
  readonly truth: Answers
  /** Asks for everything when one bit of the whole files has flipped. @param n - of the flip. */
  answersOf(file: IndexFile, bit: number, n: number): Promise<Answers>
}

interface IndexFile {
  readonly path: string
  /** What is in it. */
  readonly name: string
  readonly bytes: number
  /** Where the pieces that are not empty begin. The others are free room, whose bits say nothing. */
  readonly pieces: readonly number[]
}

const pieceBytes = 256

function readFile(path: string, name: string): IndexFile {
  const content = readFileSync(path)
  const starts = Array.from({ length: Math.ceil(content.length / pieceBytes) }, (_, i) => i * pieceBytes)
  const isUsed = (start: number) => content.subarray(start, start + pieceBytes).some(byte => byte !== 0)
  return { path, name, bytes: content.length, pieces: starts.filter(isUsed) }
}

const removals: (() => Promise<void>)[] = []
afterAll(async () => {
  for (const remove of removals) await remove()
})

async function fillSqlite(): Promise<IndexInFiles> {
  const { path: folder, remove } = await temporaryFolder()
  removals.push(remove)
  const writer = await openSqliteWriter(folder, identity, {
    mergeFactor: 2,
    unmergedBlocks: 8,
    mergeAfterMs: 0
  })
  await fillIndex(writer)
  await writer.close()
  const path = chainFiles(folder, identity.chainId).database
  const whole = `${path}.whole`
  copyFileSync(path, whole)
  const openReader = () => openSqliteReader(folder, identity.chainId)
  const truth = await askOnce(openReader)
  return {
    files: [{ ...readFile(whole, 'database'), path }],
    truth,
    async answersOf(_, bit, n) {
      for (const suffix of ['-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true })
      copyFileSync(whole, path)
      if (n % 2 === 0) {
        flip(path, bit)
        return askOnce(openReader)
      }
      return askOnce(openReader, async reader => {
        await (await reader.openSnapshot()).close()
        flip(path, bit)
      })
    }
  }
}

/**
 * PostgreSQL's own checksums of pages, which later versions have by default, would find what nothing else may. The server is started
 * for each flip: nothing is left in its memory, and all that it reads comes from its files.
 */
async function fillPostgres(): Promise<IndexInFiles> {
  const server = await startPostgres({ settings: { ignore_checksum_failure: 'on' } })
  removals.push(() => server.stop())
  const url = await server.createDatabase()
  const layout = { mergeFactor: 2, unmergedBlocks: 2, pieceRows: 50 }
  const writer = await openPostgresWriter(url, identity, layout)
  await fillIndex(writer)
  await writer.close()
  const openReader = () => openOwnPostgresReader([url], identity.chainId)
  const truth = await askOnce(openReader)
  const relations = (await queryOnce(url, relationsQuery)) as { name: string; path: string }[]
  await server.halt()
  const files = relations.flatMap(({ name, path }) => filesOf(name, join(server.socketFolder, 'data', path)))
  const whole = files.map(({ path }) => ({ path, content: readFileSync(path) }))
  return {
    files,
    truth,
    async answersOf({ path }, bit) {
      flip(path, bit)
      await server.start()
      try {
        return await askOnce(openReader)
      } finally {
        await server.halt()
        // All of them: reads leave notes in pages, such as that an index leads to a row that is gone.
        for (const file of whole) writeFileSync(file.path, file.content)
      }
    }
  }
}

/** Tables, their indexes, and what is kept beside them of long values. */
const relationsQuery = `
  WITH own AS (SELECT oid, reltoastrelid FROM pg_class WHERE relnamespace = '${chainSchema(identity.chainId)}'::regnamespace)
  SELECT relname::text AS name, pg_relation_filepath(oid) AS path FROM pg_class
  WHERE pg_relation_filepath(oid) IS NOT NULL AND oid IN (
    SELECT oid FROM own UNION SELECT reltoastrelid FROM own
    UNION SELECT indexrelid FROM pg_index JOIN own ON indrelid = reltoastrelid)
  ORDER BY oid`

/** The file of a relation and those of its maps of free space and of visible pages. */
function filesOf(name: string, path: string): readonly IndexFile[] {
  return readdirSync(dirname(path))
    .filter(file => file === basename(path) || file.startsWith(`${basename(path)}_`))
    .sort()
    .map(file => join(dirname(path), file))
    .map(each => readFile(each, name))
}

/** An index that cannot even be opened refuses everything. */
async function askOnce(
  openReader: () => Promise<StoreReader>,
  prepare?: (reader: StoreReader) => Promise<void>
): Promise<Answers> {
  const reader = await openReader().catch(() => undefined)
  if (reader === undefined) return new Map()
  try {
    await prepare?.(reader)
    return await askEverything(reader, questions)
  } finally {
    await reader.close()
  }
}

/** Inverts one bit of a file in place. */
function flip(path: string, bit: number): void {
  const content = readFileSync(path)
  const at = Math.floor(bit / 8)
  content[at] = (content[at] ?? 0) ^ (1 << (bit % 8))
  writeFileSync(path, content)
}

function random(n: number): number {
  let hash = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(n + 1, 0xc2b2ae35)
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  hash = Math.imul(hash ^ (hash >>> 12), 0x297a2d39)
  return ((hash ^ (hash >>> 15)) >>> 0) / 2 ** 32
}

/** Chooses among the pieces of all files. */
function chooseBit(files: readonly IndexFile[], n: number): readonly [file: IndexFile, bit: number] {
  let piece = Math.floor(random(2 * n) * files.reduce((sum, { pieces }) => sum + pieces.length, 0))
  for (const file of files) {
    const start = file.pieces[piece]
    if (start !== undefined) {
      const length = Math.min(pieceBytes, file.bytes - start)
      return [file, start * 8 + Math.floor(random(2 * n + 1) * length * 8)]
    }
    piece -= file.pieces.length
  }
  throw new Error('there are no files')
}

test.each([
  { engine: 'SQLite', fill: fillSqlite, short: 50 },
  { engine: 'PostgreSQL', fill: fillPostgres, short: 8 }
])(
  `a bit that flips in the files of $engine gives a refusal, never a wrong answer (SEED=${seed})`,
  async ({ engine, fill, short }) => {
    const flips = Number(process.env.FLIPS ?? (isFull ? 1_000 : short))
    const { files, truth, answersOf } = await fill()
    expect(truth.size).toBeGreaterThan(300)
    expect([...truth.values()]).not.toContain(undefined)
    const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
    const counts = { flips, unnoticed: 0, refused: 0, wrong: 0 }
    const wrong: string[] = []
    const flipped = new Map<string, number>()
    for (let n = 0; n < flips; n++) {
      const [file, bit] = chooseBit(files, n)
      flipped.set(file.name, (flipped.get(file.name) ?? 0) + 1)
      // Where it cannot even be opened everything is refused.
      const answers = await answersOf(file, bit, n).catch((): Answers => new Map())
      const judged = judge(truth, answers)
      if (judged.wrong.length > 0) {
        counts.wrong++
        wrong.push(`flip ${n}, ${file.name}, bit ${bit}: ${judged.wrong.slice(0, 2).join('\n   ')}`)
      } else if (judged.refused > 0) counts.refused++
      else counts.unnoticed++
    }
    report('flips.test.ts', { engine, files: files.length, bytes, questions: truth.size, ...counts })
    const most = [...flipped].toSorted(([, a], [, b]) => b - a).slice(0, 10)
    process.stdout.write(`  flips in ${most.map(([name, times]) => `${name} ${times}`).join(', ')}\n`)
    expect(wrong).toEqual([])
  },
  7_200_000
)
