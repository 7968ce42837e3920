import { isDeepStrictEqual } from 'node:util'
import {
  type Address,
  type ChangePosition,
  ChangesExpiredError,
  type Snapshot,
  type StoreReader,
  StoreUnavailableError
} from '@chain-data/index'
import { FoldedHistories, gather, people, readHistory, readShown, withSnapshot } from '@chain-data/index/test'
import type { Random } from '../../../devnet/src/platform/createRandom.ts'
import { candidateText, type Position, type SeededChain } from './createSeededChain.ts'

/** Compares an answer of a snapshot with the branch that the snapshot shows. @returns the difference, if there is one. */
export type Question = (snapshot: Snapshot) => Promise<string | undefined>

/** Readers that repeat their questions. */
export interface Readers {
  /** Number of right answers until now. */
  answers(): number
  /** Number of refusals that a caller may retry. */
  refusals(): number
  /** Wrong answers, and refusals that do not pass. */
  readonly faults: readonly string[]
  /** Ends them, and their connections. */
  stop(): Promise<void>
}

const pageSize = 7
const maxPages = 3
/** Pause after each answer, so that the readers leave time to the writer. */
const pauseMs = 5

/**
 * Repeats all questions side by side until it is stopped.
 * @param reader - is closed by `stop`.
 */
export function readThroughout(reader: StoreReader, questions: readonly Question[]): Readers {
  const faults: string[] = []
  let [answers, refusals, isOver] = [0, 0, false]
  const ask = async (question: Question) => {
    while (!isOver) {
      try {
        const fault = await withSnapshot(reader, question)
        if (fault === undefined) answers++
        else faults.push(fault)
      } catch (error) {
        if (error instanceof StoreUnavailableError) refusals++
        else faults.push(String(error))
      }
      await new Promise(resolve => setTimeout(resolve, pauseMs))
    }
  }
  const asking = questions.map(ask)
  return {
    answers: () => answers,
    refusals: () => refusals,
    faults,
    async stop() {
      isOver = true
      await Promise.all(asking)
      await reader.close()
    }
  }
}

/** Asks for some pages of an account, from a random position, or for its holding candidates. */
export function questionOfAccounts(chain: SeededChain, random: Random): Question {
  return async snapshot => {
    const head = (await snapshot.indexedRange())?.to
    if (head === undefined) return 'an index that has blocks is shown as empty'
    const address = people[random.below(people.length)] as Address
    if (random.below(4) === 0) {
      const found = (await gather(snapshot.holdingCandidates(address))).map(candidateText)
      const wanted = chain.candidatesAt(head.hash, address)
      const isRight = found.length === wanted.size && found.every(each => wanted.has(each))
      return isRight
        ? undefined
        : `candidates of ${address} at block ${head.number}: ${found} for ${[...wanted]}`
    }
    let olderThan: Position = { blockNumber: 1 + random.below(2 * head.number), index: 0 }
    for (let page = 0; page < maxPages; page++) {
      const part = { olderThan, limit: pageSize }
      const found = await readHistory(snapshot, address, part)
      const wanted = chain.historyAt(head.hash, address, part)
      if (!isDeepStrictEqual(found, wanted)) {
        const texts = [found, wanted].map(list => list.map(({ hash }) => hash.slice(0, 10)).join(' '))
        return `history of ${address} at block ${head.number}, page ${page}: ${texts.join(' for ')}`
      }
      olderThan = found.at(-1) ?? olderThan
    }
    return undefined
  }
}

/** Looks up a transaction that is, or was, in a block. */
export function questionOfHashes(chain: SeededChain, random: Random): Question {
  return async snapshot => {
    const hash = chain.everHashes[random.below(chain.everHashes.length)] ?? '0x'
    const found = await snapshot.lookUpHash(hash)
    // Read afterwards: for a hash that a replica does not know, the snapshot goes over to the primary.
    const head = (await snapshot.indexedRange())?.to
    if (head === undefined) return 'an index that has blocks is shown as empty'
    const wanted = chain.positionAt(head.hash, hash)
    const isRight =
      found.kind === 'confirmed'
        ? isDeepStrictEqual(found.position, wanted)
        : wanted === undefined &&
          (found.kind === 'unknown' || chain.isOnBranch(head.hash, found.commonAncestor))
    return isRight
      ? undefined
      : `${hash} at block ${head.number}: ${JSON.stringify(found)} for ${JSON.stringify(wanted)}`
  }
}

/**
 * Keeps all histories by the log of changes alone, from one snapshot to the next, also across servers.
 * @param onExpired - called when the changes since the last snapshot are gone; the histories are then read again.
 */
export function questionOfChanges(random: Random, onExpired: () => void): Question {
  let last: { readonly histories: FoldedHistories; readonly position: ChangePosition } | undefined
  return async snapshot => {
    // The log reports what a reorg removed once the index is settled.
    if (!(await snapshot.marks()).settled) return undefined
    const { newest } = await snapshot.changeBounds()
    const { histories, position } = last ?? { histories: new FoldedHistories(), position: newest }
    if (last === undefined)
      for (const address of people) histories.begin(address, await readShown(snapshot, address))
    // After any failure it begins anew.
    last = undefined
    try {
      for await (const { changes } of snapshot.changes(position))
        for (const change of changes) histories.take(change)
    } catch (error) {
      if (!(error instanceof ChangesExpiredError)) throw error
      onExpired()
      return undefined
    }
    const address = people[random.below(people.length)] as Address
    const isRight = isDeepStrictEqual(histories.of(address), await readShown(snapshot, address))
    if (!isRight) return `the changes up to ${newest.entry} give another history of ${address}`
    last = { histories, position: newest }
    return undefined
  }
}
