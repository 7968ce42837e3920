import { z } from 'zod'
import type { ReadPrices } from '../../../model/prices.ts'
import { group, httpUrl, integer, list, positive, text } from '../../../platform/settings/fields.ts'

const gateways = (what: string, fallback: string) =>
  z
    .array(httpUrl)
    .min(1)
    .default([fallback])
    .meta({ description: `base URLs that ${what} are fetched from, in order: at least one` })

/** The key `metadata`. */
export const metadataSettings = group(
  'off-chain metadata: { ipfsGateways, arweaveGateways, allowHosts, tokenLists, ... }',
  {
    ipfsGateways: gateways('ipfs:// URIs', 'https://ipfs.io'),
    arweaveGateways: gateways('ar:// URIs', 'https://arweave.net'),
    allowHosts: list(
      text(host => /^[^\s/@]+:\d{1,5}$/.test(host), 'a "host:port"'),
      'private hosts the metadata fetcher may reach (development only): a list of exact "host:port"'
    ),
    tokenLists: list(
      text(source => source !== '', 'a URL or the path of a file'),
      'token lists that ERC-20 images and missing names come from: a list of https:// URLs and file paths'
    ),
    tokenListRefreshMs: integer(
      3_600_000,
      10_000,
      604_800_000,
      'milliseconds until a token list is read again: 10000 to 604800000'
    ),
    prices: z
      .union([httpUrl, z.custom<ReadPrices>(value => typeof value === 'function')])
      .nullable()
      .default(null)
      .meta({
        description:
          'where prices of tokens come from, which the service has no source of: the http:// or https:// URL of a service of ' +
          'yours, a function in a program, or null for none'
      }),
    freshForMs: positive(
      3_600_000,
      2_592_000_000,
      'milliseconds until a document that may change is fetched again, behind the answer'
    ),
    gatewayStaggerMs: positive(
      500,
      10_000,
      'milliseconds that one gateway is waited for before the next one is asked as well'
    ),
    memoryBytes: positive(67_108_864, 17_179_869_184, 'most bytes of documents in memory, about'),
    cacheBytes: positive(
      268_435_456,
      1_099_511_627_776,
      'most bytes of documents with a content address in the store'
    ),
    urlCacheBytes: positive(
      134_217_728,
      1_099_511_627_776,
      'most bytes of other documents, and of failures, in the store'
    )
  }
)
