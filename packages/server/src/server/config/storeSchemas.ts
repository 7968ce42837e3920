import { z } from 'zod'

/** A database's name has to be in it: drivers make one up from the user's name otherwise. */
function isPostgresUrl(text: string): boolean {
  return /^postgres(ql)?:\/\//.test(text) && URL.canParse(text) && new URL(text).pathname.length > 1
}

const postgresForm = 'postgres://<user>@<host>/<database>'

/** Where the index is kept. */
export const storeSchema = z
  .string()
  .refine(text => /^sqlite:./.test(text) || isPostgresUrl(text))
  .default('sqlite:./chain-data')
  .meta({
    description:
      'where the index is kept: "sqlite:<folder>", "sqlite::memory:" for one that ends with the server, or ' +
      `"${postgresForm}" (PostgreSQL 15 or newer)`
  })

/** Copies of the store's database that queries go to. */
export const storeReplicasSchema = z
  .array(
    z
      .string()
      .refine(isPostgresUrl)
      .meta({ description: `"${postgresForm}" of a read replica` })
  )
  .default([])
  .meta({
    description: 'URLs of read replicas of a PostgreSQL store, for queries only: a list, empty for SQLite'
  })

/** Of one process; what indexes has its own beside them. */
export const storeConnectionsSchema = z.int().min(1).max(1_000).default(16).meta({
  description:
    'most connections that the queries of this process open to PostgreSQL and its replicas, all chains together: 1 to 1000'
})

/** Whether this process may become the one that indexes. */
export const indexingSchema = z
  .boolean()
  .default(true)
  .meta({
    description:
      'index the chains, or wait to do so while another process does: true; or false for a process that only ' +
      'answers (not with "sqlite::memory:")'
  })
