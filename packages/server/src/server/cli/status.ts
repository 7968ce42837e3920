import { setTimeout as sleep } from 'node:timers/promises'
import type { Integrity } from '@chain-data/index'
import { type Backfill, mapProblems } from '../../model/sync.ts'
import { nameNodes } from '../../platform/nameNodes.ts'
import { askServer } from '../check/askServer.ts'
import { type ChainRow, readStores } from '../check/readStores.ts'
import { type Config, loadConfig } from '../config/config.ts'
import type { HealthReport } from '../http/operatorPages.ts'
import { wordChains } from './sayAtTerminal.ts'
import { type Column, formatDuration, formatTable, oneLine } from './terminal.ts'

const notFollowingExit = 1

const watchEveryMs = 2_000
const clearScreen = '\u001b[2J\u001b[H'

/**
 * `chain-data status`: asks the running server how every chain stands; if none answers, reads what the stores hold.
 * Exit code 0 when every chain is followed, 1 when one is not or no server answers, 2 for a wrong configuration. With
 * `watch` it asks again every two seconds until it is broken off.
 */
export async function status({
  config: file,
  json,
  watch
}: {
  readonly config?: string
  readonly json?: boolean
  readonly watch?: boolean
}): Promise<void> {
  const config = await loadConfig(file)
  do {
    const { text, isWell } = await look(config, json ?? false)
    // One table on a terminal; one after the other where they are kept.
    process.stdout.write(`${watch && !json && process.stdout.isTTY ? clearScreen : ''}${text}\n`)
    process.exitCode = isWell ? 0 : notFollowingExit
    if (watch) await sleep(watchEveryMs)
  } while (watch)
}

async function look(
  config: Config,
  json: boolean
): Promise<{ readonly text: string; readonly isWell: boolean }> {
  const answer = await askServer(config.listen)
  const rows = answer.kind === 'report' ? rowsOf(answer.report) : await readStores(config)
  const words = wordChains(config)
  const chains = rows.map(row =>
    mapProblems(row, problem => nameNodes(problem, words.get(row.chainId)?.hosts))
  )
  const server = answer.kind === 'report' ? (answer.report.closing ? 'closing' : 'running') : answer.kind
  const note = answer.kind === 'report' ? undefined : answer.note
  const text = json
    ? JSON.stringify({ server, ...(note === undefined ? {} : { note }), chains })
    : [...(note === undefined ? [] : [note]), formatStatus(chains)].join('\n')
  return { text, isWell: answer.kind === 'report' && chains.every(({ phase }) => phase === 'following') }
}

function rowsOf({ chains, solana = [] }: HealthReport): readonly ChainRow[] {
  return [
    ...chains.map(chain => ({ kind: 'evm' as const, ...chain })),
    ...solana.map(chain => ({ kind: 'solana' as const, ...chain }))
  ]
}

const columns: readonly Column<ChainRow>[] = [
  ['CHAIN', ({ kind, chainId }) => `${kind} ${chainId}`],
  ['PHASE', row => phase(row) + place(row)],
  [
    'INDEXED',
    ({ indexedFrom, indexedTo, backfill }) =>
      indexedTo === undefined ? '-' : `${indexedFrom}-${indexedTo}${left(backfill)}`
  ],
  ['HEAD', ({ head }) => text(head)],
  ['AGE', ({ headAgeSeconds }) => (headAgeSeconds === undefined ? '-' : `${headAgeSeconds}s`)],
  // Below 0 while the node's head is below the index.
  ['LAG', ({ lagBlocks, headBelowIndexBlocks: below }) => text(below === undefined ? lagBlocks : -below)],
  ['FINALIZED', ({ finalized }) => text(finalized)],
  ['DEGRADED', ({ degraded }) => (degraded === undefined ? '-' : degraded ? 'yes' : 'no')],
  ['POOL', row => pool(row)],
  ['CHECKED', ({ integrity }) => checked(integrity)],
  // Last, because it may be long.
  ['PROBLEM', ({ problem }) => oneLine(problem ?? '-')]
]

/** A table with one line per chain, aligned by blanks. `-`: not known, or nothing of the kind. */
function formatStatus(rows: readonly ChainRow[]): string {
  return formatTable(columns, rows)
}

function phase(row: ChainRow): string {
  return row.rollingBackTo === undefined ? row.phase : `going back to ${row.rollingBackTo}`
}

/** Words a server that does not index the chain itself. */
function place({ waiting, indexing }: ChainRow): string {
  return indexing === false ? ', only answers' : waiting ? ', waiting' : ''
}

/** Words the blocks older than the index that are still being added. */
function left(backfill: Backfill | undefined): string {
  if (backfill === undefined) return ''
  const { to, expectedSeconds, problem } = backfill
  const why = problem ?? (expectedSeconds === undefined ? '' : `${formatDuration(expectedSeconds)} left`)
  return `, back to ${to}${why === '' ? '' : `: ${oneLine(why)}`}`
}

/** Words how far the current pass of the background check is, and what it found. */
function checked({ passDone, damaged = 0, healed = 0 }: Integrity = {}): string {
  const parts = [
    passDone !== undefined && `${Math.floor(passDone * 100)}%`,
    damaged > 0 && `${damaged} damaged`,
    healed > 0 && `${healed} healed`
  ]
  return parts.filter(part => part !== false).join(', ') || '-'
}

function text(value: number | undefined): string {
  return value === undefined ? '-' : String(value)
}

function pool({ poolCovered, poolAgeSeconds }: ChainRow): string {
  if (poolCovered === undefined) return '-'
  const seen = poolAgeSeconds === undefined ? 'not seen' : `${poolAgeSeconds}s ago`
  return poolCovered ? seen : `partly, ${seen}`
}
