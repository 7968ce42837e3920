import type { Client, Wire } from './driver.ts'

/** What sends rows of `COPY`; the driver has it and its types do not say so. */
interface CopySender {
  sendCopyFromChunk(bytes: Uint8Array): void
  endCopyFrom(): void
}

/**
 * Carries out several statements in one round trip, with the rows of every `COPY .. FROM STDIN` among them.
 * @param sql - statements without parameters. One that fails ends the script; a transaction that it has begun is then still
 *   open, and has failed.
 * @param rows - for each `COPY` in turn, whole (see `copyRows.ts`). Everything is sent at once: a server takes rows when it
 *   gets to their statement, and drops what is left of them when an earlier one has failed.
 * @throws as the client does.
 */
export function runScript(client: Client, sql: string, rows: readonly Uint8Array[] = []): Promise<void> {
  return new Promise((resolve, reject) => {
    client.query({
      submit: (wire: Wire) => {
        const copying = wire as Wire & CopySender
        // Leaves as one piece.
        wire.stream.cork()
        wire.query(sql)
        for (const each of rows) {
          copying.sendCopyFromChunk(each)
          copying.endCopyFrom()
        }
        wire.stream.uncork()
      },
      // The driver tells of every answer; only the last one counts.
      handleRowDescription: () => {},
      handleDataRow: () => {},
      handleCommandComplete: () => {},
      handleEmptyQuery: () => {},
      handleCopyInResponse: () => {},
      handleError: reject,
      handleReadyForQuery: () => resolve()
    })
  })
}
