import type { SpamVerdict } from '@chain-data/protocol'
import { chainPresets } from '../../../model/chainPresets.ts'
import { foldLookalikes, hasClaimWords, hasUrl, hidesCharacters } from './nameSigns.ts'

/** A token of a list that the operator trusts. */
export interface KnownToken extends CoinName {
  /** Lower case. */
  readonly address: string
}

export interface SpamJudgeOptions {
  readonly chainId: number
  /** The same array until something has changed. */
  readonly listed: () => readonly KnownToken[]
  /** Contracts that the operator vouches for, and those that it warns of; lower case. */
  readonly allow: ReadonlySet<string>
  readonly deny: ReadonlySet<string>
}

/** The subject of a verdict: a contract, and for an NFT the name in its metadata. */
interface Judged extends CoinName {
  /** Lower case. */
  readonly address: string
  /** The contract's name or symbol was written with invisible characters. */
  readonly hidesCharacters?: boolean
  /** From the metadata of one NFT, as its author wrote it. */
  readonly title?: string
}

/**
 * Judges a token or NFT by what can be decided and explained here, without any call.
 *
 * | found | verdict |
 * |---|---|
 * | on the deny list | spam |
 * | on the allow list, or in a token list | ok, whatever its name says |
 * | a listed or native name, written with look-alike or hidden characters | spam |
 * | words that call to claim, or hidden characters, with another sign | spam |
 * | any other sign | suspicious |
 * | nothing | absent: nothing speaks for it either |
 *
 * @returns absent when nothing is known about it; never means that it is honest.
 * @see docs/spam.md
 */
export type SpamJudge = (asset: Judged) => SpamVerdict | undefined

type Reason =
  | 'DENY_LISTED'
  | 'ALLOW_LISTED'
  | 'IN_TOKEN_LIST'
  | 'NAME_CONFUSABLE'
  | 'NAME_OF_LISTED'
  | 'NAME_HAS_URL'
  | 'CLAIM_WORDS'
  | 'NAME_HIDES_CHARACTERS'

/** The names of listed tokens, in the forms that they are compared in. */
interface KnownNames {
  /** As they are written, lower case. */
  readonly written: ReadonlySet<string>
  /** As a hasty reader sees them. */
  readonly seen: ReadonlySet<string>
  /** Name and symbol together, as seen. */
  readonly pairs: ReadonlySet<string>
  readonly addresses: ReadonlySet<string>
}

/** With one of these, a second sign makes spam. */
const grave: ReadonlySet<Reason> = new Set(['CLAIM_WORDS', 'NAME_HIDES_CHARACTERS'])

/** @remarks The names of the listed tokens are folded at the first call after a list has changed, in time that grows with their number. */
export function createSpamJudge({ chainId, listed, allow, deny }: SpamJudgeOptions): SpamJudge {
  const natives = nativeCoinNames(chainId)
  let source: readonly KnownToken[] | undefined
  let known = collectNames(natives, [])

  return asset => {
    if (deny.has(asset.address)) return { verdict: 'spam', reasons: ['DENY_LISTED'] }
    if (allow.has(asset.address)) return { verdict: 'ok', reasons: ['ALLOW_LISTED'] }
    const tokens = listed()
    if (tokens !== source) {
      known = collectNames(natives, tokens)
      source = tokens
    }
    if (known.addresses.has(asset.address)) return { verdict: 'ok', reasons: ['IN_TOKEN_LIST'] }
    const reasons = signsOf(asset, known)
    if (reasons.length === 0) return undefined
    const spam =
      reasons.includes('NAME_CONFUSABLE') || (reasons.length > 1 && reasons.some(reason => grave.has(reason)))
    return { verdict: spam ? 'spam' : 'suspicious', reasons }
  }
}

function signsOf(asset: Judged, known: KnownNames): Reason[] {
  const { name, symbol, title = '' } = asset
  const seen = { name: foldLookalikes(name), symbol: foldLookalikes(symbol) }
  const texts = [seen.name, seen.symbol, foldLookalikes(title)]
  const hides = asset.hidesCharacters === true
  // A plain name is no disguise, even where the listed one is written oddly.
  const confusable = (written: string, looksLike: string) => {
    const plain = written.toLowerCase()
    return known.written.has(plain) ? hides : looksLike !== plain && known.seen.has(looksLike)
  }
  const signs: [Reason, boolean][] = [
    ['NAME_CONFUSABLE', confusable(name, seen.name) || confusable(symbol, seen.symbol)],
    ['NAME_OF_LISTED', known.pairs.has(pairOf(seen))],
    ['NAME_HAS_URL', texts.some(hasUrl)],
    ['CLAIM_WORDS', texts.some(hasClaimWords)],
    ['NAME_HIDES_CHARACTERS', hides || hidesCharacters(title)]
  ]
  return signs.filter(([, found]) => found).map(([reason]) => reason)
}

/** Of a name and symbol as seen. */
function pairOf({ name, symbol }: CoinName): string {
  return `${symbol}\n${name}`
}

function collectNames(natives: readonly CoinName[], tokens: readonly KnownToken[]): KnownNames {
  const known = {
    written: new Set<string>(),
    seen: new Set<string>(),
    pairs: new Set<string>(),
    addresses: new Set(tokens.map(({ address }) => address))
  }
  for (const { name, symbol } of [...natives, ...tokens]) {
    const seen = { name: foldLookalikes(name), symbol: foldLookalikes(symbol) }
    if (name !== '') known.written.add(name.toLowerCase())
    if (symbol !== '') known.written.add(symbol.toLowerCase())
    if (seen.name !== '') known.seen.add(seen.name)
    if (seen.symbol !== '') known.seen.add(seen.symbol)
    if (seen.name !== '' && seen.symbol !== '') known.pairs.add(pairOf(seen))
  }
  return known
}

/** The name and symbol of a coin that is known by its chain. */
interface CoinName {
  readonly name: string
  readonly symbol: string
}

/** Chains whose coin is known by name, besides development chains. */
const judgedChains = new Set([1, 10, 56, 100, 137, 250, 324, 8453, 42161, 43114, 59144, 534352, 11155111])
/** The other name of a coin, by its symbol. */
const otherNames: Readonly<Record<string, CoinName>> = {
  ETH: { name: 'Ethereum', symbol: 'ETH' },
  POL: { name: 'Matic', symbol: 'MATIC' }
}

/** Returns the names of a chain's native coin; `[]` for a chain that is not known here. */
function nativeCoinNames(chainId: number): readonly CoinName[] {
  const named = chainId === 31337 ? 1 : chainId
  const coin = judgedChains.has(named) ? chainPresets.get(named)?.nativeCurrency : undefined
  return coin === undefined ? [] : [coin, otherNames[coin.symbol] ?? coin]
}
