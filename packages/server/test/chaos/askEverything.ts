import type { StoreReader } from '../../src/index/port/store.ts'
import { people } from '../../src/index/test/buildChain.ts'
import { decodeRecords, gather } from '../../src/index/test/readAll.ts'
import type { Hash } from '../../src/model/evm.ts'

/** What an index answered, question by question; undefined: it refused. */
export type Answers = ReadonlyMap<string, string | undefined>

/** What may be asked of an index besides its accounts. */
export interface Questions {
  readonly hashes: readonly Hash[]
  readonly blocks: readonly number[]
}

/** Asks an index for every history, pool, event, candidate, hash and block, and how it stands. */
export async function askEverything(reader: StoreReader, { hashes, blocks }: Questions): Promise<Answers> {
  const answers = new Map<string, string | undefined>()
  const snapshot = await reader.openSnapshot().catch(() => undefined)
  const ask = async (question: string, read: () => Promise<unknown>) => {
    answers.set(question, snapshot && (await read().then(toText, () => undefined)))
  }
  if (snapshot === undefined) return answers
  try {
    // A server answers nothing from an index that does not say how far it reaches.
    if ((await snapshot.indexedRange().catch(() => undefined)) === undefined) return answers
    await ask('range', () => snapshot.indexedRange())
    await ask('marks', () => snapshot.marks())
    await ask('identity', () => snapshot.identity())
    await ask('report', () => snapshot.writerReport())
    for (const address of people) {
      await ask(`history ${address}`, () => gather(mapChunks(snapshot.records(address))))
      await ask(`page ${address}`, () => gather(mapChunks(snapshot.records(address, { limit: 5 }))))
      await ask(`count ${address}`, () => snapshot.countHistory(address, 1_000))
      await ask(`pending ${address}`, () => snapshot.pending(address))
      await ask(`candidates ${address}`, () => gather(snapshot.holdingCandidates(address)))
    }
    for (const hash of hashes) await ask(`hash ${hash}`, () => snapshot.lookUpHash(hash))
    for (const number of blocks) await ask(`block ${number}`, () => snapshot.storedBlock(number))
    return answers
  } finally {
    await snapshot.close()
  }
}

async function* mapChunks(chunks: ReturnType<Awaited<ReturnType<StoreReader['openSnapshot']>>['records']>) {
  for await (const chunk of chunks) yield decodeRecords(chunk)
}

function toText(answer: unknown): string {
  return (
    JSON.stringify(answer, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value)) ?? 'none'
  )
}

/** Outcome of asking a damaged index, in questions. */
export interface Judgement {
  readonly right: number
  readonly refused: number
  /** The questions whose answers differ from the truth. */
  readonly wrong: readonly string[]
}

/** Compares the answers of a damaged index with the truth. */
export function judge(truth: Answers, answers: Answers): Judgement {
  let right = 0
  let refused = 0
  const wrong: string[] = []
  for (const [question, expected] of truth) {
    const answer = answers.get(question)
    if (answer === undefined) refused++
    else if (answer === expected) right++
    else wrong.push(`${question}: ${answer.slice(0, 200)} instead of ${expected?.slice(0, 200)}`)
  }
  return { right, refused, wrong }
}
