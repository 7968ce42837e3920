import { readFile } from 'node:fs/promises'
import { extname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { z } from 'zod'
import { ConfigError } from './platform/errors.ts'
import { scrubText } from './platform/scrubText.ts'

// Each description below serves three readers: the type's user, `chain-data serve --help`, and whoever gets the
// key wrong (it becomes the "expected ..." of the error). So each says what the key means AND what it accepts.

function isHttpUrl(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text)
}

function isOrigin(text: string): boolean {
  return isHttpUrl(text) && new URL(text).origin === text
}

// RFC 7617: neither part may hold control characters, and the user id no colon.
const printable = /^[^\p{Cc}]+$/u

const httpUrl = z.string().refine(isHttpUrl).meta({ description: 'an http:// or https:// URL' })

const chainId = z
  .int()
  .min(1)
  .meta({ description: 'the chain id that callers send: an integer from 1 to 2^53-1, used once' })

const rpcUrls = z
  .array(httpUrl)
  .min(1)
  .meta({ description: "JSON-RPC URLs of the chain's nodes, in order of preference: at least one" })

const evmChain = z.strictObject({
  chainId,
  rpcUrls,
  startBlock: z
    .int()
    .min(0)
    .default(0)
    .meta({ description: 'first block to index: an integer from 0; older blocks are not covered' }),
  traces: z.literal('off').default('off').meta({
    description: 'indexing of internal native transfers: "off" (this version does not serve "on" yet)'
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
    .meta({ description: 'pause between looks at the node while following it: 50 to 600000 milliseconds' })
})

const solanaChain = z.strictObject({
  chainId,
  rpcUrls,
  commitment: z
    .enum(['confirmed', 'finalized'])
    .default('confirmed')
    .meta({ description: 'commitment of every read: "confirmed" or "finalized"' })
})

const clientKey = z.strictObject({
  key: z.string().max(512).regex(printable).meta({
    description: 'a publishable key: plain text or a digest printed by `chain-data project create`'
  }),
  origins: z
    .array(z.string().refine(isOrigin).meta({ description: 'an origin such as "https://dapp.example"' }))
    .min(1)
    .meta({ description: 'origins of the web pages that may use the key: at least one' })
})

const project = z.strictObject({
  projectId: z
    .string()
    .max(128)
    .regex(/^[^:\p{Cc}]+$/u)
    .meta({ description: 'user name of HTTP Basic: 1 to 128 characters, no colon, used once' }),
  serverKey: z.string().max(512).regex(printable).meta({
    description:
      'password of HTTP Basic: plain text (development) or a digest printed by `chain-data project create`'
  }),
  clientKeys: z
    .array(clientKey)
    .default([])
    .meta({ description: 'publishable keys for web pages: a list of { key, origins }' })
})

const gateways = (what: string, fallback: string) =>
  z
    .array(httpUrl)
    .min(1)
    .default([fallback])
    .meta({ description: `base URLs that ${what} are fetched from, in order: at least one` })

const positive = (fallback: number, largest: number, description: string) =>
  z
    .int()
    .min(1)
    .max(largest)
    .default(fallback)
    .meta({ description: `${description}: 1 to ${largest}` })

/** The whole configuration: types, defaults and documentation in one place. */
const configSchema = z
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
          .meta({ description: 'TCP port to listen on: 0 to 65535, 0 takes any free one' })
      })
      .prefault({})
      .meta({ description: 'where to listen: { host, port }' }),
    store: z
      .string()
      .regex(/^sqlite:./)
      .default('sqlite:./chain-data')
      .meta({
        description:
          'where the index is kept: "sqlite:<folder>", or "sqlite::memory:" for one that ends with the server ' +
          '(this version does not serve postgres:// yet)'
      }),
    projects: z
      .array(project)
      .min(1)
      .meta({ description: 'who may call: a list of at least one { projectId, serverKey, clientKeys }' }),
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
        })
      })
      .prefault({})
      .meta({ description: 'transaction history: { maxUnpaged, serveWhileSyncing }' }),
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
        tokenLists: z.array(httpUrl).default([]).meta({
          description: 'token lists that ERC-20 images come from: a list of http:// or https:// URLs'
        })
      })
      .prefault({})
      .meta({ description: 'off-chain metadata: { ipfsGateways, arweaveGateways, allowHosts, tokenLists }' }),
    rateLimit: z
      .union([
        z.literal(false),
        z.strictObject({
          requestsPerSecond: z.number().positive().max(1_000_000),
          burst: z.int().min(1).max(1_000_000)
        })
      ])
      .default({ requestsPerSecond: 100, burst: 200 })
      .meta({
        description:
          'calls per project: { requestsPerSecond (above 0), burst (an integer from 1) }, at most `burst` at once ' +
          'and `requestsPerSecond` on average; or false for no limit'
      }),
    limits: z
      .strictObject({
        bodyBytes: positive(1_048_576, 67_108_864, 'largest request body in bytes'),
        jsonDepth: positive(64, 1_000, 'deepest nesting of a request body'),
        batchEntries: positive(100, 10_000, 'most requests of a batch'),
        headerBytes: positive(16_384, 1_048_576, 'largest request head in bytes'),
        requestsInFlight: positive(1_000, 1_000_000, 'requests answered at the same time, more are refused'),
        requestDeadlineMs: positive(25_000, 600_000, 'milliseconds until a call gives up'),
        streamIdleMs: positive(30_000, 600_000, 'milliseconds without progress until a stream is cut'),
        metadataWaitMs: positive(3_000, 60_000, 'milliseconds of a call spent waiting for metadata'),
        responseBytes: z.int().min(1).nullable().default(null).meta({
          description: 'largest answer of one call in bytes: an integer from 1, or null for no bound'
        })
      })
      .prefault({})
      .meta({ description: 'bounds on what one request may cost' }),
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
    const projectIds = new Set<string>()
    for (const [index, { projectId }] of config.projects.entries()) {
      if (projectIds.has(projectId)) refuse(['projects', index, 'projectId'])
      projectIds.add(projectId)
    }
  })

