import { randomBytes } from 'node:crypto'
import type { LoginFact, LoginStore } from '../../model/loginFact.ts'
import { StoreUnavailableError } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'

/** What the login throttle remembers beyond the life of the process. */
export interface LoginMemory {
  /** Credentials are digested under it. */
  readonly secret: string
  /** Calls the listener with each fact that was read at the start, and then with those that other servers write. */
  onFact(listener: (fact: LoginFact) => void): void
  /** Has a fact written within a second or so. */
  save(fact: LoginFact): void
  /** Has a fact written at once. No request waits for that. */
  saveNow(fact: LoginFact): void
  /** Writes what is not written yet. */
  close(): Promise<void>
}

/** Creates a memory that ends with the process. */
export function createOwnMemory(): LoginMemory {
  return {
    secret: randomBytes(32).toString('base64url'),
    onFact() {},
    save() {},
    saveNow() {},
    close: async () => {}
  }
}

/** Interval in which facts are written, and those of other servers read. */
const exchangeEveryMs = 1_000
/** Facts that one transaction writes. */
const writtenAtOnce = 256
/** Facts that wait to be written at most, while a store is slow or away. */
const maxWaiting = 10_000

/**
 * Reads what a store remembers, and keeps writing to it in the background. A store that cannot be used is logged once;
 * what is remembered then ends with the process.
 *
 * @param openStore - throws where the store cannot be used.
 */
export async function openLoginMemory(
  openStore: () => LoginStore,
  { logger, everyMs = exchangeEveryMs }: { readonly logger: Logger; readonly everyMs?: number }
): Promise<LoginMemory> {
  let store: LoginStore | undefined
  try {
    store = openStore()
    const secret = await store.readSecret()
    return keepMemory(store, secret, await store.readNew(), { logger, everyMs })
  } catch (error) {
    logger.warn('what the login throttle remembers cannot be stored; it ends with the process', { error })
    await store?.close().catch(() => {})
    return createOwnMemory()
  }
}

function keepMemory(
  store: LoginStore,
  secret: string,
  stored: readonly LoginFact[],
  { logger, everyMs }: { readonly logger: Logger; readonly everyMs: number }
): LoginMemory {
  const waiting = new Map<string, LoginFact>()
  let listener: (fact: LoginFact) => void = () => {}
  let exchanging: Promise<void> | undefined
  let isAway = false
  let isOpen = true
  const timer = setInterval(exchangeSoon, everyMs).unref()

  async function exchange(): Promise<void> {
    try {
      do {
        const some = [...waiting].slice(0, writtenAtOnce)
        if (some.length > 0) await store.write(some.map(([, fact]) => fact))
        for (const [key, fact] of some) if (waiting.get(key) === fact) waiting.delete(key)
      } while (waiting.size >= writtenAtOnce)
      // What is known here and not written yet is newer.
      for (const fact of await store.readNew()) if (!waiting.has(keyOf(fact))) listener(fact)
      if (isAway) logger.info('what the login throttle remembers is stored again')
      isAway = false
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) await giveUp(error)
      else if (!isAway) logger.warn('what the login throttle remembers cannot be stored now', { error })
      isAway = true
    }
  }

  async function giveUp(error: unknown): Promise<void> {
    logger.warn('what the login throttle remembers cannot be stored; it ends with the process', { error })
    isOpen = false
    clearInterval(timer)
    waiting.clear()
    await store.close().catch(() => {})
  }

  function exchangeSoon(): void {
    if (!isOpen) return
    exchanging ??= exchange().finally(() => {
      exchanging = undefined
    })
  }

  function save(fact: LoginFact): void {
    const key = keyOf(fact)
    if (!isOpen || (waiting.size >= maxWaiting && !waiting.has(key))) return
    waiting.set(key, fact)
  }

  return {
    secret,
    onFact(heard) {
      listener = heard
      for (const fact of stored) heard(fact)
    },
    save,
    saveNow(fact) {
      save(fact)
      // After the exchange under way, which may have taken its facts already.
      if (exchanging === undefined) exchangeSoon()
      else void exchanging.then(exchangeSoon)
    },
    async close() {
      clearInterval(timer)
      await exchanging
      if (!isOpen) return
      await exchange()
      isOpen = false
      await store.close()
    }
  }
}

function keyOf({ kind, address, name }: LoginFact): string {
  return JSON.stringify([kind, address, name])
}
