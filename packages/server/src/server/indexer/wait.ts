import { setTimeout as sleep } from 'node:timers/promises'

/** Resolves after `ms` milliseconds, or at once when `signal` is aborted: whoever waits looks at the signal next. */
export type Wait = (ms: number, signal: AbortSignal) => Promise<void>

/** Waits by the machine's clock. */
export const waitByClock: Wait = (ms, signal) => sleep(ms, undefined, { signal }).catch(() => undefined)
