import type { Damage } from '../platform/errors.ts'
import type { ReadConnection } from './connection.ts'
import type { Client } from './driver.ts'
import { chainSchema } from './schema.ts'

/*
 * Readers report damage to the writer by a notification of the database: it needs no right to write, and reaches whatever
 * machine the writer is on. https://www.postgresql.org/docs/current/sql-notify.html
 */

const channelOf = (chainId: number) => `${chainSchema(chainId)}_damage`
/** More would only be reported again. */
const maxKept = 10_000

/** @param connection - to the primary: a replica cannot notify. */
export async function notifyDamage(
  connection: ReadConnection,
  chainId: number,
  damage: Damage
): Promise<void> {
  const text = `SELECT pg_notify('${channelOf(chainId)}', $1)`
  await connection.ask({ name: `${chainSchema(chainId)}.notify`, text }, [JSON.stringify(damage)])
}

/** Listens for reports over the writer's connection. @returns takes those that came since the last call. */
export async function listenForDamage(client: Client, chainId: number): Promise<() => readonly Damage[]> {
  const channel = channelOf(chainId)
  const kept: Damage[] = []
  client.on('notification', ({ channel: notified, payload }) => {
    if (notified === channel && payload !== undefined && kept.length < maxKept) kept.push(JSON.parse(payload))
  })
  await client.query(`LISTEN ${channel}`)
  return () => kept.splice(0)
}
