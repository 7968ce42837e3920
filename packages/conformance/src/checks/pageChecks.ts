import { isConfirmed, type TransactionRecord } from '@chain-data/protocol'
import type { EvmAccount, Reading, Subject } from '../survey/Subject.ts'
import type { Check } from './Check.ts'
import { differenceOf } from './differenceOf.ts'
import { eachShown } from './eachShown.ts'
import { settled } from './settled.ts'
import { Broken, holds } from './verdicts.ts'

const method = 'svc_getTransactionsByAddress'

/** Most pages that are read of one history for one limit. */
const mostPages = 24

/** Most cursors that are tried of one history. */
const mostCursors = 16

type History = Reading<readonly TransactionRecord[]>

/** Looks at the histories that were read whole, each as often as it changes under the look. */
function onWholeHistories(
  look: (subject: Subject, account: EvmAccount, history: History) => Promise<void>
): Check['run'] {
  return async subject => {
    const accounts = (await subject.evmAccounts()).filter(({ isWhole }) => isWhole)
    await eachShown(accounts, 'history that can be read whole', async account => {
      const { address, history } = account
      await settled(
        history,
        () => subject.read(method, [address]),
        now => look(subject, account, now)
      )
      return history.value.length
    })
  }
}

/** Reads page behind page, as far as the bound goes, and holds each against its part of the whole. */
async function checkPages(subject: Subject, address: string, history: History, limit: number): Promise<void> {
  const whole = history.exact as readonly unknown[]
  // A first page has to reach the first confirmed record, or it has no cursor.
  const pending = history.value.filter(record => !isConfirmed(record)).length
  let options: { limit: number; before?: string } = { limit: limit + pending }
  for (let page = 1, read = 0; page <= mostPages; page++) {
    const { value, exact, exchange } = await subject.read(method, [address, options])
    const expected = whole.slice(read, read + options.limit)
    const different = differenceOf(exact, expected)
    holds(different === undefined, () => `page ${page} of ${limit}: ${different}`, history.exchange, exchange)
    read += expected.length
    const before = value.filter(isConfirmed).at(-1)?.hash
    if (before === undefined || read >= whole.length) return
    options = { limit, before }
  }
}

const limits = [1, 2, 7]

async function checkLimits(subject: Subject, { address }: EvmAccount, history: History): Promise<void> {
  await Promise.all(limits.map(limit => checkPages(subject, address, history, limit)))
  await Promise.all(
    limits.map(async limit => {
      const { exact, exchange } = await subject.read(method, [address, { limit }])
      const different = differenceOf(exact, (history.exact as unknown[]).slice(0, limit))
      holds(different === undefined, () => `limit ${limit}: ${different}`, history.exchange, exchange)
    })
  )
}

/** Evenly taken from all, the first and last among them. */
function sample<T>(items: readonly T[], count: number): readonly T[] {
  if (items.length <= count) return items
  return Array.from(
    { length: count },
    (_, at) => items[Math.round((at * (items.length - 1)) / (count - 1))] as T
  )
}

async function checkCursors(subject: Subject, { address }: EvmAccount, history: History): Promise<void> {
  const whole = history.exact as readonly unknown[]
  const cursors = [...history.value.entries()].filter(([, record]) => isConfirmed(record))
  await Promise.all(
    sample(cursors, mostCursors).map(async ([at, { hash }]) => {
      const { exact, exchange } = await subject.read(method, [address, { before: hash }])
      const different = differenceOf(exact, whole.slice(at + 1))
      holds(different === undefined, () => `before ${hash}: ${different}`, history.exchange, exchange)
    })
  )
}

async function checkNoOptions(subject: Subject, { address }: EvmAccount, history: History): Promise<void> {
  const { exact, exchange } = await subject.read(method, [address, {}])
  const different = differenceOf(exact, history.exact)
  holds(different === undefined, () => String(different), history.exchange, exchange)
}

/** No transaction has this hash. */
const unknownHash = `0x${'5eed'.repeat(16)}`

async function checkUnknownCursor(subject: Subject): Promise<void> {
  const chainId = await subject.chainOf('/evm-chain')
  const [account] = await subject.evmAccounts()
  await eachShown(
    account === undefined || chainId === undefined ? [] : [account],
    'account',
    async ({ address }) => {
      const call = { endpoint: '/evm-chain', method, chainId: chainId ?? 0 } as const
      const { exchange, body } = await subject.service.call({
        ...call,
        params: [address, { before: unknownHash }]
      })
      const { data } = (body as { error?: { data?: { reason?: string; path?: string } } }).error ?? {}
      const fits = data?.reason === 'INVALID_PARAMS' && data.path === '/params/1/before'
      if (!fits)
        throw new Broken('a cursor that nobody knows is not INVALID_PARAMS at /params/1/before', exchange)
      return 1
    }
  )
}

const base = {
  endpoints: ['/evm-chain'],
  where: '#/components/schemas/HistoryPage',
  extension: 'pages'
} as const

/** What holds for the pages of every history. */
export const pageChecks: readonly Check[] = [
  {
    ...base,
    name: 'pages/limits',
    shows: 'Pages of every length, put together, are the whole history.',
    where: '#/components/schemas/HistoryPage/properties/limit',
    run: onWholeHistories(checkLimits)
  },
  {
    ...base,
    name: 'pages/before',
    shows: 'Behind every confirmed record come exactly the older ones, and none that is pending.',
    where: '#/components/schemas/HistoryPage/properties/before',
    run: onWholeHistories(checkCursors)
  },
  {
    ...base,
    name: 'pages/no-options',
    shows: 'Without limit and cursor, options that are there ask for the whole history.',
    run: onWholeHistories(checkNoOptions)
  },
  {
    ...base,
    name: 'pages/unknown-cursor',
    shows: 'A cursor that belongs to no transaction is refused, naming its place.',
    where: '#/components/schemas/HistoryPage/properties/before',
    run: checkUnknownCursor
  }
]
