import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { guardChild, stopChild } from '../../../devnet/src/platform/childGuard.ts'

/** What Ponder is to index, and where. */
export interface PonderOrder {
  /** Of its project. */
  readonly folder: string
  readonly nodeUrl: string
  /** `transfers`: every ERC-20 Transfer event; `transactions`: every transaction of the senders listed in `sendersFile`. */
  readonly subject: 'transfers' | 'transactions'
  readonly lastBlock: number
  /** A JSON list of addresses. */
  readonly sendersFile: string
  /** Of an empty database; absent: its default, PGlite in a folder. */
  readonly postgresUrl?: string
}

/** One run. */
export interface PonderFigures {
  /** From "Started historical sync" to "Completed historical indexing", as its log has them. */
  readonly ms: number
  /** From the start of its process until then. */
  readonly wholeMs: number
  /** Events that its indexing function was called with. */
  readonly events: number
  /** Processor time of all its threads in `ms`, without PostgreSQL's; NaN where the system does not tell. */
  readonly cpuMs: number
}

const patienceMs = 180_000

/**
 * Has Ponder index a chain from empty, and ends it.
 * @throws {Error} it fails, or is not done in three minutes; with the end of its log.
 */
export async function runPonder(order: PonderOrder): Promise<PonderFigures> {
  const { folder, postgresUrl } = order
  const pglite = mkdtempSync(join(tmpdir(), 'chain-data-bench-pglite-'))
  const words = [
    'start',
    '--schema',
    'bench',
    '--log-format',
    'json',
    '--hostname',
    '127.0.0.1',
    '--port',
    '0'
  ]
  const beganAtMs = performance.now()
  const child = spawn(process.execPath, ['node_modules/ponder/dist/esm/bin/ponder.js', ...words], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH ?? '',
      PONDER_TELEMETRY_DISABLED: 'true',
      BENCH_NODE: order.nodeUrl,
      BENCH_SUBJECT: order.subject,
      BENCH_LAST_BLOCK: String(order.lastBlock),
      BENCH_SENDERS: order.sendersFile,
      BENCH_PGLITE: pglite,
      ...(postgresUrl === undefined ? {} : { BENCH_POSTGRES: postgresUrl })
    }
  })
  guardChild(child)
  const timer = setTimeout(() => void stopChild(child), patienceMs)
  try {
    const lines: string[] = []
    child.stderr.on('data', (chunk: Buffer) => lines.push(chunk.toString()))
    let startedAtMs: number | undefined
    let cpuBeforeMs = Number.NaN
    let events = 0
    for await (const line of createInterface({ input: child.stdout })) {
      lines.push(line)
      const { msg = '', time = 0 } = readLine(line)
      if (/^Started .* historical sync/.test(msg)) {
        startedAtMs = time
        cpuBeforeMs = cpuMsOf(child.pid)
      }
      events += Number(/^Indexed (\d+) events/.exec(msg)?.[1] ?? 0)
      if (msg === 'Completed historical indexing' && startedAtMs !== undefined) {
        const cpuMs = cpuMsOf(child.pid) - cpuBeforeMs
        return { ms: time - startedAtMs, wholeMs: performance.now() - beganAtMs, events, cpuMs }
      }
    }
    throw new Error(`Ponder ended before it was done: ${lines.slice(-10).join('\n')}`)
  } finally {
    clearTimeout(timer)
    await stopChild(child)
    rmSync(pglite, { recursive: true, force: true })
  }
}

/** Linux counts it in hundredths of a second, the 14th and 15th word. @see proc_pid_stat(5) */
function cpuMsOf(pid: number | undefined): number {
  try {
    // The name of the program, in brackets, may hold spaces.
    const words = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.split(' ') ?? []
    return (Number(words[11]) + Number(words[12])) * 10
  } catch {
    return Number.NaN
  }
}

function readLine(line: string): { readonly msg?: string; readonly time?: number } {
  try {
    return JSON.parse(line) as { readonly msg?: string; readonly time?: number }
  } catch {
    return {}
  }
}
