import type { Random } from '../../../devnet/src/platform/createRandom.ts'
import type { Known } from './readKnown.ts'
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
const perBytes = 12

/**
 * Flips one bit in each column of some rows of each table, and in each chunk that an account is read from, and exchanges the contents
 * of some pairs of rows.
 */
export async function chooseAlterations(
  rows: StoredRows,
  known: Known,
  random: Random
): Promise<readonly Alteration[]> {
  const affectedBy = {
    tx: (row: StoredRow) => known.partiesOf(Number(row.id)),
    block: (row: StoredRow) => known.inBlock(Number(row.number)),
    block_extra: (row: StoredRow) => known.withEvents(Number(row.number))
  }
  const pick = <T>(list: readonly T[]) => list[random.below(list.length)] as T
  const found: Alteration[] = []
  for (const table of ['tx', 'block', 'block_extra'] as const) {
    const list = (await rows.list(table)).filter(row => affectedBy[table](row).length > 0)
    // The head is read with each answer: without it there is no index.
    const usable = table === 'block' ? list.slice(0, -1) : list
    const columns = Object.keys(usable[0] ?? {}).filter(column => column !== 'number')
    for (const column of columns) {
      for (let left = column === 'rec' ? perBytes : perColumn; left > 0; left--) {
        const row = pick(usable)
        if (row[column] === undefined) continue
        found.push({
          ...changeOf(rows, table, row, { [column]: alter(column, row[column], random) }),
          affected: affectedBy[table](row)
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
  for (let left = perBytes; left > 0; left--) {
    const account = pick(known.owners)
    for (const section of ['address', 'token'] as const) {
      const chunks = await rows.chunksOf(section, account.slice(2))
      const changes = chunks.map(row =>
        changeOf(rows, 'chunk', row, { bytes: alter('bytes', row.bytes ?? '', random) })
      )
      found.push({
        ...{ what: changes.map(({ what }) => what).join('; '), table: 'chunk', affected: [account] },
        alter: async () => {
          for (const each of changes) await each.alter()
        },
        putBack: async () => {
          for (const each of changes) await each.putBack()
        }
      })
    }
  }
  return found
}

function changeOf(rows: StoredRows, table: AuditedTable, row: StoredRow, altered: StoredRow) {
  const before = Object.fromEntries(Object.keys(altered).map(column => [column, row[column] ?? 0]))
  return {
    ...{
      what: `${table} ${JSON.stringify(row).slice(0, 200)} with ${JSON.stringify(altered).slice(0, 200)}`,
      table
    },
    alter: () => rows.change(table, row, altered),
    putBack: () => rows.change(table, { ...row, ...altered }, before)
  }
}

function alter(column: string, value: string | number, random: Random): string | number {
  // With another bit the key may be that of another row.
  if (typeof value === 'number') return column === 'id' ? value + 1_000 : value ^ (1 << random.below(2))
  if (value === '') return '00'
  const bytes = Buffer.from(value, 'hex')
  const at = random.below(bytes.length)
  bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8))
  return bytes.toString('hex')
}
