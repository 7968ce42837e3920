import { maxUrlLength } from './checkUrl.ts'
import { type Cid, canonicalCid, isPeerId, readCid } from './cid.ts'
import { type InlineContent, readDataUri } from './dataUri.ts'

/** Base URLs, with or without a path; a trailing `/` or `/ipfs` is ignored. The first one is used for images. */
export interface Gateways {
  readonly ipfs: readonly string[]
  readonly arweave: readonly string[]
}

/** A document that has to be fetched. */
export interface RemoteAddress {
  /** The same for every spelling of the address, whatever gateways are configured. */
  readonly key: string
  /** In order of preference, each through the guarded fetch: nothing here has been checked for safety. */
  readonly urls: readonly string[]
  /** An answer, once had, stays true; all `urls` are configured gateways. Not so for an address that a stranger's host serves. */
  readonly contentAddressed: boolean
  /** Given where the document is all of what this names, so that it can be held against it. */
  readonly cid?: Cid
}

/** The meaning of a URI found on a chain. */
export type ResolvedUri =
  | ({ readonly kind: 'remote' } & RemoteAddress)
  | { readonly kind: 'inline'; readonly content: InlineContent }
  | { readonly kind: 'unusable' }

const unusable: ResolvedUri = { kind: 'unusable' }

/**
 * Turns a `tokenURI`, `uri` or `image` into URLs to fetch, or into the content that it holds itself.
 *
 * Understood: http and https; `ipfs://CID/path`, also `ipfs://ipfs/CID`, `/ipfs/CID` and a bare CID; `ipns://name/path` and
 * `/ipns/name`, the name being a key, a peer id or a domain; `ar://id/path`; `data:`; and a bare JSON object. A URL of
 * any gateway, by path or by subdomain, falls back to the configured ones.
 *
 * @param options.tokenId - given for ERC-1155 only: replaces `{id}` by 64 lower-case hex digits, as EIP-1155 demands.
 * @returns `unusable` for everything else, a CID, name or Arweave id that is none, a path that leaves its CID, and a URL of
 *   over 8,192 characters.
 */
export function resolveUri(
  uri: string,
  gateways: Gateways,
  options: { readonly tokenId?: bigint } = {}
): ResolvedUri {
  const written = uri.trim()
  // Before ids are put in: they may stand in it a hundred thousand times.
  if (written.length > maxUrlLength && !/^(data:|\{)/i.test(written)) return unusable
  const text = substituteId(written, options.tokenId)
  if (/^data:/i.test(text)) {
    const content = readDataUri(text)
    return content === undefined ? unusable : { kind: 'inline', content }
  }
  if (text.startsWith('{')) return inlineText('application/json', text)

  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(text)?.[1]?.toLowerCase()
  const afterScheme = text.slice((scheme?.length ?? -1) + 1).replace(/^\/{0,2}/, '')
  switch (scheme) {
    case 'http':
    case 'https':
      return resolveHttp(text, gateways)
    case 'ipfs':
      // Some write a whole path where the CID belongs.
      return /^ipns\//.test(afterScheme)
        ? ipnsAddress(afterScheme.slice('ipns/'.length), gateways.ipfs)
        : ipfsAddress(afterScheme.replace(/^(ipfs\/)*/, ''), gateways.ipfs)
    case 'ipns':
      return ipnsAddress(afterScheme.replace(/^(ipns\/)*/, ''), gateways.ipfs)
    case 'ar':
      return arweaveAddress(afterScheme, gateways.arweave)
    case undefined:
      return /^\/?ipns\//.test(text)
        ? ipnsAddress(text.replace(/^\/?ipns\//, ''), gateways.ipfs)
        : ipfsAddress(text.replace(/^\/?ipfs\//, ''), gateways.ipfs)
    default:
      return unusable
  }
}

/** Also escaped, as libraries that build URLs write it. */
function substituteId(uri: string, tokenId: bigint | undefined): string {
  return tokenId === undefined
    ? uri
    : uri.replace(/\{id\}|%7[Bb]id%7[Dd]/g, tokenId.toString(16).padStart(64, '0'))
}

function inlineText(mediaType: string, text: string): ResolvedUri {
  return { kind: 'inline', content: { mediaType, charset: 'utf-8', bytes: Buffer.from(text, 'utf8') } }
}

/** Nothing to fetch from: unusable. */
function remote(address: RemoteAddress): ResolvedUri {
  return address.urls.length === 0 ? unusable : { kind: 'remote', ...address }
}

function resolveHttp(text: string, gateways: Gateways): ResolvedUri {
  const own = { key: URL.canParse(text) ? new URL(text).href : text, urls: [text], contentAddressed: false }
  const [, byDomain, space, byPath] =
    /^https?:\/\/(?:([a-z0-9-]+)\.(ip[fn]s)\.)?[^/?#]+(\/[^?#]*)?/i.exec(text) ?? []
  // A key or a query that one gateway wants means nothing to the others.
  const path =
    byDomain === undefined
      ? (byPath ?? '')
      : `/${space?.toLowerCase()}/${byDomain.toLowerCase()}${byPath ?? ''}`
  const [, kind, rest = ''] = /^\/(ip[fn]s)\/(.+)$/.exec(path) ?? []
  const inGateway =
    kind === 'ipfs'
      ? ipfsAddress(rest, gateways.ipfs)
      : kind === 'ipns'
        ? ipnsAddress(rest, gateways.ipfs)
        : unusable
  if (inGateway.kind !== 'remote') return { kind: 'remote', ...own }
  const { urls, cid } = inGateway
  // The named gateway is a stranger's and may answer anything: so even with a CID this is no content address.
  return {
    kind: 'remote',
    ...own,
    urls: [...new Set([text, ...urls])],
    ...(cid === undefined ? {} : { cid })
  }
}

function ipfsAddress(cidAndPath: string, gateways: readonly string[]): ResolvedUri {
  const [text = ''] = cidAndPath.split(/[/?#]/, 1)
  const cid = readCid(text)
  if (cid === undefined) return unusable
  const path = cidAndPath.slice(text.length)
  return remote({
    key: `ipfs/${canonicalCid(cid)}${path}`,
    urls: gateways.flatMap(gateway => within(`${base(gateway)}/ipfs/${text}`, path)),
    contentAddressed: true,
    ...(/^\/?$/.test(path) ? { cid } : {})
  })
}

/** A name may lead elsewhere tomorrow: so this is no content address. */
function ipnsAddress(nameAndPath: string, gateways: readonly string[]): ResolvedUri {
  const [name = ''] = nameAndPath.split(/[/?#]/, 1)
  if (!isIpnsName(name)) return unusable
  const path = nameAndPath.slice(name.length)
  return remote({
    key: `ipns/${name}${path}`,
    urls: gateways.flatMap(gateway => within(`${base(gateway)}/ipns/${name}`, path)),
    contentAddressed: false
  })
}

/** A key as a CID in any base, a peer id in base58, or a domain with a DNSLink record. */
function isIpnsName(name: string): boolean {
  const label = '[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?'
  const domain = new RegExp(`^(${label}\\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])$`, 'i')
  return readCid(name) !== undefined || isPeerId(name) || (name.length <= 253 && domain.test(name))
}

function arweaveAddress(idAndPath: string, gateways: readonly string[]): ResolvedUri {
  const [id = ''] = idAndPath.split(/[/?#]/, 1)
  if (!isArweaveId(id)) return unusable
  const path = idAndPath.slice(id.length)
  return remote({
    key: `ar/${id}${path}`,
    urls: gateways.flatMap(gateway => within(`${base(gateway)}/${id}`, path)),
    contentAddressed: true
  })
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
