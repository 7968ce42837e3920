import { isConfirmed, type TransactionRecord } from '@chain-data/protocol'
import { checkResult } from '@chain-data/protocol/validators'
import type { EvmAccount, Reading, Subject } from '../survey/Subject.ts'
import type { Check } from './Check.ts'
import { differenceOf } from './differenceOf.ts'
import { eachShown } from './eachShown.ts'
import { findUnchecked } from './findUnchecked.ts'
import { settled } from './settled.ts'
import { Broken, holds } from './verdicts.ts'

const method = 'svc_getTransactionsByAddress'
const parts = ['transfers', 'internal', 'operations']
const everything = { include: parts }

type History = Reading<readonly TransactionRecord[]>

/** Transfers that are attached to a record; empty where none are. */
function attachedTo(record: TransactionRecord): readonly { from: string; to: string }[] {
  return isConfirmed(record) ? [...(record.transfers ?? []), ...(record.internal ?? [])] : []
}

/** Looks at the histories with all parts attached; `look` tells how many things it could look at. */
function onAttached(look: (history: History, account: EvmAccount) => number): Check['run'] {
  return async subject =>
    eachShown(await subject.evmAccounts(), 'transfer', async account => {
      const options = account.isWhole ? everything : { ...everything, limit: 100 }
      const history = await subject.read(method, [account.address, options])
      if (!Array.isArray(history.value)) throw new Broken('a history is no list', history.exchange)
      return look(history, account)
    })
}

function isParty(address: string, parties: readonly (string | undefined)[]): boolean {
  return parties.some(party => party?.toLowerCase() === address.toLowerCase())
}

function checkTouching({ value, exchange }: History, { address }: EvmAccount): number {
  let count = 0
  for (const record of value) {
    for (const { from, to } of attachedTo(record)) {
      count++
      const touches = isParty(address, [from, to])
      holds(touches, () => `a transfer of ${record.hash} does not concern the address`, exchange)
    }
    for (const { sender, paymaster } of (isConfirmed(record) && record.operations) || []) {
      count++
      const touches = isParty(address, [sender, paymaster])
      holds(touches, () => `an operation of ${record.hash} does not concern the address`, exchange)
    }
  }
  return count
}

function checkForms({ value, exchange }: History): number {
  const mistake = checkResult(method, value)
  if (mistake !== undefined) throw new Broken(`${mistake.path} ${mistake.message}`, exchange)
  const found = findUnchecked(value)
  holds(found === undefined, () => `${found?.path} is ${found?.address}, without its checksum`, exchange)
  let count = 0
  for (const record of value.filter(isConfirmed)) {
    const attached = attachedTo(record).length
    count += attached
    const isFailed = record.status === 4 && (record.internal ?? []).length > 0
    holds(!isFailed, () => `${record.hash} failed and has internal transfers`, exchange)
    for (const { tokenId, lastTokenId } of record.transfers ?? []) {
      const ascends = lastTokenId === undefined || BigInt(lastTokenId) > BigInt(tokenId ?? lastTokenId)
      holds(ascends, () => `a range of ${record.hash} ends before it begins`, exchange)
    }
  }
  return count
}

/**
 * A record without `internal` comes from a block without traces: nobody belongs to it by an internal transfer. A record does not
 * show the authorities of its authorizations (type 4), nor the senders of operations where the service does not know those.
 */
function checkReasons({ value, exchange }: History, { address }: EvmAccount): number {
  const known = value.filter(isConfirmed).filter(({ transfers }) => transfers !== undefined)
  for (const record of known) {
    const { from, to, contractAddress, hash, type } = record
    const others = attachedTo(record).flatMap(transfer => [transfer.from, transfer.to])
    const senders = (record.operations ?? []).map(({ sender }) => sender)
    const belongs = isParty(address, [from, to, contractAddress, ...others, ...senders])
    holds(belongs || type === 4, () => `${hash} does not concern the address`, exchange)
  }
  return known.length
}

