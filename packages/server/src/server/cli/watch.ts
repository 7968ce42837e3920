import { findServer, type ServerOptions } from './findServer.ts'
import { type FollowedEvent, followChanges } from './followChanges.ts'
import { formatEvent } from './formatEvent.ts'
import { asciiJson, clearRest, oneLine } from './terminal.ts'

/**
 * `chain-data watch`: prints every change of the histories of accounts as a running server reports it, until it is broken off.
 * Exit code 1 when there is no stream, 2 for a wrong configuration.
 */
export async function watch(
  chainId: number,
  addresses: readonly string[],
  { json, after, ...options }: ServerOptions & { readonly json?: boolean; readonly after?: string }
): Promise<void> {
  // A reader such as `head` may stop early.
  process.stdout.once('error', () => process.exit())
  const print = json ? printJson : printText
  const onBreak = (reason: string) =>
    process.stderr.write(`The stream broke: ${reason}. It is connected again.\n`)
  const followed = { chainId, addresses, after, onBreak }
  for await (const event of followChanges(await findServer(options), followed)) print(event)
}

function printJson({ cursor, event }: FollowedEvent): void {
  process.stdout.write(`${asciiJson({ cursor, ...event })}\n`)
}

/** A line for each change. On a terminal, the last line is replaced by how far the chain is known. */
function printText({ event }: FollowedEvent): void {
  const { isTTY } = process.stdout
  const line = oneLine(formatEvent(event))
  if (event.kind !== 'synced') process.stdout.write(`${line}${isTTY ? clearRest : ''}\n`)
  else if (isTTY) process.stdout.write(`${line}${clearRest}\r`)
}