/** What a configuration file or a caller of `createServer` writes; everything but projects and chains has a default. */
export type ConfigInput = z.input<typeof configSchema>
/** A complete, checked configuration. */
export type Config = z.output<typeof configSchema>

/**
 * Checks a configuration and fills in its defaults.
 *
 * @throws {ConfigError} naming every wrong key, its value (never a key or a URL's credentials) and what was expected.
 */
export function parseConfig(input: unknown): Config {
  return parse(input, new Map())
}

/**
 * Reads a configuration as `chain-data serve` does: the file if there is one, then the environment over it.
 *
 * @param file - JSON, or a JavaScript or TypeScript module whose default export is the same object.
 * @throws {ConfigError} the file cannot be read or the configuration is wrong.
 */
export async function loadConfig(
  file: string | undefined,
  environment: Readonly<Record<string, string | undefined>> = process.env
): Promise<Config> {
  const fromFile = file === undefined ? {} : await readConfigFile(file)
  const { input, sources } = applyEnvironment(fromFile, environment)
  return parse(input, sources)
}

/** Every key with its meaning and default, and the environment variables, as text for `--help`. */
export function describeConfig(): string {
  const keys = listKeys(configSchema, '')
  const width = Math.max(...keys.map(({ path }) => path.length))
  const lines = keys.map(({ path, description, fallback }) => {
    const suffix = fallback === undefined ? '' : ` [default: ${JSON.stringify(fallback)}]`
    return `  ${path.padEnd(width)}  ${description}${suffix}`
  })
  const variables = environmentVariables.map(([name, meaning]) => `  ${name.padEnd(width)}  ${meaning}`)
  return [
    'Configuration keys:',
    ...lines,
    '',
    'Environment variables (each one wins over the file):',
    ...variables
  ].join('\n')
}

const environmentVariables = [
  ['CHAIN_DATA_HOST', 'listen.host'],
  ['CHAIN_DATA_PORT', 'listen.port'],
  ['CHAIN_DATA_STORE', 'store'],
  ['CHAIN_DATA_EVM_<chainId>=url[,url]', 'rpcUrls of that EVM chain, which is added if the file has none'],
  ['CHAIN_DATA_SOLANA_<chainId>=url[,url]', 'rpcUrls of that Solana cluster, added likewise'],
  ['CHAIN_DATA_PROJECT=id:key', 'serverKey of that project, which is added if the file has none'],
  ['CHAIN_DATA_LOG_LEVEL', 'log.level']
] as const

// --- the file -----------------------------------------------------------------------------------------------

const moduleExtensions = new Set(['.js', '.mjs', '.cjs', '.ts', '.mts', '.cts'])

