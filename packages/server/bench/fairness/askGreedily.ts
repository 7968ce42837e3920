/** The greedy project, a process of its own: `askGreedily.ts <url> batches|unread`. Tells what it was answered when asked. */

import { setTimeout as sleep } from 'node:timers/promises'
import { greed, headersOf } from './benchFairness.ts'

const [, , url = '', kind = ''] = process.argv
const outcomes: Record<string, number> = {}
const count = (outcome: string) => {
  outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
}
const send = (body: string) =>
  fetch(`${url}/evm-chain`, { method: 'POST', headers: headersOf('greedy'), body }).catch(() => undefined)

async function sendBatches(from: number): Promise<void> {
  for (let time = 0; ; time++) {
    const answer = await send(greed.batch(from + time * 100))
    count(answer === undefined ? 'cut' : String(answer.status))
    await answer?.arrayBuffer().catch(() => {})
    // As a client that is greedy, and no attacker that never waits.
    if (answer?.status !== 200) await sleep(20)
  }
}

async function openHistories(): Promise<void> {
  for (;;) {
    const answer = await send(greed.history)
    count(answer === undefined ? 'cut' : String(answer.status))
    // Held, and not read; then begun anew.
    await sleep(answer?.status === 200 ? 1_000 : 100)
    await answer?.body?.cancel().catch(() => {})
  }
}

if (kind === 'batches') {
  for (let connection = 0; connection < greed.connections; connection++) void sendBatches(connection * 37)
} else {
  for (let history = 0; history < greed.unreadHistories; history++) void openHistories()
}
process.on('message', () => process.send?.(outcomes))
process.on('disconnect', () => process.exit(0))
setTimeout(() => process.send?.('begun'), 300)
