import { limits as specLimits } from '@chain-data/protocol'
import { z } from 'zod'
import { streamsLimit } from '../../features/liveStreams/settings/settings.ts'
import { metadataSettings } from '../../features/metadata/settings/settings.ts'
import { deepCacheBytes, deepHistorySettings } from '../../features/olderHistory/settings/settings.ts'
import { pagesSettings } from '../../features/operatorPages/settings/settings.ts'
import { parseAddressRange } from '../../platform/addressRange.ts'
import {
  bound,
  flag,
  group,
  integer,
  isPostgresUrl,
  list,
  positive,
  postgresForm,
  text
} from '../../platform/settings/fields.ts'
import { evmChain, solanaChain } from './chainSchemas.ts'
import { indexingSchema, loginSchema, overloadSchema, rateLimitSchema } from './limitSchemas.ts'
import { projectsSchema } from './projectsSchema.ts'

const contractList = (what: string, entry: string) =>
  list(
    text(value => /^[1-9]\d{0,15}:0x[0-9a-fA-F]{40}$/.test(value), entry),
    `${what}: a list of "<chainId>:<address>"`
  )

/** The whole configuration: types, defaults and documentation in one place. */
export const configSchema = z
  .strictObject({
    listen: group('where to listen: { host, port, operator, maxConnections, trustedProxies, drainMs }', {
      host: z
        .string()
        .min(1)
        .default('127.0.0.1')
        .meta({ description: 'address to listen on: a host name or IP' }),
      port: integer(8080, 0, 65_535, 'TCP port to listen on: 0 to 65535, 0 takes any free one'),
      operator: z
        .union([
          z.literal('main'),
          z.strictObject({
            host: z.string().min(1).default('127.0.0.1'),
            port: z.int().min(0).max(65_535).nullable().default(null)
          })
        ])
        .default({ host: '127.0.0.1', port: null })
        .meta({
          description:
            'where the status page and /metrics listen: { host, port }, with null for the port after listen.port, or any ' +
            'free one where that is taken; or "main" for the same address as calls'
        }),
      maxConnections: positive(10_000, 1_000_000, 'connections at the same time, more are closed'),
      trustedProxies: list(
        text(
          range => parseAddressRange(range) !== undefined,
          'an IP address, a CIDR range such as "10.0.0.0/8", or "loopback"'
        ),
        'proxies whose X-Forwarded-For tells the address of a caller: a list of IP addresses, CIDR ranges and "loopback"'
      ),
      drainMs: integer(
        0,
        0,
        300_000,
        'milliseconds from "not ready" until calls are refused when the server is to end: 0 to 300000'
      )
    }),
    store: z
      .string()
      .refine(url => /^sqlite:./.test(url) || isPostgresUrl(url))
      .default('sqlite:./chain-data')
      .meta({
        description:
          'where the index is kept: "sqlite:<folder>", "sqlite::memory:" for one that ends with the server, or ' +
          `"${postgresForm}" (PostgreSQL 15 or newer)`
      }),
    storeReplicas: list(
      text(isPostgresUrl, `"${postgresForm}" of a read replica`),
      'URLs of read replicas of a PostgreSQL store, for queries only: a list, empty for SQLite'
    ),
    // Of one process; what indexes has its own beside them.
    storeConnections: integer(
      16,
      1,
      1_000,
      'most connections that the queries of this process open to each server of PostgreSQL, all chains together: 1 to 1000'
    ),
    // A week: a share of a disk's time that nobody feels, also with a large index.
    storeCheckSeconds: integer(
      604_800,
      0,
      31_536_000,
      'seconds in which the whole index is read and checked against its checksums once, in the background: 0 (never) to 31536000'
    ),
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
        evm: list(evmChain, 'EVM chains: a list of { chainId, rpcUrls, ... }'),
        solana: list(solanaChain, 'Solana clusters: a list of { chainId, rpcUrls, ... }')
      })
      .refine(chains => chains.evm.length + chains.solana.length > 0)
      .meta({ description: 'the chains to serve: { evm: [...], solana: [...] } with at least one chain' }),
    history: group(
      'transaction history: { maxUnpaged, serveWhileSyncing, changeLogBlocks, deepCacheBytes, ... }',
      {
        maxUnpaged: bound(
          'most transactions of an answer without `limit`: an integer from 1, or null for no bound'
        ),
        serveWhileSyncing: flag(
          true,
          'answer while blocks older than the index are being added, with the first indexed block in the coverage: true or false'
        ),
        changeLogBlocks: integer(
          10_000,
          64,
          1_000_000,
          'newest blocks of a chain whose changes can be replayed to a caller that was away: 64 to 1000000'
        ),
        deepCacheBytes,
        cacheBytes: integer(
          67_108_864,
          0,
          1_099_511_627_776,
          'bytes of pages (answers with `limit`) kept in memory for who asks again: 0 to 1099511627776'
        )
      }
    ),
    deepHistory: deepHistorySettings,
    metadata: metadataSettings,
    spam: group('lists that overrule the spam verdict: { allow, deny }', {
      allow: contractList('contracts that are never called spam', 'a "<chainId>:<address>"'),
      deny: contractList(
        'contracts that are always called spam, none of them in `allow`',
        'a "<chainId>:<address>" that is not in `allow`'
      )
    }),
    rateLimit: rateLimitSchema,
    login: loginSchema,
    overload: overloadSchema,
    limits: group('bounds on what one request may cost', {
      bodyBytes: positive(specLimits.bodyBytes, 67_108_864, 'largest request body in bytes'),
      jsonDepth: positive(specLimits.jsonDepth, 1_000, 'deepest nesting of a request body'),
      batchEntries: positive(specLimits.batchRequests, 10_000, 'most requests of a batch'),
      headerBytes: positive(specLimits.headerBytes, 1_048_576, 'largest request head in bytes'),
      requestsInFlight: positive(1_000, 1_000_000, 'requests answered at the same time, more are refused'),
      streams: streamsLimit,
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
      responseBytes: bound('largest answer of one call in bytes: an integer from 1, or null for no bound')
    }),
    health: group('health checks: { notReadyAfterStalledSeconds }', {
      notReadyAfterStalledSeconds: z.int().min(1).max(86_400).nullable().default(null).meta({
        description:
          'seconds that a chain may be stalled until /health/ready says 503, for servers with a store each: 1 to 86400, or null for never'
      })
    }),
    pages: pagesSettings,
    log: group('logging: { level }', {
      level: z
        .enum(['debug', 'info', 'warn', 'error', 'silent'])
        .default('info')
        .meta({ description: 'least severity written: "debug", "info", "warn", "error" or "silent"' })
    })
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
    if (config.indexing === false && config.store === 'sqlite::memory:') refuse(['indexing'])
    const allowed = new Set(config.spam.allow.map(contract => contract.toLowerCase()))
    for (const [index, contract] of config.spam.deny.entries()) {
      if (allowed.has(contract.toLowerCase())) refuse(['spam', 'deny', index])
    }
  })

/** A configuration as a file or a caller of `createServer` writes it; all but chains has a default, and a project must be named. */
export type ConfigInput = z.input<typeof configSchema>
/** A checked configuration with its defaults, before the presets of its chains are applied. */
export type ParsedConfig = z.output<typeof configSchema>
