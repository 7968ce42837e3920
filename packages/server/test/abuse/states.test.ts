import { expect, it } from 'vitest'
import { checkAnswer } from './checkAnswer.ts'
import { converse } from './converse.ts'
import { startAbused } from './startAbused.ts'
import { stateCases } from './states.cases.ts'

it.each(stateCases)('$name', async ({ changes, prepare, requests, expect: expected, waits = false }) => {
  const { service, port, checkLeftovers, close } = await startAbused(changes)
  try {
    prepare?.(service)
    const received: string[] = []
    let saidToWait = false
    for (const [at, bytes] of requests.entries()) {
      const { answers, raw } = await converse(port, bytes)
      expect(answers).toHaveLength(1)
      checkAnswer(answers[0]!, expected[at]!, bytes)
      const { status, headers, body } = answers[0]!
      if (status === 429 || status === 503) {
        saidToWait = true
        const { retryAfterMs } = JSON.parse(body).error.data
        expect(Number(headers.get('retry-after')) * 1_000).toBeGreaterThanOrEqual(retryAfterMs)
      }
      received.push(raw)
    }
    expect(saidToWait).toBe(waits)
    await checkLeftovers(received.join('\n'))
  } finally {
    await close()
  }
})
