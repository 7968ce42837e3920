import type { EvmChainHealth } from '../http/statusPage/chainHealth.ts'
import { type Column, formatTable } from './formatTable.ts'

/** One chain as `chain-data status` shows it. `not running`: no server answered, so only the store was read. */
export type ChainRow = { readonly kind: 'evm' | 'solana'; readonly chainId: number } & {
  readonly phase: EvmChainHealth['phase'] | 'not running'
} & Partial<Omit<EvmChainHealth, 'chainId' | 'phase'>>

const columns: readonly Column<ChainRow>[] = [
  ['CHAIN', ({ kind, chainId }) => `${kind} ${chainId}`],
  ['PHASE', row => phase(row) + place(row)],
  [
    'INDEXED',
    ({ indexedFrom, indexedTo }) => (indexedTo === undefined ? '-' : `${indexedFrom}-${indexedTo}`)
  ],
  ['HEAD', ({ head }) => text(head)],
  ['LAG', ({ lagBlocks }) => text(lagBlocks)],
  ['FINALIZED', ({ finalized }) => text(finalized)],
  ['DEGRADED', ({ degraded }) => (degraded === undefined ? '-' : degraded ? 'yes' : 'no')],
  ['POOL', row => pool(row)],
  // Last, because it may be long.
  ['PROBLEM', ({ problem }) => oneLine(problem ?? '-')]
]

/** A table with one line per chain, aligned by blanks. `-`: not known, or nothing of the kind. */
export function formatStatus(rows: readonly ChainRow[]): string {
  return formatTable(columns, rows)
}

function phase(row: ChainRow): string {
  return row.rollingBackTo === undefined ? row.phase : `going back to ${row.rollingBackTo}`
}

/** Whether the server indexes the chain itself. */
function place({ waiting, indexing }: ChainRow): string {
  return indexing === false ? ', only answers' : waiting ? ', waiting' : ''
}

function text(value: number | undefined): string {
  return value === undefined ? '-' : String(value)
}

function pool({ poolCovered, poolAgeSeconds }: ChainRow): string {
  if (poolCovered === undefined) return '-'
  const seen = poolAgeSeconds === undefined ? 'not seen' : `${poolAgeSeconds}s ago`
  return poolCovered ? seen : `partly, ${seen}`
}

/** Nodes may put anything into their errors; a terminal must not obey it. */
function oneLine(value: string): string {
  return value.replace(/\p{Cc}+/gu, ' ')
}
