import { isConfirmed, isPending } from '@chain-data/client/fetch'
import { plural } from '../shared/plural.ts'
import { emptyHistory, type History } from './History.ts'

/** What has changed at the top of a history, for those who do not see it move; empty when nothing has. */
export function tellChanges(before: History, after: History): string {
  if (before === emptyHistory || before === after) return ''
  const was = new Map(before.records.map(record => [record.hash, record]))
  const settled = after.records.filter(record => {
    const known = was.get(record.hash)
    return isConfirmed(record) && known !== undefined && isPending(known)
  })
  const failed = settled.filter(({ status }) => status === 4).length
  const arrived = [...after.arrived].filter(hash => !before.arrived.has(hash)).length
  const returned = [...after.returned.keys()].filter(hash => !before.returned.has(hash)).length
  const lost = after.gone.filter(({ hash }) => !before.gone.some(record => record.hash === hash)).length
  const say = (count: number, one: string, many: string) => (count === 0 ? [] : [plural(count, one, many)])
  return [
    ...say(arrived, 'new transaction', 'new transactions'),
    ...say(settled.length - failed, 'transaction succeeded', 'transactions succeeded'),
    ...say(failed, 'transaction failed', 'transactions failed'),
    ...say(returned, 'transaction is pending again', 'transactions are pending again'),
    ...say(lost, 'transaction was taken out', 'transactions were taken out')
  ].join(', ')
}