async function readConfigFile(file: string): Promise<unknown> {
  const path = resolve(file)
  if (moduleExtensions.has(extname(path))) {
    const loaded: unknown = await import(pathToFileURL(path).href).catch((error: unknown) => {
      throw new ConfigError(
        `Config file "${file}" could not be loaded as a module: ${textOf(error)}. ` +
          'Expected a JavaScript or TypeScript module (TypeScript needs Node 22.18 or newer) with a default export.'
      )
    })
    const exported = isRecord(loaded) ? loaded.default : undefined
    if (exported === undefined) {
      throw new ConfigError(`Config file "${file}" has no default export; expected the configuration object.`)
    }
    return exported
  }
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new ConfigError(
      `Config file "${file}" could not be read: ${textOf(error)}. Expected the path of a JSON file or a module.`
    )
  })
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    // V8's message quotes the text around the mistake, which may be a key: keep only the place.
    const place = /at position \d+( \(line \d+ column \d+\))?/.exec(textOf(error))?.[0] ?? 'before its end'
    throw new ConfigError(
      `Config file "${file}" is not JSON: unexpected text ${place}. Expected one JSON object.`
    )
  }
}

function textOf(error: unknown): string {
  return scrubText(error instanceof Error ? error.message : String(error), 300)
}

// --- the environment ----------------------------------------------------------------------------------------

/** Which variable a value came from, by its key path. */
type Sources = Map<string, string>

function applyEnvironment(
  fromFile: unknown,
  environment: Readonly<Record<string, string | undefined>>
): { input: unknown; sources: Sources } {
  const sources: Sources = new Map()
  // Not an object: let the schema say so.
  if (!isRecord(fromFile)) return { input: fromFile, sources }
  const input = structuredClone(fromFile)

  const assign = (path: readonly [string] | readonly [string, string], variable: string, value: unknown) => {
    const [first, second] = path
    if (second === undefined) input[first] = value
    else input[first] = { ...(isRecord(input[first]) ? input[first] : {}), [second]: value }
    sources.set(path.join('.'), variable)
  }
  const text = (variable: string) => environment[variable] || undefined

  const host = text('CHAIN_DATA_HOST')
  if (host !== undefined) assign(['listen', 'host'], 'CHAIN_DATA_HOST', host)
  const port = text('CHAIN_DATA_PORT')
  if (port !== undefined)
    assign(['listen', 'port'], 'CHAIN_DATA_PORT', /^\d+$/.test(port) ? Number(port) : port)
  const store = text('CHAIN_DATA_STORE')
  if (store !== undefined) assign(['store'], 'CHAIN_DATA_STORE', store)
  const level = text('CHAIN_DATA_LOG_LEVEL')
  if (level !== undefined) assign(['log', 'level'], 'CHAIN_DATA_LOG_LEVEL', level)

  for (const [variable, value] of Object.entries(environment)) {
    const match = /^CHAIN_DATA_(EVM|SOLANA)_(.*)$/.exec(variable)
    if (!match || !value) continue
    const [, kind = '', idText = ''] = match
    if (!/^\d{1,16}$/.test(idText)) {
      throw new ConfigError(
        `Environment variable ${variable.slice(0, 100)} does not end in a chain id; expected CHAIN_DATA_${kind}_<chainId>.`
      )
    }
    const list = kind.toLowerCase()
    const chains = isRecord(input.chains) ? input.chains : {}
    const known = Array.isArray(chains[list]) ? [...chains[list]] : []
    const index = upsert(known, 'chainId', Number(idText), {
      rpcUrls: value.split(',').map(url => url.trim())
    })
    input.chains = { ...chains, [list]: known }
    sources.set(`chains.${list}[${index}].rpcUrls`, variable)
  }

  const credentials = text('CHAIN_DATA_PROJECT')
  if (credentials !== undefined) {
    const colon = credentials.indexOf(':')
    if (colon < 1 || colon === credentials.length - 1) {
      throw new ConfigError(
        'Environment variable CHAIN_DATA_PROJECT is not of the form expected: <projectId>:<serverKey>.'
      )
    }
    const projects = Array.isArray(input.projects) ? [...input.projects] : []
    const serverKey = credentials.slice(colon + 1)
    const index = upsert(projects, 'projectId', credentials.slice(0, colon), { serverKey })
    input.projects = projects
    sources.set(`projects[${index}].projectId`, 'CHAIN_DATA_PROJECT')
    sources.set(`projects[${index}].serverKey`, 'CHAIN_DATA_PROJECT')
  }
  return { input, sources }
}

