import { limits as specLimits } from '@chain-data/protocol'
import { z } from 'zod'
import { traceModes } from '../../model/traceMode.ts'
import { waivableCheckNames } from '../../model/waivableChecks.ts'
import { parseAddressRange } from '../../platform/addressRange.ts'
import { loginSchema, overloadSchema } from './limitSchemas.ts'
import { projectsSchema } from './projectsSchema.ts'
import { rateLimitSchema } from './rateLimit.ts'
import { indexingSchema, storeConnectionsSchema, storeReplicasSchema, storeSchema } from './storeSchemas.ts'

// Each description below serves three readers: the type's user, `chain-data serve --help`, and whoever gets the
// key wrong (it becomes the "expected ..." of the error). So each says what the key means AND what it accepts.

function isHttpUrl(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text)
}

function isWebSocketUrl(text: string): boolean {
  return /^wss?:\/\//i.test(text) && URL.canParse(text)
}

const httpUrl = z.string().refine(isHttpUrl).meta({ description: 'an http:// or https:// URL' })

const chainId = z
  .int()
  .min(1)
  .meta({ description: 'the chain id that callers send: an integer from 1 to 2^53-1, used once' })

const rpcUrls = z
  .array(httpUrl)
  .min(1)
  .meta({ description: "JSON-RPC URLs of the chain's nodes, in order of preference: at least one" })

const waiver = z
  .strictObject({
    check: z.enum(waivableCheckNames).meta({
      description: `a check that can be waived: ${waivableCheckNames.map(name => `"${name}"`).join(', ')}`
    }),
    reason: z.string().max(200).regex(/\S/).meta({
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
    })
  })
  .refine(({ fromBlock, toBlock }) => toBlock === null || fromBlock <= toBlock, { path: ['toBlock'] })

const evmChain = z.strictObject({
  chainId,
  rpcUrls,
  wsUrls: z
    .array(z.string().refine(isWebSocketUrl).meta({ description: 'a ws:// or wss:// URL' }))
    .default([])
    .meta({ description: 'WebSocket URLs that announce new blocks, one at a time is used: a list' }),
  startBlock: z
    .union([z.int().min(0), z.literal('latest')])
    .default(0)
    .meta({
      description:
        'first block to index: an integer from 0, or "latest" (the newest final block at the first start)'
    }),
  deepHistory: z.enum(['node', 'off']).default('off').meta({
    description:
      'who answers what lies below the first indexed block: "node" (its own index of addresses), or "off"'
  }),
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
  pollIntervalMs: z
    .int()
    .min(50)
    .max(600_000)
    .default(1_000)
    .meta({ description: 'pause between looks at the node while following it: 50 to 600000 milliseconds' }),
  waivers: z.array(waiver).default([]).meta({
    description: 'checks of blocks that this chain is allowed to break: a list of { check, reason, ... }'
  })
})

const solanaChain = z.strictObject({
  chainId,
  rpcUrls,
  commitment: z
    .enum(['confirmed', 'finalized'])
    .default('confirmed')
    .meta({ description: 'commitment of every read: "confirmed" or "finalized"' }),
  mplCore: z.boolean().default(false).meta({
    description: 'list Metaplex Core assets, for which the nodes must serve getProgramAccounts: true or false'
  }),
  dasUrl: httpUrl.nullable().default(null).meta({
    description:
      'endpoint with the DAS API that compressed NFTs are listed from: an http:// or https:// URL, or null'
  })
})

const gateways = (what: string, fallback: string) =>
  z
    .array(httpUrl)
    .min(1)
    .default([fallback])
    .meta({ description: `base URLs that ${what} are fetched from, in order: at least one` })

const contractList = (what: string, entry: string) =>
  z
    .array(
      z
        .string()
        .regex(/^[1-9]\d{0,15}:0x[0-9a-fA-F]{40}$/)
        .meta({ description: entry })
    )
    .default([])
    .meta({ description: `${what}: a list of "<chainId>:<address>"` })

const positive = (fallback: number, largest: number, description: string) =>
  z
    .int()
    .min(1)
    .max(largest)
    .default(fallback)
    .meta({ description: `${description}: 1 to ${largest}` })

