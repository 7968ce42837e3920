import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { ConfigError } from '../../platform/errors.ts'
import { describeConfig, loadConfig, parseConfig } from './config.ts'
import { applyEnvironment } from './environment.ts'

const project = { projectId: 'demo', serverKey: 'demo-server-key' }
const evm = { chainId: 31337, rpcUrls: ['http://127.0.0.1:8545'] }
const solana = { chainId: 103, rpcUrls: ['http://127.0.0.1:8899'] }
const minimal = { projects: [project], chains: { evm: [evm], solana: [solana] } }

/** The configuration as the architecture page shows it. */
const documented = {
  listen: { host: '127.0.0.1', port: 8080 },
  store: 'sqlite:./chain-data',
  projects: [
    {
      projectId: 'demo',
      serverKey: 'demo-server-key',
      clientKeys: [{ key: 'demo-client-key', origins: ['http://localhost:5173'] }]
    }
  ],
  methodPrefix: 'svc_',
  chains: {
    evm: [
      { chainId: 31337, rpcUrls: ['http://127.0.0.1:8545'], startBlock: 0, traces: 'off', finality: 'auto' }
    ],
    solana: [{ chainId: 103, rpcUrls: ['http://127.0.0.1:8899'], commitment: 'confirmed' }]
  },
  history: { maxUnpaged: null, serveWhileSyncing: true, cacheBytes: 67_108_864 },
  metadata: {
    ipfsGateways: ['https://ipfs.io'],
    arweaveGateways: ['https://arweave.net'],
    allowHosts: [],
    tokenLists: []
  },
  rateLimit: { requestsPerSecond: 100, burst: 200 },
  log: { level: 'info' }
}

function refusalOf(input: unknown): string {
  try {
    parseConfig(input)
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError)
    return (error as ConfigError).message
  }
  throw new Error('the configuration was accepted')
}

