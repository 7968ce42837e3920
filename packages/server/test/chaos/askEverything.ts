import type { Hash, Snapshot, StoreReader } from '@chain-data/index'
import { decodeRecords, gather, people } from '@chain-data/index/test'

/** What an index answered, question by question; undefined: it refused. */
export type Answers = ReadonlyMap<string, string | undefined>

/** What may be asked of an index besides its accounts. */
export interface Questions {
  readonly hashes: readonly Hash[]
  readonly blocks: readonly number[]
}

/**
 * Asks an index for every history, pool, event, candidate, hash and block, and how it stands. After a refusal it goes on with
 * a snapshot of its own, as the next call of a server would: one refusal hides no other answer.
 */
export async function askEverything(reader: StoreReader, { hashes, blocks }: Questions): Promise<Answers> {
  const answers = new Map<string, string | undefined>()
  let snapshot = await openReadable(reader)
  const ask = async (question: string, read: (snapshot: Snapshot) => Promise<unknown>) => {
    const answer = snapshot && (await read(snapshot).then(toText, () => undefined))
    answers.set(question, answer)
    if (answer !== undefined || snapshot === undefined) return
    await snapshot.close()
    snapshot = await openReadable(reader)
  }
  try {
    await ask('range', each => each.indexedRange())
    await ask('marks', each => each.marks())
    await ask('identity', each => each.identity())
    await ask('report', each => each.writerReport())
    for (const address of people) {
      await ask(`history ${address}`, each => gather(mapChunks(each.records(address))))
      await ask(`page ${address}`, each => gather(mapChunks(each.records(address, { limit: 5 }))))
      await ask(`count ${address}`, each => each.countHistory(address, 1_000))
      await ask(`pending ${address}`, each => each.pending(address))
      await ask(`candidates ${address}`, each => gather(each.holdingCandidates(address)))
    }
    for (const hash of hashes) await ask(`hash ${hash}`, each => each.lookUpHash(hash))
    for (const number of blocks) await ask(`block ${number}`, each => each.storedBlock(number))
    return answers
  } finally {
    await snapshot?.close()
  }
}

/** A server answers nothing from an index that cannot be opened or does not say how far it reaches. */
async function openReadable(reader: StoreReader): Promise<Snapshot | undefined> {
  const snapshot = await reader.openSnapshot().catch(() => undefined)
  if ((await snapshot?.indexedRange().catch(() => undefined)) !== undefined) return snapshot
  await snapshot?.close()
  return undefined
}

async function* mapChunks(chunks: ReturnType<Snapshot['records']>) {
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
