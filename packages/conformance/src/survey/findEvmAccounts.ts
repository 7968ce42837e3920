import type { TransactionRecord } from '@chain-data/protocol'
import { Broken } from '../checks/verdicts.ts'
import { someEvmAddress } from './extensions.ts'
import type { EvmAccount, Reading, Subject } from './Subject.ts'

/**
 * Where to begin on a chain of which nothing is known: addresses that have transactions on most chains, public ones
 * first, then those of development nodes.
 */
const seeds = [
  someEvmAddress,
  '0x000000000000000000000000000000000000dEaD',
  '0xcA11bde05977b3631167028862bE2a173976CA11',
  '0x4e59b44847b379578588920cA78FbF26c0B4956C',
  '0x5FF137D4b0FDCD49DcA30c7CF57E578a026d2789',
  '0x000000000022D473030F116dDEE9F6B43aC78BA3',
  '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
  '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
]

/** Histories up to here are read whole. */
const longestHistory = 400

/** So many addresses are asked before the search ends. */
const mostAsked = 60

/**
 * Accounts with transactions: those that are given, then those that their histories name, breadth first.
 *
 * @param count - Most accounts; those given come in any case, also without transactions.
 * @throws {Broken} A history cannot be read.
 */
export async function findEvmAccounts(
  subject: Subject,
  given: readonly string[],
  count: number
): Promise<readonly EvmAccount[]> {
  const asked = new Set<string>()
  const found: EvmAccount[] = []
  let open: readonly string[] = given.length > 0 ? given : seeds
  while (open.length > 0 && asked.size < mostAsked && (found.length < count || asked.size < given.length)) {
    const now = open
      .filter(address => !asked.has(address.toLowerCase()))
      .slice(0, Math.max(count, given.length))
    for (const address of now) asked.add(address.toLowerCase())
    const accounts = await Promise.all(now.map(address => readAccount(subject, address)))
    const kept = accounts.filter(
      ({ history, address }) => history.value.length > 0 || given.includes(address)
    )
    found.push(...kept)
    open = [...open.filter(address => !asked.has(address.toLowerCase())), ...kept.flatMap(partiesOf)]
  }
  return found.slice(0, Math.max(count, given.length))
}

async function readAccount(subject: Subject, address: string): Promise<EvmAccount> {
  const method = 'svc_getTransactionsByAddress'
  const whole = async (): Promise<EvmAccount> => ({
    address,
    history: aList(await subject.read(method, [address])),
    isWhole: true
  })
  if (!(await subject.offers('pages'))) return whole()
  const page = aList(await subject.read(method, [address, { limit: longestHistory }]))
  return page.value.length < longestHistory ? whole() : { address, history: page, isWhole: false }
}

/** What goes through here is looked at more closely by the checks; without this they could not begin. */
function aList<T>(reading: Reading<T>): Reading<T> {
  const { value, exchange } = reading
  const isList = Array.isArray(value) && value.every(item => typeof item === 'object' && item !== null)
  if (!isList) throw new Broken('a history is no list of records', exchange)
  return reading
}

function partiesOf({ history }: EvmAccount): string[] {
  const parties = history.value.flatMap((record: TransactionRecord) => [
    record.to,
    record.from,
    'contractAddress' in record ? record.contractAddress : undefined
  ])
  return [...new Set(parties.filter(party => typeof party === 'string'))]
}
