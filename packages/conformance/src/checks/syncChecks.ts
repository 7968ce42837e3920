import { type EndpointPath, isConfirmed, type SyncStatus } from '@chain-data/protocol'
import { checkResult } from '@chain-data/protocol/validators'
import { endpointPaths } from '../survey/createSubject.ts'
import { coverageHeader } from '../survey/extensions.ts'
import type { Reading, Subject } from '../survey/Subject.ts'
import { parseCoverage } from '../wire/parseCoverage.ts'
import type { Check } from './Check.ts'
import { eachShown } from './eachShown.ts'
import { Broken, holds, NotShown } from './verdicts.ts'

const method = 'svc_getSyncStatus'
const history = 'svc_getTransactionsByAddress'

async function readStatus(subject: Subject, endpoint: EndpointPath): Promise<Reading<SyncStatus>> {
  return subject.read(method, [], endpoint)
}

async function onEachEndpoint(
  subject: Subject,
  look: (status: Reading<SyncStatus>, chainId: number) => void
) {
  const chains = await Promise.all(endpointPaths.map(path => subject.chainOf(path)))
  const served = endpointPaths.flatMap((path, at) =>
    chains[at] === undefined ? [] : [[path, chains[at]] as const]
  )
  await eachShown(served, 'served chain', async ([path, chainId]) => {
    look(await readStatus(subject, path), chainId)
    return 1
  })
}

async function checkSchema(subject: Subject): Promise<void> {
  await onEachEndpoint(subject, ({ value, exchange }) => {
    const mistake = checkResult(method, value)
    if (mistake !== undefined) throw new Broken(`${mistake.path} ${mistake.message}`, exchange)
  })
}

async function checkNumbers(subject: Subject): Promise<void> {
  await onEachEndpoint(subject, ({ value, exchange }, chainId) => {
    const { head, finalized, indexedFrom, indexedTo, lagBlocks } = value
    const { transfersFrom, internalFrom, operationsFrom } = value
    holds(value.chainId === chainId, () => `it is about chain ${value.chainId}`, exchange)
    const ascends = (one: number | undefined, other: number | undefined, words: string) =>
      holds(one === undefined || other === undefined || one <= other, () => words, exchange)
    ascends(indexedFrom, indexedTo, 'the index ends before it begins')
    ascends(finalized, head, 'what is final is beyond the head')
    ascends(indexedFrom, transfersFrom, 'transfers are known below the index')
    ascends(indexedFrom, internalFrom, 'internal transfers are known below the index')
    ascends(indexedFrom, operationsFrom, 'operations are known below the index')
    if (head === undefined || indexedTo === undefined) return
    // Head and index are of one moment, but a chain may become shorter for a while.
    holds(
      head >= indexedTo || value.degraded,
      () => 'its head is below its index, and it is not degraded',
      exchange
    )
    const lag = Math.max(0, head - indexedTo)
    holds(
      lagBlocks === undefined || lagBlocks === lag,
      () => `${lagBlocks} blocks behind, not ${lag}`,
      exchange
    )
  })
}

/** The status before and after histories are read: what it says of the index has to hold for them. */
async function checkHistories(subject: Subject): Promise<void> {
  const accounts = (await subject.evmAccounts()).slice(0, 4)
  await eachShown(accounts, 'transaction', async ({ address }) => {
    const reading = await subject.read(history, [
      address,
      ...((await subject.offers('pages')) ? [{ limit: 100 }] : [])
    ])
    const after = await readStatus(subject, '/evm-chain')
    const { indexedFrom, indexedTo, deepHistory } = after.value
    const blocks = reading.value.filter(isConfirmed).flatMap(({ blockNumber }) => blockNumber ?? [])
    const [newest, oldest] = [Math.max(...blocks), Math.min(...blocks)]
    const told = () => `blocks ${oldest} to ${newest} against an index of ${indexedFrom} to ${indexedTo}`
    const isDeep = deepHistory !== undefined && deepHistory !== 'none'
    // While a reorg is followed, the index is shorter, and the status not ready.
    const isBelow = (indexedTo ?? Infinity) >= newest || !after.value.ready
    const within = isBelow && (isDeep || (indexedFrom ?? 0) <= oldest)
    holds(blocks.length === 0 || within, told, after.exchange, reading.exchange)
    const isPending = reading.value.some(record => !isConfirmed(record))
    holds(
      !isPending || after.value.covers.pool,
      () => 'there are pending ones without a pool',
      after.exchange
    )
    return reading.value.length
  })
}

