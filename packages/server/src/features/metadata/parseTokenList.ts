import { displayText } from '../../platform/displayText.ts'
import { metadataFailure } from './metadataFailure.ts'
import { type JsonObject, readJsonObject } from './readJsonObject.ts'

/** One entry of a token list. */
export interface TokenListEntry {
  readonly chainId: number
  /** Lower case. */
  readonly address: string
  /** Display text; may be "". */
  readonly name: string
  readonly symbol: string
  /** As written; absent where the list gives none. */
  readonly logoUri?: string
}

export interface ParsedTokenList {
  readonly entries: readonly TokenListEntry[]
  /** Entries of the wanted chains that break the schema. */
  readonly dropped: number
}

const maxEntries = 100_000

/**
 * Reads a list in the Uniswap schema. One bad entry does not spoil it: it is dropped and counted. Everything that is
 * not asked for here (version, tags, extensions with bridge addresses) is not looked at.
 *
 * @param chainIds - entries of other chains are passed over and not counted.
 * @throws {MetadataError} CONTENT: not JSON, no object with `name` and `tokens`, or over 100,000 entries.
 * @see https://uniswap.org/tokenlist.schema.json
 */
export function parseTokenList(bytes: Uint8Array, chainIds: ReadonlySet<number>): ParsedTokenList {
  const tokens = tokensOf(readJsonObject(bytes))
  const entries: TokenListEntry[] = []
  let dropped = 0
  for (const token of tokens) {
    const fields: JsonObject = typeof token === 'object' && token !== null ? (token as JsonObject) : {}
    const { chainId } = fields
    if (typeof chainId === 'number' && Number.isSafeInteger(chainId) && !chainIds.has(chainId)) continue
    const entry = toEntry(fields)
    if (entry === undefined) dropped++
    else entries.push(entry)
  }
  return { entries, dropped }
}

function tokensOf(list: JsonObject): readonly unknown[] {
  const { name, tokens } = list
  if (typeof name !== 'string' || !Array.isArray(tokens)) {
    throw metadataFailure('CONTENT', 'No token list: expected an object with `name` and an array `tokens`')
  }
  if (tokens.length > maxEntries) {
    throw metadataFailure('CONTENT', `Token list of ${tokens.length} entries: expected at most ${maxEntries}`)
  }
  return tokens
}

function toEntry({
  chainId,
  address,
  name,
  symbol,
  decimals,
  logoURI
}: JsonObject): TokenListEntry | undefined {
  const valid =
    typeof chainId === 'number' &&
    Number.isSafeInteger(chainId) &&
    typeof address === 'string' &&
    /^0x[0-9a-f]{40}$/i.test(address) &&
    typeof name === 'string' &&
    typeof symbol === 'string' &&
    Number.isInteger(decimals) &&
    Number(decimals) >= 0 &&
    Number(decimals) <= 255 &&
    (logoURI === undefined || typeof logoURI === 'string')
  if (!valid) return undefined
  return {
    chainId,
    address: address.toLowerCase(),
    name: displayText(name),
    symbol: displayText(symbol),
    ...(logoURI !== undefined && { logoUri: logoURI })
  }
}
