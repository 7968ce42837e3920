/** Callers of streams of events, a process of its own: `holdStreams.ts <url>`. An order opens them, `counts` reports, `release` ends them. */
import { Agent, type IncomingMessage, request } from 'node:http'
import { mapConcurrently } from '../../src/platform/concurrency/permits.ts'
import { authorization } from '../http/messages.ts'

/** Opens one stream for each body. */
export interface StreamOrder {
  readonly bodies: readonly string[]
}

/** What came so far. */
export interface StreamCounts {
  readonly open: number
  readonly events: number
}

const [, , url = ''] = process.argv
const agent = new Agent({ keepAlive: false })
const answers = new Set<IncomingMessage>()
let events = 0

function open(body: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { authorization, 'content-type': 'application/json', accept: 'text/event-stream' }
    const outgoing = request(`${url}/evm-chain`, { method: 'POST', agent, headers }, answer => {
      if (answer.headers['content-type'] !== 'text/event-stream') {
        answer.resume()
        // Shed, as the document has it: with the time to wait.
        if (answer.statusCode === 503) setTimeout(() => open(body).then(resolve, reject), 1_000)
        else reject(new Error(`no stream: ${answer.statusCode}`))
        return
      }
      answers.add(answer)
      answer.once('data', () => resolve())
      answer.on('data', (bytes: Buffer) => {
        events += bytes.toString('latin1').split('"record"').length - 1
      })
      answer.on('error', () => {})
      answer.once('close', () => answers.delete(answer))
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

process.on('message', (message: StreamOrder | 'counts' | 'release') => {
  const report = () => process.send?.({ open: answers.size, events } satisfies StreamCounts)
  if (message === 'counts') report()
  else if (message === 'release') {
    for (const answer of answers) answer.destroy()
    process.send?.('released')
  } else {
    // Not so many at once that load is shed.
    mapConcurrently(message.bodies, 16, open).then(report, error => {
      process.stderr.write(`${error}\n`)
      process.exit(1)
    })
  }
})
process.once('disconnect', () => process.exit(0))
process.send?.('ready')
