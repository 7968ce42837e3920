import { patient } from '../../../../.config/patience.ts'

/** Polls until `look` returns something; fails with what it saw last. */
export async function eventually<T>(
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
  limitMs = 30_000
): Promise<T> {
  const deadline = performance.now() + patient(limitMs)
  for (;;) {
    const found = await look()
    if (found !== undefined && found !== false) return found
    if (performance.now() > deadline) throw new Error(`not in time: ${what}`)
    await new Promise(resolve => setTimeout(resolve, 10))
  }
}
