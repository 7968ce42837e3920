import { toPosition } from '@chain-data/index/record'
import type { Random } from '../../../devnet/src/platform/createRandom.ts'
import type { AuditedTable, StoredRow, StoredRows } from './storedRows.ts'

/** A way to alter what is stored, and the accounts whose certificates must not be proven then. */
interface Alteration {
  readonly what: string
  readonly table: AuditedTable
  readonly affected: readonly string[]
  alter(): Promise<void>
  putBack(): Promise<void>
}

const perColumn = 2
const perRecord = 12

/** Flips one bit in each column of some rows of each table, and exchanges the contents of some pairs of rows. */
export async function chooseAlterations(rows: StoredRows, random: Random): Promise<readonly Alteration[]> {
  const addressRows = await rows.list('address_tx')
  const named = (names: readonly (string | number | undefined)[]) => [
    ...new Set(names.map(name => `0x${name}`))
  ]
  const partiesOf = (id: number) => named(addressRows.filter(row => row.tx_id === id).map(row => row.address))
  const inBlock = (number: number) =>
    named(
      addressRows.filter(row => toPosition(Number(row.tx_id)).blockNumber === number).map(row => row.address)
    )
  const affectedBy: Readonly<Record<AuditedTable, (row: StoredRow) => readonly string[]>> = {
    address_tx: row => named([row.address]),
    tx: row => partiesOf(Number(row.id)),
    tx_hash: row => partiesOf(Number(row.tx_id)),
    block: row => inBlock(Number(row.number)),
    account_event: row => named([row.address]),
    holding: row => named([row.owner])
  }
  const pick = (list: readonly StoredRow[]) => list[random.below(list.length)] ?? {}
  const found: Alteration[] = []
  for (const table of Object.keys(affectedBy) as AuditedTable[]) {
    const list = (await rows.list(table)).filter(row => affectedBy[table](row).length > 0)
    // The head is read with each answer: without it there is no index.
    const usable = table === 'block' ? list.slice(0, -1) : list
    const columns = Object.keys(usable[0] ?? {}).filter(column => !skipped.has(column))
    for (const column of columns) {
      for (let left = column === 'rec' ? perRecord : perColumn; left > 0; left--) {
        const row = pick(usable)
        const altered = { [column]: alter(column, row[column] ?? 0, random) }
        found.push({
          ...{
            what: `${table} ${JSON.stringify(row).slice(0, 200)} with ${JSON.stringify(altered).slice(0, 200)}`,
            table
          },
          affected: affectedBy[table](row),
          alter: () => rows.change(table, row, altered),
          putBack: () => rows.change(table, { ...row, ...altered }, { [column]: row[column] ?? 0 })
        })
      }
    }
    if (!columns.includes('rec')) continue
    const [one, other] = [pick(usable), pick(usable)]
    if (one.rec === other.rec) continue
    const exchange = async (first: StoredRow, second: StoredRow) => {
      await rows.change(table, first, { rec: second.rec ?? '' })
      await rows.change(table, second, { rec: first.rec ?? '' })
    }
    found.push({
      ...{ what: `records of ${table} exchanged`, table },
      affected: [...new Set([...affectedBy[table](one), ...affectedBy[table](other)])],
      alter: () => exchange(one, other),
      putBack: () => exchange({ ...one, rec: other.rec ?? '' }, { ...other, rec: one.rec ?? '' })
    })
  }
  return found
}

/** Rows of another epoch are read by nobody; the row with the largest number is the head. */
const skipped = new Set(['epoch', 'number'])
/** Columns that are keys: with another bit they may be those of another row. */
const keys = new Set(['id', 'tx_id', 'block'])

function alter(column: string, value: string | number, random: Random): string | number {
  if (typeof value === 'number') return keys.has(column) ? value + 1_000 : value ^ (1 << random.below(2))
  if (value === '') return '00'
  const bytes = Buffer.from(value, 'hex')
  const at = random.below(bytes.length)
  bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8))
  return bytes.toString('hex')
}