describe('a configuration', () => {
  it('is accepted as the architecture page shows it, and kept as written', () => {
    expect(parseConfig(documented)).toMatchObject(documented)
  })

  it('needs only projects and chains: the documented values are the defaults', () => {
    const { projects: _projects, chains: _chains, ...defaults } = documented
    expect(parseConfig(minimal)).toMatchObject(defaults)
  })

  it.each<[string, unknown, RegExp]>([
    ['nothing', undefined, /^The configuration is missing; expected/],
    ['a list', [], /^The configuration is a list that is not shown; expected an object/],
    ['no projects', { chains: { evm: [evm] } }, /^projects is missing; expected who may call/],
    ['an empty project list', { ...minimal, projects: [] }, /^projects is .*; expected who may call/],
    ['no chains', { projects: [project] }, /^chains is missing; expected the chains to serve/],
    ['empty chain lists', { ...minimal, chains: { evm: [], solana: [] } }, /^chains is .*at least one chain/],
    ['an unknown key', { ...minimal, prot: 1 }, /^prot is not a key .*expected one of: listen, store,/],
    [
      'an unknown nested key',
      { ...minimal, listen: { prot: 1 } },
      /^listen\.prot is not a key .*: host, port, operator, maxConnections, trustedProxies/
    ],
    ['a port as text', { ...minimal, listen: { port: '80' } }, /^listen\.port is "80"; expected TCP port/],
    ['a port out of range', { ...minimal, listen: { port: 65_536 } }, /^listen\.port is 65536; expected/],
    ['a fraction as port', { ...minimal, listen: { port: 1.5 } }, /^listen\.port is 1\.5; expected/],
    ['an unknown store', { ...minimal, store: 'mysql://x' }, /^store is "mysql:\/\/x"; expected/],
    ['a store without its kind', { ...minimal, store: './data' }, /^store is "\.\/data"; expected/],
    [
      'a PostgreSQL without a database',
      { ...minimal, store: 'postgres://u:pw@db' },
      /^store is "postgres:…"; expected .*postgres:\/\/<user>@<host>\/<database>/
    ],
    [
      'a replica that is no PostgreSQL',
      { ...minimal, store: 'postgres://db/x', storeReplicas: ['postgres://db/x', 'mysql://db/x'] },
      /^storeReplicas\[1\] is "mysql:\/\/db"; expected .* of a read replica/
    ],
    [
      'replicas of SQLite',
      { ...minimal, storeReplicas: ['postgres://db/x'] },
      /^storeReplicas is .*; expected .*empty for SQLite/
    ],
    ['no connections', { ...minimal, storeConnections: 0 }, /^storeConnections is 0; expected most connect/],
    [
      'neither true nor false',
      { ...minimal, indexing: 'no' },
      /^indexing is "no"; expected index the chains/
    ],
    [
      'too many threads',
      { ...minimal, indexing: { threads: 65 } },
      /^indexing.threads is 65; expected .*threads \(0 to 64\)/
    ],
    [
      'an index in memory that nobody writes',
      { ...minimal, store: 'sqlite::memory:', indexing: false },
      /^indexing is false; expected .*not with "sqlite::memory:"/
    ],
    [
      'traces that are neither on nor off',
      withEvm({ traces: true }),
      /^chains\.evm\[0\]\.traces is true; expected .*"on", "off", or "auto"/
    ],
    [
      'a start that is neither a height nor the newest final block',
      withEvm({ startBlock: 'finalized' }),
      /^chains\.evm\[0\]\.startBlock is "finalized"; expected .*"latest"/
    ],
    [
      'somebody else below the index',
      withEvm({ deepHistory: 'auto' }),
      /^chains\.evm\[0\]\.deepHistory is "auto"; expected .*"node".*"off"/
    ],
    [
      'an unusable node URL',
      withEvm({ rpcUrls: ['ftp://x'] }),
      /^chains\.evm\[0\]\.rpcUrls\[0\] is "ftp:\/\/x"/
    ],
    [
      'a URL that is none',
      withEvm({ rpcUrls: ['http://'] }),
      /^chains\.evm\[0\]\.rpcUrls\[0\] is "http:\/\/"/
    ],
    [
      'a limit below 1',
      withEvm({ rpcUrls: [{ url: 'http://x', maxConcurrency: 0 }] }),
      /^chains\.evm\[0\]\.rpcUrls\[0\].* is .*; expected .*maxConcurrency \(1 to 10000\)/
    ],
    [
      'an unknown key of a node',
      withEvm({ rpcUrls: [{ url: 'http://x', maxRps: 1 }] }),
      /^chains\.evm\[0\]\.rpcUrls\[0\].*expected .*maxRequestsPerSecond/
    ],
    ['no node URL', withEvm({ rpcUrls: [] }), /^chains\.evm\[0\]\.rpcUrls is \[\]; expected/],
    ['a chain id as text', withEvm({ chainId: '1' }), /^chains\.evm\[0\]\.chainId is "1"; expected/],
    [
      'a chain id beyond 2^53',
      withEvm({ chainId: 2 ** 53 }),
      /^chains\.evm\[0\]\.chainId is 9007199254740992/
    ],
    ['a negative start', withEvm({ startBlock: -1 }), /^chains\.evm\[0\]\.startBlock is -1; expected/],
    ['an unknown finality', withEvm({ finality: 'soon' }), /^chains\.evm\[0\]\.finality is "soon"; expected/],
    [
      'an EVM chain twice',
      { ...minimal, chains: { evm: [evm, evm] } },
      /^chains\.evm\[1\]\.chainId is 31337/
    ],
    [
      'one id for an EVM chain and a Solana cluster',
      { ...minimal, chains: { evm: [evm], solana: [{ ...solana, chainId: 31337 }] } },
      /^chains\.solana\[0\]\.chainId is 31337; expected .*used once/
    ],
    ['a project twice', { ...minimal, projects: [project, project] }, /^projects\[1\]\.projectId is "demo"/],
    [
      'a colon in a project id',
      { ...minimal, projects: [{ ...project, projectId: 'a:b' }] },
      /^projects\[0\]\.projectId is "a:…"; expected .*no colon/
    ],
    [
      'an origin with a path',
      withClientKey({ key: 'k', origins: ['http://a/b'] }),
      /^projects\[0\]\.clientKeys\[0\]\.origins\[0\] is "http:\/\/a/
    ],
    ['a prefix of JSON-RPC', { ...minimal, methodPrefix: 'rpc.' }, /^methodPrefix is "rpc\."; expected/],
    ['a bound of zero', { ...minimal, history: { maxUnpaged: 0 } }, /^history\.maxUnpaged is 0; expected/],
    [
      'a host without port',
      { ...minimal, metadata: { allowHosts: ['x'] } },
      /^metadata\.allowHosts\[0\] is "x"/
    ],
    [
      'a store of quotas, which are counted in the process',
      { ...minimal, rateLimit: { store: 'postgres://user:secret@cache.example/0' } },
      /^(?!.*secret)rateLimit\.store is not a key .*; expected one of: requestsPerSecond,/
    ],
    [
      'a quota per address that comes back in more than a day',
      { ...minimal, rateLimit: { perAddress: { requestsPerSecond: 1e-5, burst: 2 } } },
      /^rateLimit\.perAddress is .*; expected .*a day/
    ],
    ['no attempts', { ...minimal, login: { attempts: 0, windowMs: 1 } }, /^login\.attempts is 0; expected/],
    [
      'no delay',
      { ...minimal, overload: { eventLoopDelayMs: 0 } },
      /^overload\.eventLoopDelayMs is 0; expected/
    ],
    ['no rate', { ...minimal, rateLimit: { requestsPerSecond: 0, burst: 1 } }, /^rateLimit.* expected/],
    [
      'a quota that no timer can measure',
      { ...minimal, rateLimit: { requestsPerSecond: 1e-9, burst: 1 } },
      /^rateLimit is \{"requestsPerSecond":1e-9,"burst":1\}; expected .*a day/
    ],
    ['an unknown level', { ...minimal, log: { level: 'loud' } }, /^log\.level is "loud"; expected/]
  ])('is refused with its key, value and what was expected: %s', (_what, input, message) => {
    expect(refusalOf(input)).toMatch(message)
  })

  it('names every mistake, one a line', () => {
    const message = refusalOf({ ...minimal, store: 'x', log: { level: 'x' } })
    expect(message.split('\n').map(line => line.split(' ')[0])).toEqual(['store', 'log.level'])
  })

  it('takes limits and headers of a node beside plain URLs', () => {
    const limited = {
      url: 'https://b.example',
      ...{ maxRequestsPerSecond: 2.5, maxConcurrency: 4, headers: { 'x-api-key': 'k' } }
    }
    const { chains } = parseConfig(withEvm({ rpcUrls: ['https://a.example', limited] }))
    expect(chains.evm[0]?.rpcUrls).toEqual(['https://a.example', limited])
  })

  it('never shows a key or what a URL hides, and cuts long values', () => {
    const secret = 'top-secret'
    const wrong = [
      { ...minimal, projects: [{ projectId: 'a:b', serverKey: `\u0001${secret}` }] },
      { ...minimal, projects: secret },
      { ...minimal, projects: [{ ...project, serverKey: [secret] }] },
      withClientKey({ key: `\u0001${secret}`, origins: ['x'] }),
      withEvm({ rpcUrls: [`ftp://user:${secret}@host/${secret}?key=${secret}`] }),
      { ...minimal, store: `postgres://user:${secret}@host` },
      { ...minimal, store: `postgres://user:${secret}@${secret}@host` },
      { ...minimal, store: `postgres://user:${secret}#@host/db` },
      { ...minimal, store: `Postgres://user:${secret}@host/db` },
      { ...minimal, storeReplicas: [`postgres://user:${secret}@host/db`] },
      { ...minimal, store: 'postgres://host/db', storeReplicas: [`https://user:${secret}@host/db`] },
      { ...minimal, store: `postgres:user:${secret}@host/db` },
      withEvm({ rpcUrls: [`node.example/v3/${secret}`] }),
      withEvm({ wsUrls: [`http://user:${secret}@host/${secret}?key=${secret}`] }),
      withEvm({ rpcUrls: [`https://user:${secret}#@host/`] }),
      withEvm({ rpcUrls: { first: `node.example/v3/${secret}` } }),
      withEvm({ rpcUrls: [{ url: `https://node.example/${secret}`, headers: { 'x-key': `${secret}\n` } }] }),
      withEvm({ rpcUrls: [{ url: 'https://node.example', headers: secret }] }),
      withEvm({
        rpcUrls: [{ url: 'https://node.example', headers: { 'x-key': secret }, maxConcurrency: 0 }]
      }),
      { ...minimal, chains: { evm: [`node.example/v3/${secret}`] } },
      { ...minimal, metadata: { ipfsGateways: [`gateway.example?token=${secret}`] } },
      [{ ...minimal, projects: [{ ...project, serverKey: secret }] }],
      secret,
      new Function(`return '${secret}'`),
      { ...minimal, log: { level: 'x'.repeat(5_000) } }
    ]
    for (const input of wrong) {
      const message = refusalOf(input)
      expect(message).not.toContain(secret)
      expect(message.length).toBeLessThan(600)
    }
  })

  function withEvm(change: object): unknown {
    return { ...minimal, chains: { evm: [{ ...evm, ...change }] } }
  }

  function withClientKey(clientKey: object): unknown {
    return { ...minimal, projects: [{ ...project, clientKeys: [clientKey] }] }
  }
})

