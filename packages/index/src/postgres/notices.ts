import type { Damage } from '../platform/errors.ts'
import type { ReadConnection } from './connection.ts'
import { type Client, connect, drop } from './driver.ts'
import { chainSchema } from './schema.ts'

/*
 * Writers wake readers, and readers report damage to the writer, by notifications of the database: these need no right to write,
 * and reach whatever machine the other is on. https://www.postgresql.org/docs/current/sql-notify.html
 */

const damageChannel = (chainId: number) => `${chainSchema(chainId)}_damage`
/** More would only be reported again. */
const maxKept = 10_000

/** @param connection - to the primary: a replica cannot notify. */
export async function notifyDamage(
  connection: ReadConnection,
  chainId: number,
  damage: Damage
): Promise<void> {
  const text = `SELECT pg_notify('${damageChannel(chainId)}', $1)`
  await connection.ask({ name: `${chainSchema(chainId)}.notify`, text }, [JSON.stringify(damage)])
}

/** Listens for reports over the writer's connection. @returns takes those that came since the last call. */
export async function listenForDamage(client: Client, chainId: number): Promise<() => readonly Damage[]> {
  const kept: Damage[] = []
  // The writer listens to no other channel.
  client.on('notification', ({ payload = '' }) => {
    if (kept.length < maxKept) kept.push(JSON.parse(payload))
  })
  await client.query(`LISTEN ${damageChannel(chainId)}`)
  return () => kept.splice(0)
}

/** Interval of calls without a notification: not every pooler passes them on, and none come while the connection is lost. */
const callEveryMs = 1_000

/** Returns the channel of the commits of a chain. */
export function commitChannel(chainId: number): string {
  return `${chainSchema(chainId)}_commits`
}

/**
 * Creates what hears of the commits of all chains, over one connection that is open while somebody listens.
 * @param url - of the primary: a replica cannot be listened to. Never logged.
 */
export function createCommitListener(url: string) {
  const listeners = new Set<{ readonly channel: string; readonly call: () => void }>()
  let connection: Promise<Client> | undefined
  let timer: NodeJS.Timeout | undefined

  const wake = (channel?: string) => {
    for (const each of listeners) if (channel === undefined || each.channel === channel) each.call()
  }

  function open(): Promise<Client> {
    const forget = () => {
      if (connection === opening) connection = undefined
    }
    const opening = connect(url, 'queries').then(client => {
      client.on('notification', ({ channel }) => wake(channel))
      client.once('end', forget)
      return client
    })
    opening.catch(forget)
    return opening
  }

  /** Where the server is away, the next call asks again. */
  async function ask(channels: readonly string[]): Promise<void> {
    connection ??= open()
    const client = await connection
    await client.query(channels.map(channel => `LISTEN ${channel}`).join(';'))
    // Of what was committed before.
    wake()
  }

  const check = () => {
    if (connection === undefined) ask(Array.from(listeners, ({ channel }) => channel)).catch(() => {})
    wake()
  }

  function end(): void {
    clearInterval(timer)
    timer = undefined
    connection?.then(drop, () => {})
    connection = undefined
  }

  return {
    /** @returns ends it. */
    listen(channel: string, call: () => void): () => void {
      const listener = { channel, call }
      listeners.add(listener)
      timer ??= setInterval(check, callEveryMs).unref()
      ask([channel]).catch(() => {})
      return () => {
        listeners.delete(listener)
        if (listeners.size === 0) end()
      }
    },
    close(): void {
      listeners.clear()
      end()
    }
  }
}
