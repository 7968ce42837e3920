import pg from 'pg'

/*
 * The client of PostgreSQL, for the files of this folder: the one place that may import it. A connection is made by
 * `connect.ts`, a pool of them with its `connectionConfig`.
 */
export const { Client, DatabaseError, Pool, types } = pg
/** One connection. */
export type Client = pg.Client
export type ClientBase = pg.ClientBase
export type ClientConfig = pg.ClientConfig
export type CustomTypesConfig = pg.CustomTypesConfig
export type DatabaseError = pg.DatabaseError
export type Pool = pg.Pool
export type PoolClient = pg.PoolClient
/** What a connection sends and hears, below its queries. */
export type Wire = pg.Connection