describe('the environment', () => {
  it('is enough without a file', async () => {
    const config = await loadConfig(undefined, {
      CHAIN_DATA_PORT: '0',
      CHAIN_DATA_HOST: '0.0.0.0',
      CHAIN_DATA_STORE: 'sqlite::memory:',
      CHAIN_DATA_LOG_LEVEL: 'warn',
      CHAIN_DATA_EVM_1: 'https://a.example/key, https://b.example',
      CHAIN_DATA_DAS_101: 'https://d.example/key',
      CHAIN_DATA_SOLANA_101: 'https://c.example',
      CHAIN_DATA_PROJECT: 'demo:key:with:colons',
      UNRELATED: 'x'
    })
    expect(config).toMatchObject({
      listen: { host: '0.0.0.0', port: 0 },
      store: 'sqlite::memory:',
      log: { level: 'warn' },
      projects: [{ projectId: 'demo', serverKey: 'key:with:colons' }],
      chains: {
        evm: [{ chainId: 1, rpcUrls: ['https://a.example/key', 'https://b.example'] }],
        solana: [{ chainId: 101, rpcUrls: ['https://c.example'], dasUrl: 'https://d.example/key' }]
      }
    })
  })

  it('names the store of a process that only answers, and its replicas', async () => {
    const config = await loadConfig(undefined, {
      CHAIN_DATA_STORE: 'postgres://reader@db.example/chain',
      CHAIN_DATA_STORE_REPLICAS: 'postgres://reader@a.example/chain, postgres://reader@b.example/chain',
      CHAIN_DATA_INDEXING: 'false',
      CHAIN_DATA_EVM_1: 'https://a.example/key',
      CHAIN_DATA_PROJECT: 'demo:key'
    })
    expect(config).toMatchObject({
      store: 'postgres://reader@db.example/chain',
      storeReplicas: ['postgres://reader@a.example/chain', 'postgres://reader@b.example/chain'],
      indexing: false
    })
  })

  it('sorts the URLs of an EVM chain by their schemes, and leaves the kind it does not name as it was', async () => {
    const fromFile = { ...minimal, chains: { evm: [{ ...evm, wsUrls: ['wss://old.example'] }] } }
    const evmOf = (value: string) =>
      (applyEnvironment(fromFile, { [`CHAIN_DATA_EVM_${evm.chainId}`]: value }).input as typeof fromFile)
        .chains.evm
    expect(evmOf('wss://a.example, https://b.example,ws://c.example')).toMatchObject([
      { rpcUrls: ['https://b.example'], wsUrls: ['wss://a.example', 'ws://c.example'] }
    ])
    expect(evmOf('https://b.example')).toMatchObject([{ wsUrls: ['wss://old.example'] }])
    expect(evmOf('wss://a.example')).toMatchObject([{ rpcUrls: evm.rpcUrls, wsUrls: ['wss://a.example'] }])
  })

  it.each<[string, Record<string, string>, RegExp]>([
    [
      'a WebSocket URL',
      { CHAIN_DATA_EVM_5: 'http://a,ws:b' },
      /^chains\.evm\[0\]\.wsUrls\[0\] \(from CHAIN_DATA_EVM_5\) is "ws:/
    ],
    [
      'a replica',
      { CHAIN_DATA_STORE: 'postgres://db/x', CHAIN_DATA_STORE_REPLICAS: 'postgres://a/x, b' },
      /^storeReplicas\[1\] \(from CHAIN_DATA_STORE_REPLICAS\) is "b"; expected/
    ],
    [
      'whether to index',
      { CHAIN_DATA_INDEXING: 'no' },
      /^indexing \(from CHAIN_DATA_INDEXING\) is "no"; expected index the chains/
    ],
    [
      'a proxy that is no address',
      { CHAIN_DATA_TRUSTED_PROXIES: 'loopback, proxy.example' },
      /^listen\.trustedProxies\[1\] \(from CHAIN_DATA_TRUSTED_PROXIES\) is "proxy\.example"; expected an IP address/
    ],
    ['a port', { CHAIN_DATA_PORT: 'http' }, /^listen\.port \(from CHAIN_DATA_PORT\) is "http"; expected/],
    ['a URL', { CHAIN_DATA_EVM_5: 'b' }, /^chains\.evm\[0\]\.rpcUrls\[0\] \(from CHAIN_DATA_EVM_5\) is "b"/],
    [
      'a DAS endpoint',
      { CHAIN_DATA_DAS_103: 'ftp://d.example/key' },
      /^chains\.solana\[0\]\.dasUrl \(from CHAIN_DATA_DAS_103\) is "ftp:\/\/d\.example"; expected endpoint/
    ],
    [
      'the chain id of a DAS endpoint',
      { CHAIN_DATA_DAS_main: 'http://x' },
      /CHAIN_DATA_DAS_main .*expected CHAIN_DATA_DAS_<chainId>/
    ],
    [
      'a chain id',
      { CHAIN_DATA_EVM_main: 'http://x' },
      /CHAIN_DATA_EVM_main .*expected CHAIN_DATA_EVM_<chainId>/
    ],
    [
      'a project',
      { CHAIN_DATA_PROJECT: 'secret' },
      /^Environment variable CHAIN_DATA_PROJECT .*expected: <projectId>/
    ]
  ])('is named when it gives a wrong value: %s', async (_what, wrong, message) => {
    const environment = { CHAIN_DATA_PROJECT: 'a:b', CHAIN_DATA_SOLANA_103: 'http://x', ...wrong }
    await expect(loadConfig(undefined, environment)).rejects.toThrow(message)
  })

  it('tells nothing of a project that is not of its form', async () => {
    const failure = loadConfig(undefined, { CHAIN_DATA_PROJECT: 'top-secret' })
    await expect(failure).rejects.not.toThrow(/top-secret/)
  })
})

