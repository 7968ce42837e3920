import { readFile } from 'node:fs/promises'
import { MetadataError } from '../platform/errors.ts'
import { readAllowHosts } from './checkUrl.ts'
import type { GuardedFetch } from './guardedFetch.ts'
import { type JsonObject, readJsonObject } from './readJsonObject.ts'
import { resolveImage } from './resolveImage.ts'
import type { Gateways } from './resolveUri.ts'

export interface TokenListsOptions {
  /** File paths or https URLs of lists in the Uniswap schema; an earlier list wins over a later one. */
  readonly sources: readonly string[]
  readonly guardedFetch: GuardedFetch
  readonly gateways: Gateways
  readonly allowHosts?: readonly string[]
  /** Told of every list that could not be used; never a failure. */
  readonly warn: (message: string, context: { readonly source: string; readonly problem: string }) => void
}

/** Logos of ERC-20 tokens, as configured lists give them. */
export interface TokenLists {
  /** Reads all lists once. Never rejects: a missing or broken list is a warning. */
  load(): Promise<void>
  /**
   * @param address - any case.
   * @returns https URL or `data:image/` URI; "" where no list knows the token, and before `load` is done.
   */
  image(chainId: number, address: string): string
}

/** A list is the operator's choice, so it may be larger than a stranger's document. */
const listLimits = { wireBytes: 8 * 1024 * 1024, decodedBytes: 16 * 1024 * 1024 }
const maxTokens = 100_000

/** @see https://uniswap.org/tokenlist.schema.json */
export function createTokenLists(options: TokenListsOptions): TokenLists {
  const { sources, guardedFetch, gateways, warn } = options
  const allowHosts = readAllowHosts(options.allowHosts ?? [])
  const images = new Map<string, string>()

  async function readSource(source: string): Promise<readonly unknown[]> {
    const bytes = /^https?:/i.test(source)
      ? (await guardedFetch(source, { limits: listLimits })).body
      : await readFile(source)
    return tokensOf(readJsonObject(bytes))
  }

  function add(token: unknown): void {
    if (!isListedToken(token)) return
    const key = keyOf(token.chainId, token.address)
    if (images.has(key)) return
    const image = resolveImage(token.logoURI, { gateways, allowHosts })
    if (image !== '') images.set(key, image)
  }

  return {
    async load() {
      const lists = await Promise.allSettled(sources.map(readSource))
      lists.forEach((list, i) => {
        if (list.status === 'fulfilled') list.value.forEach(add)
        else warn('Token list not used', { source: sources[i] ?? '', problem: problemOf(list.reason) })
      })
    },
    image: (chainId, address) => images.get(keyOf(chainId, address)) ?? ''
  }
}

function tokensOf(list: JsonObject): readonly unknown[] {
  const { name, tokens } = list
  if (typeof name !== 'string' || !Array.isArray(tokens)) {
    throw new MetadataError('expected a token list: an object with `name` and an array `tokens`')
  }
  if (tokens.length > maxTokens) throw new MetadataError(`more than ${maxTokens} tokens`)
  return tokens
}

interface ListedToken {
  readonly chainId: number
  readonly address: string
  readonly logoURI: string
}

/** One bad entry does not spoil a list. */
function isListedToken(token: unknown): token is ListedToken {
  if (typeof token !== 'object' || token === null) return false
  const { chainId, address, logoURI } = token as Partial<Record<keyof ListedToken, unknown>>
  return (
    Number.isSafeInteger(chainId) &&
    typeof address === 'string' &&
    /^0x[0-9a-f]{40}$/i.test(address) &&
    typeof logoURI === 'string'
  )
}

function keyOf(chainId: number, address: string): string {
  return `${chainId}:${address.toLowerCase()}`
}

/** A file problem by its code only: the path is in the configuration anyway. */
function problemOf(error: unknown): string {
  if (error instanceof MetadataError) return error.message
  return error instanceof Error && 'code' in error ? String(error.code) : 'unreadable'
}
