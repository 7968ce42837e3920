import { ConfigError } from '../../platform/errors.ts'
import { isRecord } from './isRecord.ts'

const asText = (value: string): unknown => value
const asNumber = (value: string): unknown => (/^\d+$/.test(value) ? Number(value) : value)
const asFlag = (value: string): unknown => (value === 'true' ? true : value === 'false' ? false : value)
/** `main`, or an address with a port; anything else is left to the schema. */
const asOperator = (value: string): unknown => {
  const [, host, port] = /^\[?(.+?)\]?:(\d{1,5})$/.exec(value) ?? []
  return host === undefined ? value : { host, port: Number(port) }
}
const asList = (value: string): unknown => value.split(',').map(part => part.trim())

/**
 * The variables and what each one sets. A variable that sets one key has a reader, and begins its meaning with the path
 * of that key; a value that the key does not take is left to the schema.
 */
export const environmentVariables: readonly (readonly [
  variable: string,
  meaning: string,
  read?: (value: string) => unknown
])[] = [
  ['CHAIN_DATA_HOST', 'listen.host', asText],
  ['CHAIN_DATA_PORT', 'listen.port', asNumber],
  ['CHAIN_DATA_OPERATOR=host:port', 'listen.operator', asOperator],
  ['CHAIN_DATA_TRUSTED_PROXIES=address[,address]', 'listen.trustedProxies', asList],
  ['CHAIN_DATA_STORE', 'store', asText],
  ['CHAIN_DATA_STORE_REPLICAS=url[,url]', 'storeReplicas', asList],
  ['CHAIN_DATA_INDEXING', 'indexing: true or false', asFlag],
  [
    'CHAIN_DATA_EVM_<chainId>=url[,url]',
    'rpcUrls of that EVM chain, and its wsUrls from URLs with ws:// or wss://; the chain is added if the file has none'
  ],
  ['CHAIN_DATA_SOLANA_<chainId>=url[,url]', 'rpcUrls of that Solana cluster, added likewise'],
  ['CHAIN_DATA_DAS_<chainId>=url', 'dasUrl of that Solana cluster'],
  ['CHAIN_DATA_PROJECT=id:key', 'serverKey of that project, which is added if the file has none'],
  ['CHAIN_DATA_PROJECTS_FILE', 'projectsFile', asText],
  ['CHAIN_DATA_PAGES_HOSTS=host[,host]', 'pages.hosts', asList],
  ['CHAIN_DATA_LOG_LEVEL', 'log.level', asText]
]

const nameOf = (variable: string) => variable.replace(/=.*/, '')

/**
 * Names that look like ours and that nothing reads, such as misspelt ones. (They are no error: programs beside the server
 * may have variables of such names.)
 */
export function unknownVariables(
  environment: Readonly<Record<string, string | undefined>>
): readonly string[] {
  const known = environmentVariables.map(
    ([variable]) => new RegExp(`^${nameOf(variable).replace('<chainId>', '\\d+')}$`)
  )
  return Object.entries(environment)
    .filter(([name, value]) => name.startsWith('CHAIN_DATA_') && value && !isServiceLink(name, value))
    .map(([name]) => name)
    .filter(name => !known.some(pattern => pattern.test(name)))
}

/** Which variable a value came from, by its key path. */
export type Sources = Map<string, string>

/**
 * Lays the environment over what a file says, one value at a time.
 *
 * @throws {ConfigError} a variable's name or form is wrong; its value is left to the schema.
 */
export function applyEnvironment(
  fromFile: unknown,
  environment: Readonly<Record<string, string | undefined>>
): { input: unknown; sources: Sources } {
  const sources: Sources = new Map()
  // Not an object: let the schema say so.
  if (!isRecord(fromFile)) return { input: fromFile, sources }
  // Not cloned deeply: a module may hold functions, and what is changed below is copied on the way.
  const input = { ...fromFile }

  const text = (variable: string) => {
    const value = environment[variable] || undefined
    return isServiceLink(variable, value) ? undefined : value
  }

  for (const [written, meaning, read] of environmentVariables) {
    const variable = nameOf(written)
    const value = read && text(variable)
    const path = meaning.replace(/:.*/, '')
    const [first = '', second] = path.split('.')
    if (value === undefined) continue
    if (second === undefined) input[first] = read?.(value)
    else input[first] = { ...(isRecord(input[first]) ? input[first] : {}), [second]: read?.(value) }
    sources.set(path, variable)
  }
  for (const [variable, value] of Object.entries(environment)) {
    const match = /^CHAIN_DATA_(EVM|SOLANA|DAS)_(.*)$/.exec(variable)
    if (!match || !value || isServiceLink(variable, value)) continue
    const [, kind = '', idText = ''] = match
    if (!/^\d{1,16}$/.test(idText)) {
      throw new ConfigError(
        `Environment variable ${variable.slice(0, 100)} does not end in a chain id; expected CHAIN_DATA_${kind}_<chainId>.`
      )
    }
    const list = kind === 'EVM' ? 'evm' : 'solana'
    const chains = isRecord(input.chains) ? input.chains : {}
    const known = Array.isArray(chains[list]) ? [...chains[list]] : []
    const fields = kind === 'DAS' ? { dasUrl: value } : sortUrls(value, kind)
    const index = upsert(known, 'chainId', Number(idText), fields)
    input.chains = { ...chains, [list]: known }
    for (const key of Object.keys(fields)) sources.set(`chains.${list}[${index}].${key}`, variable)
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

/** A variable without URLs of one kind leaves those of the file as they are. */
function sortUrls(value: string, kind: string): { rpcUrls?: string[]; wsUrls?: string[] } {
  const urls = value.split(',').map(url => url.trim())
  const isSocket = (url: string) => kind === 'EVM' && /^wss?:/i.test(url)
  const wsUrls = urls.filter(isSocket)
  const rpcUrls = urls.filter(url => !isSocket(url))
  return { ...(rpcUrls.length > 0 ? { rpcUrls } : {}), ...(wsUrls.length > 0 ? { wsUrls } : {}) }
}

/** Changes the entry whose `key` is `id`, or appends one; tells its index. */
function upsert(list: unknown[], key: string, id: string | number, fields: Record<string, unknown>): number {
  const found = list.findIndex(entry => isRecord(entry) && entry[key] === id)
  const index = found < 0 ? list.length : found
  const existing = list[index]
  list[index] = { ...(isRecord(existing) ? existing : {}), [key]: id, ...fields }
  return index
}

/**
 * Tells whether a variable was set by Kubernetes for a service next to this one (by Docker for a linked container), and
 * means nothing here. A service called `chain-data` sets `CHAIN_DATA_PORT=tcp://10.0.0.11:8080` in all pods around it.
 *
 * @see https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables
 */
function isServiceLink(name: string, value: string | undefined): boolean {
  if (/_SERVICE_(HOST|PORT(_\w+)?)$/.test(name) || /_PORT_\d+_(TCP|UDP|SCTP)(_\w+)?$/.test(name)) return true
  return name.endsWith('_PORT') && /^(tcp|udp|sctp):\/\//.test(value ?? '')
}
