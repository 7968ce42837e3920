/**
 * The generator, a process of its own: takes a `LoadOrder` as a message and answers with `LoadFigures`. It speaks HTTP/1.1 on
 * raw sockets and looks at nothing but status and length, so that it costs less than any server.
 */
import { connect, type Socket } from 'node:net'
import { authorization, type LoadFigures, type LoadOrder } from './messages.ts'

process.on('message', order => {
  run(order as LoadOrder).then(
    figures => process.send?.(figures),
    error => {
      process.stderr.write(`${error}\n`)
      process.exit(1)
    }
  )
})
process.once('disconnect', () => process.exit(0))

/** One answer: when its request was due, and how it ended. */
interface Answer {
  readonly dueMs: number
  readonly outcome: number | 'cut'
  readonly bytes: number
}

async function run({
  url,
  bodies,
  arrivals,
  connections,
  warmUpMs,
  measureMs
}: LoadOrder): Promise<LoadFigures> {
  const { hostname, port, host } = new URL(url)
  const requests = bodies.map(body => requestBytes(host, body))
  const isImpatient = arrivals.kind === 'open' && arrivals.isImpatient === true
  const isOnce = arrivals.kind === 'once'
  const fromMs = performance.now() + (isOnce ? 0 : warmUpMs)
  const toMs = isOnce ? Number.POSITIVE_INFINITY : fromMs + measureMs
  const latencies: number[] = []
  const outcomes: Record<string, number> = {}
  let bytes = 0
  let answers = 0
  let sent = 0
  let open = 0
  const idle: Connection[] = []
  const waiting: number[] = []
  const isOpenLoop = arrivals.kind === 'open'

  const count = ({ dueMs, outcome, bytes: length }: Answer) => {
    answers++
    const nowMs = performance.now()
    // A closed loop has no due times of its own: what ends in the measured time counts.
    const when = isOpenLoop ? dueMs : nowMs
    if (when < fromMs || when >= toMs) return
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
    if (outcome !== 200) return
    latencies.push(nowMs - dueMs)
    bytes += length
  }
  const send = (connection: Connection, dueMs: number) => {
    connection.send(requests[sent++ % requests.length] as Buffer, dueMs)
  }
  const onAnswer = (connection: Connection, answer: Answer) => {
    count(answer)
    const nowMs = performance.now()
    const due = isOpenLoop ? waiting.shift() : nowMs < toMs && !isOnce ? nowMs : undefined
    if (due === undefined) idle.push(connection)
    else send(connection, due)
  }
  const onCut = (answer: Answer | undefined) => {
    open--
    if (answer !== undefined) count(answer)
    if (performance.now() < toMs && !isOpenLoop && !isOnce) startOne(performance.now())
  }
  const startOne = (dueMs: number) => {
    open++
    send(new Connection(hostname, Number(port), onAnswer, onCut), dueMs)
  }
  const submit = (dueMs: number) => {
    const connection = idle.pop()
    if (connection !== undefined) send(connection, dueMs)
    else if (open < connections) startOne(dueMs)
    else if (!isImpatient) waiting.push(dueMs)
    else if (dueMs >= fromMs) outcomes.unsent = (outcomes.unsent ?? 0) + 1
  }

  const cpuBefore = process.cpuUsage()
  const startedMs = performance.now()
  if (!isOpenLoop) {
    for (let i = 0; i < connections; i++) startOne(startedMs)
    if (isOnce) while (idle.length < open) await until(performance.now() + 5)
    else await until(toMs)
  } else {
    const gapMs = 1000 / arrivals.perSecond
    let dueMs = startedMs
    while (dueMs < toMs) {
      for (const nowMs = performance.now(); dueMs <= nowMs && dueMs < toMs; dueMs += gapMs) submit(dueMs)
      await until(dueMs)
    }
    // What is under way still counts; what hangs does not hold the benchmark.
    const endMs = performance.now() + 10_000
    while (performance.now() < endMs && idle.length < open) await until(performance.now() + 20)
  }
  const { user, system } = process.cpuUsage(cpuBefore)
  const generatorLoad = (user + system) / 1000 / (performance.now() - startedMs)
  const measuredMs = isOnce ? performance.now() - startedMs : measureMs
  Connection.endAll()
  latencies.sort((a, b) => a - b)
  const at = (part: number) =>
    latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * part))] ?? Number.NaN
  return {
    perSecond: (latencies.length * 1000) / measuredMs,
    bytesPerSecond: (bytes * 1000) / measuredMs,
    latencyMs: { p50: at(0.5), p99: at(0.99), most: at(1) },
    answers,
    outcomes,
    generatorLoad
  }
}

