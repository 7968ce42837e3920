import type { AtSlot } from '../../nodes/solana/rpc.ts'

/** Questions whose answers belong together; each is told how old its answer may be at most. */
type Questions<T extends readonly unknown[]> = {
  readonly [K in keyof T]: (minContextSlot: number | undefined) => Promise<AtSlot<T[K]>>
}

/** Answers of one slot, or of as few slots as the node would give. */
export interface Together<T extends readonly unknown[]> {
  readonly values: T
  readonly oldestSlot: number
  readonly newestSlot: number
}

const MAX_ROUNDS = 3

/**
 * Asks several questions about one moment. A node answers each call at the slot it is at, and no call can ask for a
 * past one; so all are asked at once, and those that came from an older slot than the newest are asked again. That
 * usually ends in the first round. A cluster that moves on between any two calls ends it after three, and the slots
 * then tell how far apart the answers are.
 *
 * @param notBefore - what the first round asks for already; absent: any slot will do.
 * @throws whatever a question throws; then no other one is asked again.
 */
export async function readTogether<T extends readonly unknown[]>(
  questions: Questions<T>,
  notBefore?: number
): Promise<Together<T>> {
  let answers: AtSlot<unknown>[] = await Promise.all(questions.map(ask => ask(notBefore)))
  for (let round = 1; round < MAX_ROUNDS; round++) {
    const newest = Math.max(...answers.map(answer => answer.slot))
    if (answers.every(answer => answer.slot === newest)) break
    answers = await Promise.all(
      questions.map((ask, at) => {
        const answer = answers[at]
        return answer?.slot === newest ? answer : ask(newest)
      })
    )
  }
  const slots = answers.map(answer => answer.slot)
  return {
    values: answers.map(answer => answer.value) as unknown as T,
    oldestSlot: Math.min(...slots),
    newestSlot: Math.max(...slots)
  }
}