/** A history is answered or refused between two statuses: one of the two has to say the same. */
async function checkReady(subject: Subject): Promise<void> {
  const chainId = await subject.chainOf('/evm-chain')
  const [account] = await subject.evmAccounts()
  if (account === undefined || chainId === undefined) throw new NotShown('no account was there to see it on')
  const before = await readStatus(subject, '/evm-chain')
  const params = [account.address, ...((await subject.offers('pages')) ? [{ limit: 1 }] : [])]
  const { body, exchange } = await subject.service.call({
    ...{ endpoint: '/evm-chain', method: history, chainId, params }
  })
  const after = await readStatus(subject, '/evm-chain')
  const isAnswered = typeof body === 'object' && body !== null && 'result' in body
  holds(
    [before, after].some(({ value }) => value.ready === isAnswered),
    () => `histories are ${isAnswered ? 'answered' : 'refused'}, and ready is ${after.value.ready}`,
    ...[after.exchange, exchange]
  )
}

async function checkCoverage(subject: Subject): Promise<void> {
  const chainId = await subject.chainOf('/evm-chain')
  const [account] = await subject.evmAccounts()
  if (account === undefined) throw new NotShown('no account was there to see it on')
  const page = (await subject.offers('pages')) ? [{ limit: 1 }] : []
  for (const [name, params] of [
    [history, [account.address, ...page]],
    ['svc_getTokensAndNFTs', [account.address]]
  ] as const) {
    const before = (await subject.offers(method)) ? await readStatus(subject, '/evm-chain') : undefined
    const { exchange } = await subject.read(name, params)
    const text = exchange.received.headers[coverageHeader]
    const coverage = text === undefined ? undefined : parseCoverage(text)
    if (coverage === undefined) throw new Broken(`${coverageHeader} is ${JSON.stringify(text)}`, exchange)
    const [one, ...others] = coverage
    const isOne = one !== undefined && others.length === 0 && one.chainId === chainId
    holds(isOne, () => `${coverageHeader} is not of this chain alone`, exchange)
    if (before !== undefined) await checkAgainstStatus(subject, one?.parameters ?? {}, before, exchange)
  }
}

async function checkAgainstStatus(
  subject: Subject,
  told: Readonly<Record<string, string | number>>,
  before: Reading<SyncStatus>,
  exchange: Reading<unknown>['exchange']
): Promise<void> {
  const to = Number(told.to ?? 0)
  const { value, exchange: asked } = await readStatus(subject, '/evm-chain')
  const isDeep = value.deepHistory !== undefined && value.deepHistory !== 'none'
  const fixed = {
    from: value.indexedFrom,
    transfers: value.transfersFrom,
    internal: value.internalFrom,
    operations: value.operationsFrom,
    // Where nothing is older than the index, the header leaves it out.
    deep: isDeep ? 'node' : value.indexedFrom === 0 ? undefined : value.deepHistory
  }
  for (const [name, expected] of Object.entries(fixed)) {
    const fits = told[name] === expected
    holds(fits, () => `${name} is ${told[name]} in the header, ${expected} in the status`, asked, exchange)
  }
  // The answer lies between two statuses. While a reorg is followed, the index is shorter, and the status not ready.
  const tops = [before.value, value].map(({ indexedTo = Number.POSITIVE_INFINITY }) => indexedTo)
  const fits = to <= Math.max(...tops) || !value.ready
  holds(fits, () => `the header covers block ${to}, the statuses ${tops.join(' and ')}`, asked, exchange)
}

const base = {
  endpoints: [],
  where: '#/components/schemas/SyncStatus',
  extension: method
} as const

/** What holds for what a service says of its index. */
export const syncChecks: readonly Check[] = [
  {
    ...base,
    name: 'sync/schema',
    shows: 'The status has the members, types and forms of the document, and no others.',
    run: checkSchema
  },
  {
    ...base,
    name: 'sync/numbers',
    shows: 'The status is of the chain that was asked for, and its blocks do not contradict each other.',
    run: checkNumbers
  },
  {
    ...base,
    name: 'sync/histories',
    shows: 'Histories lie within the blocks that the status names.',
    where: '#/components/schemas/SyncStatus/properties/indexedTo',
    endpoints: ['/evm-chain'],
    run: checkHistories
  },
  {
    ...base,
    name: 'sync/ready',
    shows: 'The status says that it is ready exactly while histories are answered.',
    where: '#/components/schemas/SyncStatus/properties/ready',
    endpoints: ['/evm-chain'],
    run: checkReady
  },
  {
    ...base,
    name: 'sync/coverage',
    shows: 'The header of an answer says of its coverage what the status says.',
    where: '#/x-envelope/http',
    endpoints: ['/evm-chain'],
    extension: 'coverage header',
    run: checkCoverage
  }
]