async function until(ms: number): Promise<void> {
  const leftMs = ms - performance.now()
  await new Promise<void>(resolve => {
    if (leftMs >= 1) setTimeout(resolve, leftMs)
    else setImmediate(resolve)
  })
}

function requestBytes(host: string, body: string): Buffer {
  return Buffer.from(
    `POST /evm-chain HTTP/1.1\r\nhost: ${host}\r\nauthorization: ${authorization}\r\ncontent-type: application/json\r\naccept: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  )
}

const headEnd = Buffer.from('\r\n\r\n')
const lastChunk = Buffer.from('0\r\n\r\n')

/** One keep-alive connection with at most one request under way. */
class Connection {
  static readonly #all = new Set<Socket>()
  readonly #socket: Socket
  readonly #onAnswer: (connection: Connection, answer: Answer) => void
  #dueMs: number | undefined
  #head = Buffer.alloc(0)
  #status = 0
  /** Bytes of the answer that are still to come; NaN while its head is not complete, Infinity for a chunked one. */
  #left = Number.NaN
  #bytes = 0

  constructor(
    host: string,
    port: number,
    onAnswer: (connection: Connection, answer: Answer) => void,
    onCut: (answer: Answer | undefined) => void
  ) {
    this.#onAnswer = onAnswer
    this.#socket = connect({
      host,
      port,
      noDelay: true,
      // One buffer for all that is read: the bytes are only counted.
      onread: {
        buffer: Buffer.allocUnsafe(256 * 1024),
        callback: (length, buffer) => {
          this.#read((buffer as Buffer).subarray(0, length))
          return true
        }
      }
    })
    Connection.#all.add(this.#socket)
    this.#socket.on('error', () => {})
    this.#socket.on('close', () => {
      Connection.#all.delete(this.#socket)
      onCut(
        this.#dueMs === undefined ? undefined : { dueMs: this.#dueMs, outcome: 'cut', bytes: this.#bytes }
      )
    })
  }

  static endAll(): void {
    for (const socket of Connection.#all) socket.destroy()
  }

  send(request: Buffer, dueMs: number): void {
    this.#dueMs = dueMs
    this.#bytes = 0
    this.#left = Number.NaN
    this.#socket.write(request)
  }

  #read(data: Buffer): void {
    let body = data
    this.#bytes += data.length
    if (Number.isNaN(this.#left)) {
      const head = this.#head.length === 0 ? data : Buffer.concat([this.#head, data])
      const end = head.indexOf(headEnd)
      if (end < 0) {
        this.#head = Buffer.from(head)
        return
      }
      const text = head.toString('latin1', 0, end)
      this.#status = Number(text.slice(9, 12))
      this.#left = Number(/\r\ncontent-length: *(\d+)/i.exec(text)?.[1] ?? Number.POSITIVE_INFINITY)
      this.#head = Buffer.alloc(0)
      body = head.subarray(end + headEnd.length)
    }
    this.#left -= body.length
    // With one answer at a time, the last chunk is the end of what was read.
    const isEnd =
      this.#left === Number.POSITIVE_INFINITY
        ? body.subarray(-lastChunk.length).equals(lastChunk)
        : this.#left <= 0
    if (!isEnd || this.#dueMs === undefined) return
    const answer: Answer = { dueMs: this.#dueMs, outcome: this.#status, bytes: this.#bytes }
    this.#dueMs = undefined
    this.#onAnswer(this, answer)
  }
}