describe('a configuration file', () => {
  const folders: string[] = []
  afterEach(async () => {
    for (const folder of folders.splice(0)) await rm(folder, { recursive: true })
  })

  async function write(name: string, text: string): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'chain-data-config-'))
    folders.push(folder)
    const path = join(folder, name)
    await writeFile(path, text)
    return path
  }

  it.each([
    ['config.json', JSON.stringify(minimal)],
    ['config.mjs', `export default ${JSON.stringify(minimal)}`],
    ['config.ts', `const config: object = ${JSON.stringify(minimal)}\nexport default config`]
  ])('may be %s', async (name, text) => {
    expect(await loadConfig(await write(name, text), {})).toEqual(parseConfig(minimal))
  })

  it('gives way to the environment, key by key', async () => {
    const file = await write(
      'config.json',
      JSON.stringify({ ...documented, chains: { evm: [{ ...evm, startBlock: 7 }] } })
    )
    const config = await loadConfig(file, {
      CHAIN_DATA_PORT: '1234',
      CHAIN_DATA_EVM_31337: 'http://other',
      CHAIN_DATA_EVM_5: 'http://added',
      CHAIN_DATA_PROJECT: 'demo:new-key'
    })
    expect(config.listen).toMatchObject({ host: '127.0.0.1', port: 1234 })
    expect(config.chains.evm).toMatchObject([
      { chainId: 31337, rpcUrls: ['http://other'], startBlock: 7 },
      { chainId: 5, rpcUrls: ['http://added'], startBlock: 0 }
    ])
    expect(config.projects).toMatchObject([
      { projectId: 'demo', serverKey: 'new-key', clientKeys: [{ key: 'demo-client-key' }] }
    ])
  })

  it.each<[string, string, RegExp]>([
    [
      'broken.json',
      '{"serverKey": "top-secret',
      /is not JSON: unexpected text .*\. Expected one JSON object/
    ],
    ['broken.mjs', 'export default {', /could not be loaded as a module/],
    ['empty.mjs', 'export const x = 1', /has no default export; expected the configuration object/]
  ])('is named when it cannot be used: %s', async (name, text, message) => {
    const failure = loadConfig(await write(name, text), {})
    await expect(failure).rejects.toThrow(ConfigError)
    await expect(failure).rejects.toThrow(message)
    await expect(failure).rejects.not.toThrow(/top-secret/)
  })

  it('is named when it is not there', async () => {
    await expect(loadConfig('/nowhere/config.json', {})).rejects.toThrow(
      /"\/nowhere\/config\.json" could not be read/
    )
  })
})

