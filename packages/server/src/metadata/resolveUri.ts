import { isCid } from './cid.ts'
import { type InlineContent, readDataUri } from './dataUri.ts'

/** Base URLs, with or without a path; a trailing `/` or `/ipfs` is ignored. The first one is used for images. */
export interface Gateways {
  readonly ipfs: readonly string[]
  readonly arweave: readonly string[]
}

/** What a URI found on a chain amounts to. */
export type ResolvedUri =
  | {
      readonly kind: 'remote'
      /** To be tried in this order, each through the guarded fetch: nothing here has been checked for safety. */
      readonly urls: readonly string[]
      /** The address is the hash of the content: an answer, once had, stays true. */
      readonly contentAddressed: boolean
    }
  | { readonly kind: 'inline'; readonly content: InlineContent }
  | { readonly kind: 'unusable' }

const unusable: ResolvedUri = { kind: 'unusable' }

/**
 * Turns a `tokenURI`, `uri` or `image` into URLs to fetch, or into the content that it holds itself.
 *
 * Understood: http and https; `ipfs://CID/path`, also `ipfs://ipfs/CID`, `/ipfs/CID` and a bare CID; `ar://id/path`;
 * `data:`; and a bare JSON object. An https URL of any gateway that names a CID falls back to the configured ones.
 *
 * @param options.tokenId - given for ERC-1155 only: replaces `{id}` by 64 lower-case hex digits, as EIP-1155 demands.
 * @returns `unusable` for everything else, a CID or Arweave id that is none, and a path that leaves its CID.
 */
export function resolveUri(
  uri: string,
  gateways: Gateways,
  options: { readonly tokenId?: bigint } = {}
): ResolvedUri {
  const text = substituteId(uri.trim(), options.tokenId)
  if (/^data:/i.test(text)) {
    const content = readDataUri(text)
    return content === undefined ? unusable : { kind: 'inline', content }
  }
  if (text.startsWith('{')) return inlineText('application/json', text)

  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(text)?.[1]?.toLowerCase()
  switch (scheme) {
    case 'http':
    case 'https':
      return resolveHttp(text, gateways)
    case 'ipfs':
      return contentAddressed(
        ipfsUrls(text.slice('ipfs:'.length).replace(/^\/{0,2}(ipfs\/)*/, ''), gateways.ipfs)
      )
    case 'ar':
      return contentAddressed(arweaveUrls(text.slice('ar:'.length).replace(/^\/{0,2}/, ''), gateways.arweave))
    case undefined:
      return contentAddressed(ipfsUrls(text.replace(/^\/?ipfs\//, ''), gateways.ipfs))
    default:
      return unusable
  }
}

function substituteId(uri: string, tokenId: bigint | undefined): string {
  return tokenId === undefined ? uri : uri.replaceAll('{id}', tokenId.toString(16).padStart(64, '0'))
}

function inlineText(mediaType: string, text: string): ResolvedUri {
  return { kind: 'inline', content: { mediaType, charset: 'utf-8', bytes: Buffer.from(text, 'utf8') } }
}

function contentAddressed(urls: readonly string[]): ResolvedUri {
  return urls.length === 0 ? unusable : { kind: 'remote', urls, contentAddressed: true }
}

function resolveHttp(text: string, gateways: Gateways): ResolvedUri {
  const inGateway = /^https?:\/\/[^/?#]+\/ipfs\/(.+)$/i.exec(text)?.[1]
  const fallbacks = inGateway === undefined ? [] : ipfsUrls(inGateway, gateways.ipfs)
  // The named gateway is a stranger's and may answer anything; so even with a CID this is no content address.
  return { kind: 'remote', urls: [...new Set([text, ...fallbacks])], contentAddressed: false }
}

function ipfsUrls(cidAndPath: string, gateways: readonly string[]): readonly string[] {
  const [cid = ''] = cidAndPath.split(/[/?#]/, 1)
  if (!isCid(cid)) return []
  return gateways.flatMap(gateway => within(`${base(gateway)}/ipfs/${cid}`, cidAndPath.slice(cid.length)))
}

function arweaveUrls(idAndPath: string, gateways: readonly string[]): readonly string[] {
  const [id = ''] = idAndPath.split(/[/?#]/, 1)
  if (!isArweaveId(id)) return []
  return gateways.flatMap(gateway => within(`${base(gateway)}/${id}`, idAndPath.slice(id.length)))
}

/** 32 bytes in base64url: 43 digits, of which the last holds four bits only. */
function isArweaveId(text: string): boolean {
  return /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/.test(text)
}

function base(gateway: string): string {
  return gateway.replace(/\/+$/, '').replace(/\/ipfs$/, '')
}

/**
 * Puts a stranger's path under a gateway's URL.
 * @returns nothing when it would leave that place: dot segments, also escaped, could reach the gateway's other paths.
 */
function within(root: string, path: string): readonly string[] {
  if (hasDotSegment(path)) return []
  // In file names `#` is a character like any other; a fragment would make no sense here.
  const text = root + path.replaceAll('#', '%23')
  if (!URL.canParse(text)) return []
  const url = new URL(text)
  return url.href === root || /^[/?]/.test(url.href.slice(root.length)) ? [url.href] : []
}

function hasDotSegment(path: string): boolean {
  let text = path
  // Decoded more than once, for servers that do so too.
  for (let round = 0; round < 3; round++) {
    if (/(^|[/\\])\.{1,2}([/\\?#]|$)/.test(text)) return true
    text = text.replace(/%(25|2e|2f|5c)/gi, found => decodeURIComponent(found))
  }
  return /(^|[/\\])\.{1,2}([/\\?#]|$)/.test(text)
}
