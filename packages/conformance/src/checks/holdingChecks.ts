import type { EvmHoldings } from '@chain-data/protocol'
import { checkResult } from '@chain-data/protocol/validators'
import type { EvmAccount, Reading, Subject } from '../survey/Subject.ts'
import { digitsOf } from '../wire/parseExact.ts'
import { addressForms } from './addressForms.ts'
import type { Check } from './Check.ts'
import { differenceOf } from './differenceOf.ts'
import { eachShown } from './eachShown.ts'
import { findNull } from './findNull.ts'
import { findUnchecked } from './findUnchecked.ts'
import { settled } from './settled.ts'
import { Broken, holds } from './verdicts.ts'

const method = 'svc_getTokensAndNFTs'

type Holdings = Reading<EvmHoldings>

interface Account extends EvmAccount {
  readonly holdings: Holdings
}

const known = new WeakMap<Subject, Promise<readonly Account[]>>()

/** The holdings of each account, read once. */
function holdingsOf(subject: Subject): Promise<readonly Account[]> {
  const found = known.get(subject)
  if (found !== undefined) return found
  const reading = subject
    .evmAccounts()
    .then(accounts =>
      Promise.all(accounts.map(async account => ({ ...account, holdings: await readAll(subject, account) })))
    )
  known.set(subject, reading)
  return reading
}

async function readAll(subject: Subject, { address }: { address: string }): Promise<Holdings> {
  const holdings = await subject.read(method, [address])
  const { tokens, nfts } = holdings.value ?? {}
  if (!Array.isArray(tokens) || !Array.isArray(nfts)) {
    throw new Broken('the result has no lists of tokens and NFTs', holdings.exchange)
  }
  return holdings
}

/** Looks at the holdings of each account; `look` tells how many things it could look at. */
function onHoldings(look: (holdings: Holdings, subject: Subject) => number | undefined): Check['run'] {
  return async subject =>
    eachShown(await holdingsOf(subject), 'account', ({ holdings }) => look(holdings, subject))
}

function checkSchema({ value, exchange }: Holdings): number {
  const mistake = checkResult(method, value)
  if (mistake !== undefined) throw new Broken(`${mistake.path} ${mistake.message}`, exchange)
  return 1
}

function checkNoNull({ value, exchange }: Holdings): number {
  const found = findNull(value)
  holds(found === undefined, () => `${found} is null`, exchange)
  return 1
}

function checkChecksums({ value, exchange }: Holdings): number {
  const found = findUnchecked(value)
  holds(found === undefined, () => `${found?.path} is ${found?.address}, without its checksum`, exchange)
  return value.tokens.length + value.nfts.length
}

function checkBalances({ value, exchange }: Holdings): number {
  const seen = new Set<string>()
  const once = (key: string) => {
    holds(!seen.has(key), () => `${key} is there twice`, exchange)
    seen.add(key)
  }
  for (const { address, amount } of value.tokens) {
    once(address)
    holds(amount !== '0', () => `${address} is there with nothing`, exchange)
  }
  for (const { address, tokenId, tokenBalance, isSemiFungible } of value.nfts) {
    once(`${address} ${tokenId}`)
    const fits = isSemiFungible ? tokenBalance !== '0' : tokenBalance === '1'
    holds(fits, () => `${address} ${tokenId} is there ${tokenBalance} times`, exchange)
  }
  return seen.size
}

function checkIntegers({ exact, exchange }: Holdings): number {
  const { tokens } = exact as { tokens: { decimals: unknown; address: string }[] }
  for (const { decimals, address } of tokens) {
    const digits = digitsOf(decimals)
    const isPlain = digits !== undefined && /^\d+$/.test(digits)
    holds(isPlain, () => `decimals of ${address} are written as ${digits}`, exchange)
  }
  return tokens.length
}

/** What holdings say, beside the block at which they were read and what their metadata happened to do. */
function contentsOf(exact: unknown): unknown {
  const { asOf: _, incomplete: __, ...contents } = exact as Record<string, unknown>
  return contents
}

/** Holds the answers to other params against those of the address alone. */
async function checkSame(
  subject: Subject,
  { address, holdings }: Account,
  others: readonly (readonly unknown[])[]
) {
  await settled(
    holdings,
    () => readAll(subject, { address }),
    async base => {
      for (const params of others) {
        const { exact, exchange } = await subject.read(method, params)
        const different = differenceOf(contentsOf(exact), contentsOf(base.exact))
        holds(different === undefined, () => String(different), base.exchange, exchange)
      }
    }
  )
}

async function checkAddressCase(subject: Subject): Promise<void> {
  const accounts = (await holdingsOf(subject)).slice(0, 3)
  await eachShown(accounts, 'account', async account => {
    await checkSame(
      subject,
      account,
      addressForms(account.address).map(form => [form])
    )
    return 1
  })
}

async function checkEmptyFilter(subject: Subject): Promise<void> {
  await eachShown(await holdingsOf(subject), 'account', async account => {
    await checkSame(subject, account, [[account.address, []]])
    return 1
  })
}

/** A list whose entries are in every case, one of them twice. */
function inAnyCase(contracts: readonly string[]): readonly string[] {
  const forms = contracts.map((contract, at) => addressForms(contract)[at % 4] ?? contract)
  return [...forms, ...forms.slice(0, 1)]
}

