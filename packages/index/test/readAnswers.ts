import type { IndexedBlock } from '../src/model/evm.ts'
import { IndexDamagedError } from '../src/platform/errors.ts'
import type { Snapshot, StoreReader } from '../src/port/store.ts'
import { hashOf, people } from './buildChain.ts'
import { gather, readHistory, readPages } from './readAll.ts'

/** What a store answers to each question: a text, or the error of the damage that was met. */
export type Answers = ReadonlyMap<string, string | IndexDamagedError>

/** Asks everything that a store says of these blocks and their accounts. Errors other than those of damage are thrown. */
export async function readAnswers(reader: StoreReader, blocks: readonly IndexedBlock[]): Promise<Answers> {
  const answers = new Map<string, string | IndexDamagedError>()
  const ask = async <T>(name: string, question: () => Promise<T>): Promise<T | undefined> => {
    try {
      const answer = await question()
      answers.set(name, toText(answer))
      return answer
    } catch (error) {
      if (!(error instanceof IndexDamagedError)) throw error
      answers.set(name, error)
      return undefined
    }
  }
  let snapshot: Snapshot | undefined
  await ask('snapshot', async () => {
    snapshot = await reader.openSnapshot()
  })
  if (snapshot === undefined) return answers
  const opened = snapshot
  try {
    await ask('range', () => opened.indexedRange())
    for (const address of people) {
      await ask(`history of ${address}`, () => readHistory(opened, address))
      await ask(`pages of ${address}`, () => readPages(opened, address, 2))
      await ask(`count of ${address}`, () => opened.countHistory(address, 1_000))
      await ask(`events of ${address}`, () => gather(opened.accountEvents(address)))
      await ask(`candidates of ${address}`, () => gather(opened.holdingCandidates(address)))
    }
    for (const { ref, transactions } of blocks) {
      await ask(`block ${ref.number}`, () => opened.storedBlock(ref.number))
      for (const { transaction } of transactions.slice(0, 2)) {
        await ask(`hash ${transaction.hash}`, () => opened.lookUpHash(transaction.hash))
      }
    }
    for (const name of ['unknown', 'unknown, too']) await ask(name, () => opened.lookUpHash(hashOf(name)))
  } finally {
    await opened.close()
  }
  return answers
}

/** Returns the names of the questions whose answers were errors. */
export function refusedOf(answers: Answers): readonly string[] {
  return [...answers].filter(([, answer]) => typeof answer !== 'string').map(([name]) => name)
}

function toText(value: unknown): string {
  return JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? `${each}n` : each)) ?? 'undefined'
}