/** Changes the entry whose `key` is `id`, or appends one; tells its index. */
function upsert(list: unknown[], key: string, id: string | number, fields: Record<string, unknown>): number {
  const found = list.findIndex(entry => isRecord(entry) && entry[key] === id)
  const index = found < 0 ? list.length : found
  const existing = list[index]
  list[index] = { ...(isRecord(existing) ? existing : {}), [key]: id, ...fields }
  return index
}

// --- errors -------------------------------------------------------------------------------------------------

function parse(input: unknown, sources: Sources): Config {
  const outcome = configSchema.safeParse(input)
  if (outcome.success) return outcome.data
  const problems = outcome.error.issues.flatMap(issue => describeIssue(issue, input, sources))
  throw new ConfigError(problems.join('\n'), {
    key: problems.length === 1 ? keyOf(outcome.error.issues[0]) : undefined
  })
}

function keyOf(issue: z.core.$ZodIssue | undefined): string | undefined {
  return issue === undefined ? undefined : pathText(issue.path)
}

function describeIssue(issue: z.core.$ZodIssue, input: unknown, sources: Sources): string[] {
  if (issue.code === 'unrecognized_keys') {
    const parent = schemaAt(issue.path)
    const known = parent instanceof z.ZodObject ? Object.keys(parent.shape).join(', ') : 'no such key'
    return issue.keys.map(
      key =>
        `${pathText([...issue.path, cut(key)])} is not a key of the configuration; expected one of: ${known}`
    )
  }
  const key = pathText(issue.path)
  const source = sources.get(key) ?? sources.get(key.replace(/\[\d+\]$/, ''))
  const name = (key === '' ? 'The configuration' : key) + (source === undefined ? '' : ` (from ${source})`)
  const expected = schemaAt(issue.path)?.meta()?.description ?? 'another kind of value'
  const value = valueAt(input, issue.path)
  const state = value === undefined ? 'is missing' : `is ${showValue(value, issue.path)}`
  return [`${name} ${state}; expected ${expected}`]
}

function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, part) =>
      typeof part === 'number' ? `${text}[${part}]` : text ? `${text}.${String(part)}` : String(part),
    ''
  )
}

const secretKeys = new Set<PropertyKey>(['serverKey', 'key'])

function showValue(value: unknown, path: readonly PropertyKey[]): string {
  const holdsSecret = path.some(part => secretKeys.has(part)) || path[0] === 'projects'
  const isPublic = path.at(-1) === 'projectId' || path.includes('origins')
  if (holdsSecret && !isPublic) return `a ${Array.isArray(value) ? 'list' : typeof value} that is not shown`
  return cut(scrubText(JSON.stringify(value) ?? String(value), 1_000))
}

function cut(text: string): string {
  return text.length <= 100 ? text : `${text.slice(0, 100)}…`
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  let value = input
  for (const part of path) {
    if (typeof value !== 'object' || value === null) return undefined
    value = Object.hasOwn(value, part) ? Reflect.get(value, part) : undefined
  }
  return value
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

// --- walking the schema -------------------------------------------------------------------------------------

function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  return schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault
    ? unwrap(schema.def.innerType)
    : schema
}

/** The schema of a key; of the nearest parent that has one where the path leads into a choice of forms. */
function schemaAt(path: readonly PropertyKey[]): z.ZodType | undefined {
  let current: z.core.$ZodType = configSchema
  for (const part of path) {
    const parent = unwrap(current)
    if (parent instanceof z.ZodObject) current = parent.shape[String(part)] ?? parent
    else if (parent instanceof z.ZodArray) current = parent.element
    else break
  }
  return current instanceof z.ZodType ? current : undefined
}

function listKeys(
  schema: z.core.$ZodType,
  path: string
): { path: string; description: string; fallback: unknown }[] {
  const inner = unwrap(schema)
  if (inner instanceof z.ZodObject) {
    return Object.entries<z.core.$ZodType>(inner.shape).flatMap(([name, child]) =>
      listKeys(child, path === '' ? name : `${path}.${name}`)
    )
  }
  const description = (schema instanceof z.ZodType && schema.meta()?.description) || ''
  const fallback = schema instanceof z.ZodDefault ? schema.def.defaultValue : undefined
  const self = { path, description, fallback }
  if (inner instanceof z.ZodArray && unwrap(inner.element) instanceof z.ZodObject) {
    return [self, ...listKeys(inner.element, `${path}[]`)]
  }
  return [self]
}
