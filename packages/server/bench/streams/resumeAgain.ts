import { setTimeout as sleep } from 'node:timers/promises'
import { workerData } from 'node:worker_threads'
import { accountsOf, timeStream } from './callers.ts'

/** What streams of one project resume from, again and again, until the thread is ended. */
const { url, oldest, streams } = workerData as {
  readonly url: string
  readonly oldest: string
  readonly streams: number
}

async function resume(stream: number): Promise<never> {
  for (;;) await timeStream(url, 'greedy', accountsOf(stream), oldest).catch(() => sleep(100))
}

for (let stream = 0; stream < streams; stream++) void resume(stream)
