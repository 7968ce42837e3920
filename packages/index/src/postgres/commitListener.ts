import { type Client, connect, drop } from './driver.ts'
import { chainSchema } from './schema.ts'

/** Commits are looked for at least so often: notifications do not pass every pooler, and none while the connection is lost. */
const lookEveryMs = 1_000

/** The channel on which readers hear of commits. */
export function commitChannel(chainId: number): string {
  return `${chainSchema(chainId)}_commits`
}

/** Hears of the commits of all chains over one connection, which is open while somebody listens. */
export interface CommitListener {
  /** @returns ends it. */
  listen(channel: string, listener: () => void): () => void
  close(): void
}

/** @param url - of the primary: a replica cannot be listened to. Never logged. */
export function createCommitListener(url: string): CommitListener {
  const listeners = new Set<{ readonly channel: string; readonly call: () => void }>()
  let client: Client | undefined
  let isConnecting = false
  let timer: NodeJS.Timeout | undefined

  const wake = (channel?: string) => {
    for (const each of listeners) if (channel === undefined || each.channel === channel) each.call()
  }

  async function open(): Promise<void> {
    if (client !== undefined || isConnecting) return
    isConnecting = true
    try {
      const opened = await connect(url, 'queries')
      if (listeners.size === 0) return drop(opened)
      client = opened
      opened.on('notification', ({ channel }) => wake(channel))
      opened.once('end', () => {
        if (client === opened) client = undefined
      })
      for (const { channel } of listeners) await opened.query(`LISTEN ${channel}`)
      // What was committed before.
      wake()
    } finally {
      isConnecting = false
    }
  }

  function look(): void {
    // A server that is away is asked again the next time.
    open().catch(() => undefined)
    wake()
  }

  function end(): void {
    clearInterval(timer)
    timer = undefined
    if (client !== undefined) drop(client)
    client = undefined
  }

  return {
    listen(channel, call) {
      const listener = { channel, call }
      listeners.add(listener)
      timer ??= setInterval(look, lookEveryMs).unref()
      if (client === undefined) open().catch(() => undefined)
      else client.query(`LISTEN ${channel}`).catch(() => undefined)
      return () => {
        listeners.delete(listener)
        if (listeners.size === 0) end()
      }
    },
    close() {
      listeners.clear()
      end()
    }
  }
}
