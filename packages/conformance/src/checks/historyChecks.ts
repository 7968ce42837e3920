import {
  type ConfirmedTransaction,
  isConfirmed,
  isPending,
  type TransactionRecord
} from '@chain-data/protocol'
import { checkResult } from '@chain-data/protocol/validators'
import type { EvmAccount, Reading, Subject } from '../survey/Subject.ts'
import type { Exchange } from '../wire/Exchange.ts'
import { digitsOf } from '../wire/parseExact.ts'
import { addressForms } from './addressForms.ts'
import type { Check } from './Check.ts'
import { differenceOf } from './differenceOf.ts'
import { eachShown } from './eachShown.ts'
import { findNull } from './findNull.ts'
import { findUnchecked } from './findUnchecked.ts'
import { settled } from './settled.ts'
import { Broken, holds } from './verdicts.ts'

const method = 'svc_getTransactionsByAddress'

/** Looks at the history of each account. */
function onHistories(
  look: (history: Reading<readonly TransactionRecord[]>, account: EvmAccount) => void
): Check['run'] {
  return async subject =>
    eachShown(await subject.evmAccounts(), 'transaction', account => {
      look(account.history, account)
      return account.history.value.length
    })
}

/** The confirmed records of a history; what has no number of its block is left out, because it says less. */
function confirmedOf(
  records: readonly TransactionRecord[]
): (ConfirmedTransaction & { blockNumber: number })[] {
  return records.filter(isConfirmed).filter(record => typeof record.blockNumber === 'number') as never
}

/** Calls the look with each record and the one behind it. */
function neighbours<T>(records: readonly T[], look: (newer: T, older: T) => void): void {
  for (const [at, older] of records.entries()) {
    const newer = at === 0 ? undefined : records[at - 1]
    if (newer !== undefined) look(newer, older)
  }
}

function checkOrder({ value, exchange }: Reading<readonly TransactionRecord[]>): void {
  neighbours(value, (newer, older) => {
    const goesBack = isPending(older) && isConfirmed(newer)
    holds(!goesBack, () => `${older.hash} is pending and comes after a confirmed one`, exchange)
    if (!isPending(newer) || !isPending(older)) return
    const inOrder =
      newer.status > older.status || (newer.status === older.status && newer.nonce >= older.nonce)
    holds(inOrder, () => `${older.hash} is pending and comes too late`, exchange)
  })
  neighbours(confirmedOf(value), (newer, older) => {
    const inOrder = newer.blockNumber >= older.blockNumber
    holds(inOrder, () => `${older.hash} of block ${older.blockNumber} comes too late`, exchange)
  })
}

function checkTimes({ value, exchange }: Reading<readonly TransactionRecord[]>): void {
  neighbours(confirmedOf(value), (newer, older) => {
    const same = newer.blockNumber === older.blockNumber
    const fits = same ? newer.timestamp === older.timestamp : newer.timestamp >= older.timestamp
    holds(fits, () => `${newer.hash} and ${older.hash} have times that contradict their blocks`, exchange)
  })
}

function checkNonces(
  { value, exchange }: Reading<readonly TransactionRecord[]>,
  { address }: EvmAccount
): void {
  const sent = value
    .filter(isConfirmed)
    .filter(({ from, type }) => from.toLowerCase() === address.toLowerCase() && type <= 4)
  neighbours(sent, (newer, older) => {
    const fits = newer.nonce > older.nonce
    holds(fits, () => `nonce ${older.nonce} of ${older.hash} is not below that of a newer one`, exchange)
  })
}

function checkOnce({ value, exchange }: Reading<readonly TransactionRecord[]>): void {
  const seen = new Set<string>()
  for (const { hash } of value) {
    holds(!seen.has(hash), () => `${hash} is there twice`, exchange)
    seen.add(hash)
  }
}

const integers = ['gasLimit', 'nonce', 'timestamp', 'type', 'status', 'blockNumber']

function checkIntegers({ exact, exchange }: Reading<readonly TransactionRecord[]>): void {
  for (const record of exact as Record<string, unknown>[]) {
    for (const name of integers.filter(each => record[each] !== undefined)) {
      const digits = digitsOf(record[name])
      const isPlain = digits !== undefined && /^(0|[1-9]\d*)$/.test(digits)
      holds(isPlain, () => `${name} of ${String(record.hash)} is written as ${digits}`, exchange)
    }
  }
}

/** Types whose fees are fixed by a standard. */
const standardTypes = new Set([0, 1, 2, 3, 4])

function checkFees({ value, exchange }: Reading<readonly TransactionRecord[]>): void {
  for (const record of value.filter(isConfirmed)) {
    const { hash, gasLimit, status, gasSpent, gasPrice, fees: paid } = record
    if (!standardTypes.has(record.type)) continue
    const isWhole = gasSpent !== undefined && gasPrice !== undefined && paid !== undefined
    holds(
      isWhole || status === undefined,
      () => `${hash} has a status, and lacks gas used, its price or fees`,
      exchange
    )
    if (!isWhole) continue
    const [used, price, fees] = [BigInt(gasSpent), BigInt(gasPrice), BigInt(paid)]
    holds(used <= BigInt(gasLimit), () => `${hash} used more gas than its limit`, exchange)
    holds(fees >= used * price, () => `the fees of ${hash} are less than its gas costs`, exchange)
    const most = record.maxFeePerGas === undefined ? price : BigInt(record.maxFeePerGas)
    holds(price <= most, () => `${hash} paid more than it offered`, exchange)
  }
}

