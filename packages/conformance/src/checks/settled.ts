import type { Reading } from '../survey/Subject.ts'
import { differenceOf } from './differenceOf.ts'
import { Broken, NotShown } from './verdicts.ts'

const attempts = 4

/**
 * Holds several answers against a first one although the chain goes on meanwhile: where they do not fit, the first one is
 * read again, and only if it is still the same, the service is at fault.
 *
 * @param first - What the others are held against, read at any time before.
 * @param read - Reads it again.
 * @param work - Makes the other calls and throws {@link Broken} where they do not fit.
 * @throws {Broken} They do not fit, and the first one has not changed.
 * @throws {NotShown} It changed each time.
 */
export async function settled<T>(
  first: Reading<T>,
  read: () => Promise<Reading<T>>,
  work: (reading: Reading<T>) => Promise<void>
): Promise<void> {
  let base = first
  for (let attempt = 0; attempt < attempts; attempt++) {
    try {
      return await work(base)
    } catch (error) {
      if (!(error instanceof Broken)) throw error
      const again = await read()
      if (differenceOf(again.exact, base.exact) === undefined) throw error
      base = again
    }
  }
  throw new NotShown(`the answer changed ${attempts} times while others were held against it`)
}
