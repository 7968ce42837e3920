import type { SolanaHoldings } from '@chain-data/protocol'
import { checkResult } from '@chain-data/protocol/validators'
import type { Reading, Subject } from '../survey/Subject.ts'
import { digitsOf } from '../wire/parseExact.ts'
import type { Check } from './Check.ts'
import { differenceOf } from './differenceOf.ts'
import { eachShown } from './eachShown.ts'
import { findNull } from './findNull.ts'
import { settled } from './settled.ts'
import { Broken, holds } from './verdicts.ts'

const method = 'enhancedGetTokensAndNFTs'

type Holdings = Reading<SolanaHoldings>

const known = new WeakMap<Subject, Promise<readonly { address: string; holdings: Holdings }[]>>()

/** The holdings of each address, read once. */
function accountsOf(subject: Subject) {
  const found = known.get(subject)
  if (found !== undefined) return found
  const reading = subject
    .solanaAddresses()
    .then(addresses =>
      Promise.all(addresses.map(async address => ({ address, holdings: await read(subject, [address]) })))
    )
  known.set(subject, reading)
  return reading
}

async function read(subject: Subject, params: readonly unknown[]): Promise<Holdings> {
  const holdings = await subject.read(method, params, '/solana')
  const { tokens, nfts } = holdings.value ?? {}
  if (!Array.isArray(tokens) || !Array.isArray(nfts)) {
    throw new Broken('the result has no lists of tokens and NFTs', holdings.exchange)
  }
  return holdings
}