/** Both sides of a transfer see it; accounts are those whose histories were read. */
async function checkBothSides(subject: Subject): Promise<void> {
  const accounts = (await subject.evmAccounts()).filter(({ isWhole }) => isWhole)
  const read = async ({ address }: EvmAccount) => ({
    address,
    history: await subject.read(method, [address, { include: ['transfers'] }])
  })
  const sides = await Promise.all(accounts.map(read))
  const pairs = sides.flatMap(one => sides.filter(other => other !== one).map(other => ({ one, other })))
  await eachShown(pairs, 'token transfer between two of the addresses', async ({ one, other }) => {
    const shared = transfersWith(one.history, other.address)
    await settled(
      other.history,
      async () => (await read({ ...other, isWhole: true })).history,
      async now => {
        const seen = transfersWith(now, one.address)
        for (const [hash, transfers] of shared) {
          const different = differenceOf(seen.get(hash) ?? [], transfers)
          holds(
            different === undefined,
            () => `transfers of ${hash}: ${different}`,
            one.history.exchange,
            now.exchange
          )
        }
      }
    )
    return shared.size
  })
}

/** Token transfers between the address of a history and another one, by transaction. */
function transfersWith({ value }: History, other: string): ReadonlyMap<string, readonly unknown[]> {
  const found = value
    .filter(isConfirmed)
    .map(
      ({ hash, transfers = [] }) =>
        [hash, transfers.filter(({ from, to }) => isParty(other, [from, to]))] as const
    )
  return new Map(found.filter(([, transfers]) => transfers.length > 0))
}

const combinations = [[], ...parts.map(part => [part]), ['transfers', 'internal'], parts]

async function checkOnlyAdded(subject: Subject): Promise<void> {
  const accounts = (await subject.evmAccounts()).filter(({ isWhole }) => isWhole)
  await eachShown(accounts, 'history that can be read whole', async ({ address, history }) => {
    await settled(
      history,
      () => subject.read(method, [address]),
      async base => {
        for (const include of combinations) {
          const { exact, exchange } = await subject.read(method, [address, { include }])
          const records = exact as Record<string, unknown>[]
          const wanted = new Set(include)
          for (const name of parts.filter(part => !wanted.has(part))) {
            const extra = records.find(record => name in record)
            holds(extra === undefined, () => `${name} came although nobody asked`, exchange)
          }
          const bare = records.map(({ transfers: _, internal: __, operations: ___, ...record }) => record)
          const different = differenceOf(bare, base.exact)
          holds(
            different === undefined,
            () => `with ${include.join()}: ${different}`,
            base.exchange,
            exchange
          )
        }
      }
    )
    return history.value.length
  })
}

const base = {
  endpoints: ['/evm-chain'],
  where: '#/components/schemas/HistoryPage/properties/include',
  extension: 'include'
} as const

/** What holds for transfers that are attached to records. */
export const includeChecks: readonly Check[] = [
  {
    ...base,
    name: 'include/only-adds',
    shows: 'What is attached is what was asked for, and changes nothing else.',
    run: checkOnlyAdded
  },
  {
    ...base,
    name: 'include/forms',
    shows: 'Attached transfers have the forms of the document; failed transactions have no internal ones.',
    where: '#/components/schemas/TokenTransfer',
    run: onAttached(checkForms)
  },
  {
    ...base,
    name: 'include/touching',
    shows: 'Attached transfers are from or to the address; attached operations were sent or paid for by it.',
    where: '#/components/schemas/ConfirmedTransaction/properties/transfers',
    run: onAttached(checkTouching)
  },
  {
    ...base,
    name: 'include/reasons',
    shows: 'Every record concerns the address: as a party of the transaction, or of one of its transfers.',
    where: '#/components/schemas/ConfirmedTransaction/properties/internal',
    run: onAttached(checkReasons)
  },
  {
    ...base,
    name: 'include/both-sides',
    shows: 'A token transfer between two addresses is told alike to both.',
    where: '#/components/schemas/TokenTransfer',
    run: checkBothSides
  }
]
