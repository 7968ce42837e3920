import { isConfirmed, isPending, type TransactionRecord } from '@chain-data/client/fetch'
import { plural } from '../shared/plural.ts'
import type { ListChanges } from './ListChanges.ts'

/** A list with what has happened to it. */
export interface ShownList {
  readonly records?: readonly TransactionRecord[] | undefined
  readonly changes: ListChanges
}

/** What has changed at the top of a list, for those who do not see it move; empty when nothing has. */
export function tellChanges(before: ShownList, after: ShownList): string {
  if (before.records === undefined || after.records === undefined || before === after) return ''
  const was = new Map(before.records.map(record => [record.hash, record]))
  const settled = after.records.filter(record => {
    const known = was.get(record.hash)
    return isConfirmed(record) && known !== undefined && isPending(known)
  })
  const failed = settled.filter(({ status }) => status === 4).length
  const [old, now] = [before.changes, after.changes]
  const arrived = [...now.arrived].filter(hash => !old.arrived.has(hash)).length
  const returned = [...now.returned.keys()].filter(hash => !old.returned.has(hash)).length
  const lost = now.gone.filter(({ hash }) => !old.gone.some(record => record.hash === hash)).length
  const say = (count: number, one: string, many: string) => (count === 0 ? [] : [plural(count, one, many)])
  return [
    ...say(arrived, 'new transaction', 'new transactions'),
    ...say(settled.length - failed, 'transaction succeeded', 'transactions succeeded'),
    ...say(failed, 'transaction failed', 'transactions failed'),
    ...say(returned, 'transaction is pending again', 'transactions are pending again'),
    ...say(lost, 'transaction was taken out', 'transactions were taken out')
  ].join(', ')
}