/** The whole configuration: types, defaults and documentation in one place. */
export const configSchema = z
  .strictObject({
    listen: z
      .strictObject({
        host: z
          .string()
          .min(1)
          .default('127.0.0.1')
          .meta({ description: 'address to listen on: a host name or IP' }),
        port: z
          .int()
          .min(0)
          .max(65_535)
          .default(8080)
          .meta({ description: 'TCP port to listen on: 0 to 65535, 0 takes any free one' }),
        maxConnections: positive(10_000, 1_000_000, 'connections at the same time, more are closed'),
        trustedProxies: z
          .array(
            z
              .string()
              .refine(text => parseAddressRange(text) !== undefined)
              .meta({ description: 'an IP address, a CIDR range such as "10.0.0.0/8", or "loopback"' })
          )
          .default([])
          .meta({
            description:
              'proxies whose X-Forwarded-For tells the address of a caller: a list of IP addresses, CIDR ranges and "loopback"'
          }),
        drainMs: z.int().min(0).max(300_000).default(0).meta({
          description:
            'milliseconds from "not ready" until calls are refused when the server is to end: 0 to 300000'
        })
      })
      .prefault({})
      .meta({ description: 'where to listen: { host, port, maxConnections, trustedProxies, drainMs }' }),
    store: storeSchema,
    storeReplicas: storeReplicasSchema,
    storeConnections: storeConnectionsSchema,
    indexing: indexingSchema,
    projects: projectsSchema.default([]).meta({
      description:
        'who may call: a list of { projectId, serverKey, serverKeys, clientKeys, ... }, at least one here or in projectsFile'
    }),
    projectsFile: z.string().min(1).nullable().default(null).meta({
      description:
        'more projects, read again whenever it changes: the path of a file kept by `chain-data project`, or null'
    }),
    methodPrefix: z
      .string()
      .regex(/^(?!rpc\.)[A-Za-z0-9_.-]{0,32}$/)
      .default('svc_')
      .meta({
        description:
          'what replaces "svc_" in method names: up to 32 of A-Z a-z 0-9 _ . -, not beginning with "rpc."'
      }),
    chains: z
      .strictObject({
        evm: z
          .array(evmChain)
          .default([])
          .meta({ description: 'EVM chains: a list of { chainId, rpcUrls, ... }' }),
        solana: z
          .array(solanaChain)
          .default([])
          .meta({ description: 'Solana clusters: a list of { chainId, rpcUrls, ... }' })
      })
      .refine(chains => chains.evm.length + chains.solana.length > 0)
      .meta({ description: 'the chains to serve: { evm: [...], solana: [...] } with at least one chain' }),
    history: z
      .strictObject({
        maxUnpaged: z.int().min(1).nullable().default(null).meta({
          description:
            'most transactions of an answer without `limit`: an integer from 1, or null for no bound'
        }),
        serveWhileSyncing: z.boolean().default(false).meta({
          description: 'answer from an incomplete index during the first backfill: true or false'
        }),
        deepCacheBytes: positive(
          1_073_741_824,
          1_099_511_627_776,
          'most bytes of a chain that the store keeps of what lies below its index, about'
        ),
        cacheBytes: z.int().min(0).max(1_099_511_627_776).default(67_108_864).meta({
          description:
            'bytes of pages (answers with `limit`) kept in memory for who asks again: 0 to 1099511627776'
        })
      })
      .prefault({})
      .meta({
        description: 'transaction history: { maxUnpaged, serveWhileSyncing, deepCacheBytes, cacheBytes }'
      }),
    metadata: z
      .strictObject({
        ipfsGateways: gateways('ipfs:// URIs', 'https://ipfs.io'),
        arweaveGateways: gateways('ar:// URIs', 'https://arweave.net'),
        allowHosts: z
          .array(
            z
              .string()
              .regex(/^[^\s/@]+:\d{1,5}$/)
              .meta({ description: 'a "host:port"' })
          )
          .default([])
          .meta({
            description:
              'private hosts the metadata fetcher may reach (development only): a list of exact "host:port"'
          }),
        tokenLists: z
          .array(z.string().min(1).meta({ description: 'a URL or the path of a file' }))
          .default([])
          .meta({
            description:
              'token lists that ERC-20 images and missing names come from: a list of https:// URLs and file paths'
          }),
        tokenListRefreshMs: z
          .int()
          .min(10_000)
          .max(604_800_000)
          .default(3_600_000)
          .meta({ description: 'milliseconds until a token list is read again: 10000 to 604800000' }),
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
      })
      .prefault({})
      .meta({
        description: 'off-chain metadata: { ipfsGateways, arweaveGateways, allowHosts, tokenLists, ... }'
      }),
    spam: z
      .strictObject({
        allow: contractList('contracts that are never called spam', 'a "<chainId>:<address>"'),
        deny: contractList(
          'contracts that are always called spam, none of them in `allow`',
          'a "<chainId>:<address>" that is not in `allow`'
        )
      })
      .prefault({})
      .meta({ description: 'lists that overrule the spam verdict: { allow, deny }' }),
    rateLimit: rateLimitSchema,
    login: loginSchema,
    overload: overloadSchema,
    limits: z
      .strictObject({
        bodyBytes: positive(specLimits.bodyBytes, 67_108_864, 'largest request body in bytes'),
        jsonDepth: positive(specLimits.jsonDepth, 1_000, 'deepest nesting of a request body'),
        batchEntries: positive(specLimits.batchRequests, 10_000, 'most requests of a batch'),
        headerBytes: positive(specLimits.headerBytes, 1_048_576, 'largest request head in bytes'),
        requestsInFlight: positive(1_000, 1_000_000, 'requests answered at the same time, more are refused'),
        requestDeadlineMs: positive(
          specLimits.requestDeadlineMs,
          600_000,
          'milliseconds until a call gives up'
        ),
        streamIdleMs: positive(
          specLimits.streamIdleMs,
          600_000,
          'milliseconds without progress until a stream is cut'
        ),
        metadataWaitMs: positive(
          specLimits.metadataWaitMs,
          60_000,
          'milliseconds of a call spent waiting for metadata'
        ),
        responseBytes: z.int().min(1).nullable().default(null).meta({
          description: 'largest answer of one call in bytes: an integer from 1, or null for no bound'
        })
      })
      .prefault({})
      .meta({ description: 'bounds on what one request may cost' }),
    pages: z
      .strictObject({
        status: z
          .boolean()
          .default(true)
          .meta({ description: 'show the status page at / and its data at /status.json: true or false' }),
        metrics: z
          .boolean()
          .default(true)
          .meta({ description: 'show figures for Prometheus at /metrics: true or false' })
      })
      .prefault({})
      .meta({ description: 'pages that are read without credentials: { status, metrics }' }),
    log: z
      .strictObject({
        level: z
          .enum(['debug', 'info', 'warn', 'error', 'silent'])
          .default('info')
          .meta({ description: 'least severity written: "debug", "info", "warn", "error" or "silent"' })
      })
      .prefault({})
      .meta({ description: 'logging: { level }' })
  })
  .superRefine((config, context) => {
    const refuse = (path: (string | number)[]) => context.addIssue({ code: 'custom', path })
    const chainIds = new Set<number>()
    for (const kind of ['evm', 'solana'] as const) {
      for (const [index, chain] of config.chains[kind].entries()) {
        if (chainIds.has(chain.chainId)) refuse(['chains', kind, index, 'chainId'])
        chainIds.add(chain.chainId)
      }
    }
    if (config.storeReplicas.length > 0 && config.store.startsWith('sqlite:')) refuse(['storeReplicas'])
    if (!config.indexing && config.store === 'sqlite::memory:') refuse(['indexing'])
    const allowed = new Set(config.spam.allow.map(contract => contract.toLowerCase()))
    for (const [index, contract] of config.spam.deny.entries()) {
      if (allowed.has(contract.toLowerCase())) refuse(['spam', 'deny', index])
    }
  })

/** What a configuration file or a caller of `createServer` writes; everything but chains has a default, and somebody must be able to call. */
export type ConfigInput = z.input<typeof configSchema>
/** A complete, checked configuration. */
export type Config = z.output<typeof configSchema>
