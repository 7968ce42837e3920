import { useSyncExternalStore } from 'react'

const everyMs = 5_000
const listeners = new Set<() => void>()
let now = Date.now()
let timer: ReturnType<typeof setInterval> | undefined

/** Milliseconds since 1970, renewed every few seconds; one clock for the whole page. */
export function useNow(): number {
  return useSyncExternalStore(watchClock, readClock, readClock)
}

/** When the clock was renewed last, in milliseconds since 1970. */
export function readClock(): number {
  return now
}

/** Keeps the clock going. @returns Ends that; it stands while nobody watches. */
export function watchClock(listener: () => void): () => void {
  listeners.add(listener)
  if (timer === undefined) {
    // It may have stood for long.
    now = Date.now()
    timer = setInterval(() => {
      now = Date.now()
      for (const each of listeners) each()
    }, everyMs)
  }
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}
