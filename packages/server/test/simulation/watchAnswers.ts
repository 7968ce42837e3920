import { setTimeout as sleep } from 'node:timers/promises'
import type { TransactionRecord } from '@chain-data/protocol'
import type { SimulatedService, WireFailure } from './startSimulatedService.ts'

/** What somebody was told who asked in the middle of everything. */
export interface Told {
  readonly address: string
  readonly askedAtMs: number
  readonly toldAtMs: number
  /** Absent when the call was refused. */
  readonly records?: readonly TransactionRecord[]
  readonly refusal?: WireFailure
}

interface AnswerWatch {
  /** What has been told since the last call. */
  take(): readonly Told[]
  stop(): Promise<void>
}

/** Asks for whole histories without a pause, whatever happens to the chain and the index meanwhile. */
export function watchAnswers(
  service: () => SimulatedService | undefined,
  addresses: () => readonly string[]
) {
  let told: Told[] = []
  let stopping = false
  async function run() {
    for (let turn = 0; !stopping; turn++) {
      const all = addresses()
      const address = all[turn % all.length]
      const askedAtMs = performance.now()
      const current = service()
      if (current === undefined || address === undefined) {
        await sleep(5)
        continue
      }
      const { result, error } = await current.ask('svc_getTransactionsByAddress', [address])
      // A server that is being closed may refuse; that is another test's subject.
      if (current !== service()) continue
      told.push({
        ...{ address, askedAtMs, toldAtMs: performance.now() },
        ...(error === undefined ? { records: result as TransactionRecord[] } : { refusal: error })
      })
      await sleep(1)
    }
  }
  const ended = run()
  return {
    take() {
      const taken = told
      told = []
      return taken
    },
    stop() {
      stopping = true
      return ended
    }
  } satisfies AnswerWatch
}
