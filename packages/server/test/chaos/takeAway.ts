import pg from 'pg'

/** How a writer loses its database. */
export type Loss =
  /** The server process that works for it is told to end. */
  | 'backend'
  /** That process is killed: the whole server goes down then, and recovers from its log. */
  | 'server'
  /** The socket is cut in the middle of what is sent; the server finds out by itself. */
  | 'connection'
  /** The socket is cut after all has arrived: the server carries it out, and nobody is told. */
  | 'answer'

/**
 * Takes a database away from everybody who is connected to it, or from the one that holds the leader's lock.
 * @param url - of a test database, whose server runs on this machine and may be crashed.
 */
export async function takeAway(
  url: string,
  loss: 'backend' | 'server',
  from: 'everybody' | 'leader' = 'everybody'
): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  // A crash of the server ends this connection, too.
  client.on('error', () => undefined)
  await client.connect()
  const others = `FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
    ${from === 'leader' ? "AND pid IN (SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted)" : ''}`
  if (loss === 'backend') {
    await client.query(`SELECT pg_terminate_backend(pid, 5000) ${others}`)
  } else {
    const { rows } = await client.query<{ pid: number }>(`SELECT pid ${others} LIMIT 1`)
    for (const { pid } of rows) process.kill(pid, 'SIGKILL')
  }
  await client.end().catch(() => undefined)
}