async function checkAddressCase(subject: Subject): Promise<void> {
  const accounts = (await subject.evmAccounts()).filter(({ isWhole }) => isWhole).slice(0, 3)
  await eachShown(accounts, 'history that can be read whole', async ({ address, history }) => {
    await settled(
      history,
      () => subject.read(method, [address]),
      async base => {
        for (const form of addressForms(address)) {
          const { exact, exchange } = await subject.read(method, [form])
          const different = differenceOf(exact, base.exact)
          holds(
            different === undefined,
            () => `another history for another case: ${different}`,
            base.exchange,
            exchange
          )
        }
      }
    )
    return 1
  })
}

/** Other accounts whose whole history was read, which a record names, and so have to have it too. */
function sharers(record: TransactionRecord, accounts: readonly EvmAccount[]): readonly EvmAccount[] {
  const parties = new Set([record.from.toLowerCase(), record.to?.toLowerCase()])
  return accounts.filter(({ address, isWhole }) => isWhole && parties.has(address.toLowerCase()))
}

async function checkBothSides(subject: Subject): Promise<void> {
  const accounts = await subject.evmAccounts()
  const wanted = accounts.flatMap(account =>
    account.history.value
      .filter(isConfirmed)
      .flatMap(record => sharers(record, accounts).map(sharer => ({ account, record, sharer })))
  )
  const others = wanted.filter(({ account, sharer }) => account !== sharer)
  await eachShown(others, 'transaction between two of the addresses', async ({ account, record, sharer }) => {
    const find = (history: Reading<readonly TransactionRecord[]>) =>
      history.value.find(({ hash, status }) => hash === record.hash && status === record.status)
    await settled(
      sharer.history,
      () => subject.read(method, [sharer.address]),
      async base => {
        const found = find(base)
        const exchanges: readonly Exchange[] = [account.history.exchange, base.exchange]
        holds(found !== undefined, () => `${record.hash} is missing for ${sharer.address}`, ...exchanges)
        const different = differenceOf(found, record)
        holds(different === undefined, () => `${record.hash} is told in two ways: ${different}`, ...exchanges)
      }
    )
    return 1
  })
}

function checkSchema({ value, exchange }: Reading<readonly TransactionRecord[]>): void {
  const mistake = checkResult(method, value)
  if (mistake !== undefined) throw new Broken(`${mistake.path} ${mistake.message}`, exchange)
}

function checkNoNull({ value, exchange }: Reading<readonly TransactionRecord[]>): void {
  const found = value
    .map((record, at) => findNull({ ...record, data: '' }, `/${at}`))
    .find(path => path !== undefined)
  holds(found === undefined, () => `${found} is null`, exchange)
}

function checkChecksums({ value, exchange }: Reading<readonly TransactionRecord[]>): void {
  const found = findUnchecked(value)
  holds(found === undefined, () => `${found?.path} is ${found?.address}, without its checksum`, exchange)
}

const base = { endpoints: ['/evm-chain'], where: '#/components/schemas/TransactionHistory' } as const

/** What holds for every history. */
export const historyChecks: readonly Check[] = [
  {
    ...base,
    name: 'history/schema',
    shows: 'Every record has the members, types and forms of its status and type, and no others.',
    where: '#/components/schemas/TransactionRecord',
    run: onHistories(checkSchema)
  },
  {
    ...base,
    name: 'history/no-null',
    shows: 'What is not known is a missing member, never null.',
    where: '#/components/schemas/TransactionRecord',
    run: onHistories(checkNoNull)
  },
  {
    ...base,
    name: 'history/checksums',
    shows: 'Addresses in records have the letters of their checksum (EIP-55).',
    where: '#/components/schemas/EvmAddress',
    run: onHistories(checkChecksums)
  },
  {
    ...base,
    name: 'history/integers',
    shows: 'Integers are written with every digit, without fraction or exponent.',
    where: '#/components/schemas/ConfirmedTransaction',
    run: onHistories(checkIntegers)
  },
  {
    ...base,
    name: 'history/order',
    shows:
      'Pending records come first, 1 before 0 and higher nonces before lower ones; then newer blocks before older ones.',
    run: onHistories(checkOrder)
  },
  {
    ...base,
    name: 'history/times',
    shows: 'Records of one block have one time, and those of newer blocks none before it.',
    where: '#/components/schemas/ConfirmedTransaction/properties/timestamp',
    run: onHistories(checkTimes)
  },
  {
    ...base,
    name: 'history/nonces',
    shows: 'What the address sent has falling nonces, each once.',
    where: '#/components/schemas/ConfirmedTransaction/properties/nonce',
    run: onHistories(checkNonces)
  },
  { ...base, name: 'history/once', shows: 'Each transaction is there once.', run: onHistories(checkOnce) },
  {
    ...base,
    name: 'history/fees',
    shows: 'Gas used is within the limit, its price within the offer, and both are in the fees.',
    where: '#/components/schemas/ConfirmedTransaction/properties/fees',
    run: onHistories(checkFees)
  },
  {
    ...base,
    name: 'history/address-case',
    shows: 'An address is the same in every case, with a wrong checksum too.',
    where: '#/components/schemas/EvmAddress',
    run: checkAddressCase
  },
  {
    ...base,
    name: 'history/both-sides',
    shows: 'A transaction between two addresses is in both histories, told alike.',
    run: checkBothSides
  }
]