/** Most contracts of one list: within what every host accepts. */
const longestList = 50

async function checkFilter(subject: Subject): Promise<void> {
  await eachShown(await holdingsOf(subject), 'token', async ({ address, holdings }) => {
    const all = contractsOf(holdings.value)
    await settled(
      holdings,
      () => readAll(subject, { address }),
      async base => {
        for (const list of [all.slice(0, 1), inAnyCase(all.slice(0, longestList))]) {
          if (list.length > 0) await checkList(subject, address, base, list)
        }
      }
    )
    return all.length
  })
}

function contractsOf({ tokens, nfts }: EvmHoldings): readonly string[] {
  return [...new Set([...tokens, ...nfts].map(({ address }) => address))]
}

async function checkList(
  subject: Subject,
  address: string,
  base: Holdings,
  list: readonly string[]
): Promise<void> {
  const wanted = new Set(list.map(each => each.toLowerCase()))
  const isListed = (item: { address: string }) => wanted.has(item.address.toLowerCase())
  const { tokens, nfts, ...rest } = contentsOf(base.exact) as EvmHoldings
  const expected = { ...rest, tokens: tokens.filter(isListed), nfts: nfts.filter(isListed) }
  const { exact, exchange } = await subject.read(method, [address, list])
  const different = differenceOf(inOrder(contentsOf(exact)), inOrder(expected))
  holds(different === undefined, () => `with a list: ${different}`, base.exchange, exchange)
}

/** A list of contracts has no say in the order of the answer, and the document none either. */
function inOrder(contents: unknown): unknown {
  const { tokens, nfts, ...rest } = contents as EvmHoldings
  const key = (item: { address: string; tokenId?: string }) => `${item.address} ${item.tokenId ?? ''}`
  const sort = <T extends { address: string }>(items: readonly T[]) =>
    items.toSorted((one, other) => (key(one) < key(other) ? -1 : 1))
  return { ...rest, tokens: sort(tokens), nfts: sort(nfts) }
}

/** A listed token that the account does not hold is there with nothing. */
async function checkEmptyTokens(subject: Subject): Promise<void> {
  const accounts = await holdingsOf(subject)
  const tokens = [
    ...new Set(accounts.flatMap(({ holdings }) => holdings.value.tokens.map(({ address }) => address)))
  ]
  const pairs = accounts.flatMap(account => {
    const held = new Set(contractsOf(account.holdings.value))
    const token = tokens.find(each => !held.has(each))
    return token === undefined ? [] : [{ account, token }]
  })
  await eachShown(
    pairs.slice(0, 4),
    'token that another account does not hold',
    async ({ account, token }) => {
      const { value, exchange } = await subject.read(method, [account.address, [token]])
      const unread = value.incomplete?.some(({ address }) => address === token) ?? false
      const found = value.tokens.find(({ address }) => address === token)
      holds(
        found?.amount === '0' || unread,
        () => `${token} is not there with "0"`,
        account.holdings.exchange,
        exchange
      )
      return 1
    }
  )
}

const base = { endpoints: ['/evm-chain'], where: '#/components/schemas/EvmHoldings' } as const

/** What holds for the holdings of every EVM account. */
export const holdingChecks: readonly Check[] = [
  {
    ...base,
    name: 'holdings/schema',
    shows: 'Holdings have the members, types and forms of the document, and no others.',
    run: onHoldings(checkSchema)
  },
  {
    ...base,
    name: 'holdings/no-null',
    shows: 'What is not known is a missing member, never null, except in metadata of others.',
    run: onHoldings(checkNoNull)
  },
  {
    ...base,
    name: 'holdings/checksums',
    shows: 'Addresses of contracts have the letters of their checksum (EIP-55).',
    where: '#/components/schemas/EvmAddress',
    run: onHoldings(checkChecksums)
  },
  {
    ...base,
    name: 'holdings/balances',
    shows:
      'Each token is there once, with a balance: nothing is listed with zero, and an ERC-721 token is one.',
    where: '#/components/schemas/EvmNft/properties/tokenBalance',
    run: onHoldings(checkBalances)
  },
  {
    ...base,
    name: 'holdings/integers',
    shows: 'decimals are written as digits, without fraction or exponent.',
    where: '#/components/schemas/EvmToken/properties/decimals',
    run: onHoldings(checkIntegers)
  },
  {
    ...base,
    name: 'holdings/address-case',
    shows: 'An account is the same in every case, with a wrong checksum too.',
    where: '#/components/schemas/EvmAddress',
    run: checkAddressCase
  },
  {
    ...base,
    name: 'holdings/empty-list',
    shows: 'An empty list of contracts asks for everything.',
    where: '#/components/schemas/TokenAddressList',
    run: checkEmptyFilter
  },
  {
    ...base,
    name: 'holdings/list',
    shows: 'A list of contracts, in any case and twice, restricts tokens and NFTs to them and nothing else.',
    where: '#/components/schemas/TokenAddressList',
    run: checkFilter
  },
  {
    ...base,
    name: 'holdings/listed-empty',
    shows: 'A listed ERC-20 token that the account does not hold is there with "0".',
    where: '#/components/schemas/TokenAddressList',
    run: checkEmptyTokens
  }
]
