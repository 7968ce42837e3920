import { z } from 'zod'
import { chainDeepHistory } from '../../features/olderHistory/settings/settings.ts'
import { verifyModes } from '../../model/rootParts.ts'
import { traceModes } from '../../model/traceMode.ts'
import { maxReasonLength, waivableCheckNames } from '../../model/waivableChecks.ts'
import {
  flag,
  httpUrl,
  integer,
  isPostgresUrl,
  list,
  postgresForm,
  webSocketUrl
} from '../../platform/settings/fields.ts'

const chainId = z
  .int()
  .min(1)
  .meta({ description: 'the chain id that callers send: an integer from 1 to 2^53-1, used once' })

const header = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

const nodeEndpoint = z
  .union([
    httpUrl,
    z.strictObject({
      url: httpUrl,
      maxRequestsPerSecond: z.number().min(0.1).max(1_000_000).optional(),
      maxConcurrency: z.int().min(1).max(10_000).optional(),
      headers: z.record(z.string().regex(header), z.string().regex(/^[\t\x20-\x7e]+$/)).optional()
    })
  ])
  .meta({
    description:
      'an http:// or https:// URL, or { url, maxRequestsPerSecond (0.1 to 1000000), maxConcurrency (1 to 10000), ' +
      'headers (names and values of printable ASCII) }'
  })

const rpcUrls = z
  .array(nodeEndpoint)
  .min(1)
  .meta({
    description:
      "JSON-RPC URLs of the chain's nodes, in order of preference: at least one, each a URL or " +
      '{ url, maxRequestsPerSecond, maxConcurrency, headers }'
  })

const waiver = z
  .strictObject({
    check: z.enum(waivableCheckNames).meta({
      description: `a check that can be waived: ${waivableCheckNames.map(name => `"${name}"`).join(', ')}`
    }),
    reason: z.string().max(maxReasonLength).regex(/\S/).meta({
      description: 'why this chain is trusted without the check, for the log: 1 to 200 characters'
    }),
    fromBlock: z
      .int()
      .min(0)
      .default(0)
      .meta({ description: 'first block that may break the check: an integer from 0' }),
    toBlock: z.int().min(0).nullable().default(null).meta({
      description:
        'last block that may break the check, not before `fromBlock`: an integer, or null for no end'
    }),
    source: httpUrl.nullable().default(null).meta({
      description: 'where the exception is documented: an http:// or https:// URL, or null'
    })
  })
  .refine(({ fromBlock, toBlock }) => toBlock === null || fromBlock <= toBlock, { path: ['toBlock'] })

const nativeCurrency = z.strictObject({
  name: z.string().min(1).max(60),
  symbol: z.string().min(1).max(20),
  decimals: z.int().min(0).max(255)
})

/** An EVM chain. */
export const evmChain = z.strictObject({
  chainId,
  rpcUrls,
  wsUrls: list(webSocketUrl, 'WebSocket URLs that announce new blocks, one at a time is used: a list'),
  startBlock: z
    .union([z.int().min(0), z.literal('latest')])
    .default(0)
    .meta({
      description:
        'first block to index: an integer from 0, or "latest" (the newest final block at the first start)'
    }),
  deepHistory: chainDeepHistory,
  traces: z.enum(traceModes).default('off').meta({
    description:
      'indexing of internal native transfers, from traces: "on", "off", or "auto" (where a node offers them)'
  }),
  finality: z
    .union([z.literal('auto'), z.int().min(0)])
    .default('auto')
    .meta({
      description:
        'what is final: "auto" (ask the node), or a number of blocks below the head, an integer from 0'
    }),
  pollIntervalMs: integer(
    1_000,
    50,
    600_000,
    'pause between looks at the node while following it: 50 to 600000 milliseconds'
  ),
  store: z
    .string()
    .refine(url => /^sqlite:[^:]/.test(url) || isPostgresUrl(url))
    .nullable()
    .default(null)
    .meta({
      description: `where the index of this chain is kept: "sqlite:<folder>", "${postgresForm}", or null for where the others are`
    }),
  preset: flag(
    true,
    'apply what is known of the chain by its id: its name, currency, explorer and waivers: true or false'
  ),
  name: z
    .string()
    .regex(/^(?! )\P{C}{1,60}$/u)
    .nullable()
    .default(null)
    .meta({ description: "the chain's name: 1 to 60 characters, or null for the one of the preset" }),
  nativeCurrency: nativeCurrency.nullable().default(null).meta({
    description: 'currency of fees: { name, symbol, decimals }, or null for the one of the preset'
  }),
  explorerUrl: httpUrl.nullable().default(null).meta({
    description: 'block explorer: an http:// or https:// URL, or null for the one of the preset'
  }),
  dev: z.boolean().nullable().default(null).meta({
    description:
      'a development chain, which may begin anew at any time: true, false, or null for true with chain id 31337 or 1337'
  }),
  verify: z.enum(verifyModes).default('auto').meta({
    description:
      'blocks held against their headers: "roots" (all), "auto" (new blocks, where the encoding of the chain is known), or "basic" (none)'
  }),
  waivers: list(
    waiver,
    'checks of blocks that this chain is allowed to break: a list of { check, reason, ... }'
  )
})

/** A Solana cluster. */
export const solanaChain = z.strictObject({
  chainId,
  rpcUrls,
  commitment: z
    .enum(['confirmed', 'finalized'])
    .default('confirmed')
    .meta({ description: 'commitment of every read: "confirmed" or "finalized"' }),
  dev: flag(
    false,
    'a development cluster, whose genesis block need not be that of the public cluster with this chain id: true or false'
  ),
  mplCore: flag(
    false,
    'list Metaplex Core assets, for which the nodes must serve getProgramAccounts: true or false'
  ),
  dasUrl: httpUrl.nullable().default(null).meta({
    description:
      'endpoint with the DAS API that compressed NFTs are listed from: an http:// or https:// URL, or null'
  })
})