describe('the help text', () => {
  it('lists every key of the documented configuration, with its meaning', () => {
    const lines = describeConfig().split('\n')
    for (const key of [
      'listen.port',
      'store',
      'projects[].clientKeys[].origins',
      'chains.evm[].finality',
      'log.level'
    ]) {
      expect(lines.filter(line => line.trim().startsWith(`${key} `))).toHaveLength(1)
    }
    expect(lines.filter(line => /^ {2}\S+ +$/.test(line))).toEqual([])
    expect(lines.join('\n')).toContain('CHAIN_DATA_EVM_<chainId>')
  })
})

describe('metadata.prices', () => {
  const withPrices = (prices: unknown) => ({ ...minimal, metadata: { prices } })

  it('is a function, a URL or null, and null when left out', () => {
    const named = async () => ({ currency: 'USD', prices: [] })
    for (const prices of [named, 'http://127.0.0.1:9/prices', null]) {
      expect(parseConfig(withPrices(prices)).metadata.prices).toBe(prices)
    }
    expect(parseConfig(minimal).metadata.prices).toBeNull()
  })

  it('is refused in any other form, without what may be a key', () => {
    const refused = refusalOf(withPrices('ftp://prices.example/v1?key=secret'))
    expect(refused).toMatch(
      /^metadata\.prices is "ftp:\/\/prices\.example"; expected where prices of tokens come from/
    )
    expect(refused).not.toContain('secret')
    expect(refusalOf(withPrices(7))).toMatch(/^metadata\.prices is 7; expected/)
  })

  it('may be a function in a module, also where the environment sets other keys', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'chain-data-config-'))
    const file = join(folder, 'config.mjs')
    await writeFile(
      file,
      `export default { ...${JSON.stringify(minimal)}, metadata: { prices: async () => ({ currency: 'USD', prices: [] }) } }`
    )
    try {
      const { metadata, log } = await loadConfig(file, { CHAIN_DATA_LOG_LEVEL: 'warn' })
      expect([typeof metadata.prices, log.level]).toEqual(['function', 'warn'])
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})
