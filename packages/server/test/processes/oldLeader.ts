/**
 * A program of its own: a leader that freezes in the middle of a deed, and goes on with it later as if nothing had happened.
 * Arguments: URL of a test database, the deed, and at which of its steps it stops itself (SIGSTOP), from 1: a step is a
 * piece that it sends to the database. The last argument says whether nothing of that piece is sent yet (`before`), or all
 * but its end (`within`). Says that it leads, that it freezes, how the deed ended
 * and how many steps it took.
 */
import { writeSync } from 'node:fs'
import { testIdentity } from '@chain-data/index/contract'
import { openPostgresWriter, startDatabaseDoor } from '@chain-data/index/test'
import { type LeaderDeed, leaderDeeds } from './leaderDeeds.ts'

const [url = '', deed = '', freezesAt = '1', place = 'before'] = process.argv.slice(2)
/** Too few to hold anything but the end of what is said. */
const endBytes = 12
const say = (line: string) => writeSync(1, `${line}\n`)
let isDoing = false
let steps = 0

const door = await startDatabaseDoor(url, async (piece, send) => {
  if (!isDoing || ++steps !== Number(freezesAt)) return 'pass'
  const sent = place === 'before' ? 0 : piece.length - endBytes
  if (sent > 0) await send(piece.subarray(0, sent))
  say('freezes')
  process.kill(process.pid, 'SIGSTOP')
  await send(piece.subarray(Math.max(0, sent)))
  return 'sent'
})
const writer = await openPostgresWriter(door.url, testIdentity)
const carryOut = leaderDeeds[deed as LeaderDeed]
say('leads')
isDoing = true
try {
  await carryOut(writer)
  say('has written')
} catch (error) {
  say(`was refused: ${error instanceof Error ? `${error.name}: ${error.message}` : error}`)
}
isDoing = false
say(`took ${steps} steps`)
await writer.close().catch(() => undefined)
await door.close()