/** Looks at the holdings of each address; `look` tells how many things it could look at. */
function onHoldings(look: (holdings: Holdings) => number): Check['run'] {
  return async subject =>
    eachShown(await accountsOf(subject), 'token or NFT', ({ holdings }) => look(holdings))
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

/** A number of the chain: as many digits as it has, and the same ones in its twin. */
function checkAmount(holder: Record<string, unknown>, name: string, { exchange }: Holdings): void {
  const digits = digitsOf(holder[name])
  const isPlain = digits !== undefined && /^(0|[1-9]\d*)$/.test(digits)
  holds(isPlain, () => `${name} is written as ${digits}`, exchange)
  const twin = holder[`${name}String`]
  holds(
    twin === undefined || twin === digits,
    () => `${name} is ${digits}, and its twin ${String(twin)}`,
    exchange
  )
}

function checkDigits(holdings: Holdings): number {
  const exact = holdings.exact as Record<string, unknown> & { tokens: Record<string, unknown>[] }
  checkAmount(exact, 'lamports', holdings)
  for (const token of exact.tokens) checkAmount(token, 'amount', holdings)
  return 1
}

function checkBalances({ value, exact, exchange }: Holdings): number {
  const seen = new Set<string>()
  const once = (address: string) => {
    holds(!seen.has(address), () => `${address} is there twice`, exchange)
    seen.add(address)
  }
  for (const [at, { address }] of value.tokens.entries()) {
    once(address)
    const { amount } = (exact as { tokens: { amount: unknown }[] }).tokens[at] ?? {}
    holds(digitsOf(amount) !== '0', () => `${address} is there with nothing`, exchange)
  }
  for (const { address } of value.nfts) once(address)
  return seen.size
}

function checkMetadata({ value, exchange }: Holdings): number {
  for (const { address, mint, metadata, name, symbol, sellerFeeBasisPoints } of value.nfts) {
    const { data } = metadata
    const repeats =
      metadata.mint === mint &&
      data.name === name &&
      data.symbol === symbol &&
      data.sellerFeeBasisPoints === sellerFeeBasisPoints
    holds(repeats, () => `${address} says something else than its metadata`, exchange)
    holds(data.uriData === undefined, () => `${address} has uriData although nobody asked`, exchange)
  }
  return value.nfts.length
}

/** What holdings say, beside the slot of the reads and what their metadata happened to do. */
function contentsOf(exact: unknown): unknown {
  const { asOf: _, incomplete: __, ...contents } = exact as Record<string, unknown>
  return contents
}

/** With metadata parsed, only images and `uriData` may differ. */
function withoutParsed(exact: unknown): unknown {
  const contents = contentsOf(exact) as { nfts: { metadata: { data: object } }[]; tokens: object[] }
  return {
    ...contents,
    tokens: contents.tokens.map(token => ({ ...token, image: '' })),
    nfts: contents.nfts.map(nft => ({
      ...nft,
      image: '',
      metadata: { ...nft.metadata, data: { ...nft.metadata.data, uriData: undefined } }
    }))
  }
}

/** The forms of params with the same meaning as an address alone, and those that ask for parsed metadata. */
type Forms = (address: string) => { plain: readonly unknown[][]; parsed: readonly unknown[][] }

const documented: Forms = accountAddress => ({
  plain: [[{ accountAddress }], [accountAddress, {}], [accountAddress, { parseMetadataUri: false }]],
  parsed: [[accountAddress, { parseMetadataUri: true }]]
})

const additional: Forms = accountAddress => ({
  plain: [
    [{ accountAddress, parseMetadataUri: false }],
    [{ accountAddress }, { parseMetadataUri: false }],
    [{ accountAddress }, { options: { parseMetadataUri: false } }]
  ],
  parsed: [
    [{ accountAddress, parseMetadataUri: true }],
    [{ accountAddress }, { parseMetadataUri: true }],
    [{ accountAddress }, { options: { parseMetadataUri: true } }]
  ]
})

function checkForms(forms: Forms): Check['run'] {
  return async subject =>
    eachShown(await accountsOf(subject), 'account', async ({ address, holdings }) => {
      const { plain, parsed } = forms(address)
      await settled(
        holdings,
        () => read(subject, [address]),
        async base => {
          for (const [all, aside] of [[plain, contentsOf] as const, [parsed, withoutParsed] as const]) {
            for (const params of all) {
              const { exact, exchange } = await read(subject, params)
              const different = differenceOf(aside(exact), aside(base.exact))
              holds(
                different === undefined,
                () => `${JSON.stringify(params)}: ${different}`,
                base.exchange,
                exchange
              )
            }
          }
        }
      )
      return 1
    })
}

const base = { endpoints: ['/solana'], where: '#/components/schemas/SolanaHoldings' } as const

/** What holds for the holdings of every Solana account. */
export const solanaChecks: readonly Check[] = [
  {
    ...base,
    name: 'solana/schema',
    shows: 'Holdings have the members, types and forms of the document, and no others.',
    run: onHoldings(checkSchema)
  },
  {
    ...base,
    name: 'solana/no-null',
    shows: 'What is not known is a missing member, never null, except in metadata of others.',
    run: onHoldings(checkNoNull)
  },
  {
    ...base,
    name: 'solana/digits',
    shows:
      'Lamports and amounts are written with every digit of their 64 bits, and are those of their twins.',
    where: '#/components/schemas/SolanaHoldings/properties/lamports',
    run: onHoldings(checkDigits)
  },
  {
    ...base,
    name: 'solana/balances',
    shows: 'Each token account is there once, and none with nothing.',
    where: '#/components/schemas/SolanaToken/properties/amount',
    run: onHoldings(checkBalances)
  },
  {
    ...base,
    name: 'solana/metadata',
    shows: 'An NFT says what its metadata says, which is not fetched unless asked for.',
    where: '#/components/schemas/SolanaNft/properties/metadata',
    run: onHoldings(checkMetadata)
  },
  {
    ...base,
    name: 'solana/forms',
    shows:
      'Both documented forms of params give the same answer; parsing metadata changes images and uriData only.',
    where: '#/components/schemas/EnhancedTokensAndNFTsParams',
    run: checkForms(documented)
  },
  {
    ...base,
    name: 'solana/more-forms',
    shows: 'The other three forms of params give the same answers.',
    where: '#/components/schemas/EnhancedTokensAndNFTsParams',
    extension: 'more parameter forms',
    run: checkForms(additional)
  }
]
