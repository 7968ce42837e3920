import { afterEach, describe, expect, it } from 'vitest'
import { patient } from '../../../../.config/patience.ts'
import { clusterOfChainId } from '../../src/nodes/solana/clusters.ts'
import { createSolanaNodes, type SolanaNodesOptions } from '../../src/nodes/solana/nodes.ts'
import { createSolanaRpc, type SolanaRpc, type SolanaRpcOptions } from '../../src/nodes/solana/rpc.ts'
import { METAPLEX_PROGRAM, TOKEN_PROGRAM } from '../../src/nodes/solana/solanaAddress.ts'
import {
  ConfigError,
  NodeContradictionError,
  NodeRpcError,
  NodeUnavailableError
} from '../../src/platform/errors.ts'
import { createLogger } from '../../src/platform/logger.ts'
import { answerOf, errorOf, type RpcCall, type ScriptedNode, startScriptedNode } from './startScriptedNode.ts'

const nodes: ScriptedNode[] = []

async function start(react: ScriptedNode['react']): Promise<ScriptedNode> {
  const node = await startScriptedNode(react)
  nodes.push(node)
  return node
}

afterEach(() => Promise.all(nodes.splice(0).map(node => node.close())))

function rpcOf(
  urls: readonly string[],
  { commitment = 'confirmed', ...options }: Partial<SolanaRpcOptions & SolanaNodesOptions> = {}
): SolanaRpc {
  const nodes = createSolanaNodes({ rpcUrls: urls, timeoutMs: 400, backoffMs: 1, ...options })
  return createSolanaRpc({ nodes, commitment })
}

const sound = (value: string, slot?: number) => (call: RpcCall) => answerOf(call, value, slot)
const html = { status: 200, body: '<html>maintenance</html>' }
const secret = 's3cr3t-key'

describe('exact numbers', () => {
  it.each(['18446744073709551615', '9007199254740993', '9007199254740991', '0'])(
    'reads a balance of %s lamports with every digit',
    async lamports => {
      const node = await start(sound(lamports, 7))
      expect(await rpcOf([node.url]).getBalance(TOKEN_PROGRAM)).toEqual({ slot: 7, value: BigInt(lamports) })
    }
  )

  it.each(['18446744073709551616', '-1', '1.5', '1e30', '"1"', '{}', 'null'])(
    'refuses %s as a balance',
    async lamports => {
      const node = await start(sound(lamports))
      await expect(rpcOf([node.url]).getBalance(TOKEN_PROGRAM)).rejects.toThrow(NodeContradictionError)
    }
  )

  it('reads accounts whose rent epoch is the largest u64', async () => {
    const account = `{"data":["AQI=","base64"],"executable":false,"lamports":18446744073709551615,"owner":"${TOKEN_PROGRAM}","rentEpoch":18446744073709551615,"space":2}`
    const node = await start(sound(`[${account},null]`, 5))
    const { value } = await rpcOf([node.url]).getMultipleAccounts([TOKEN_PROGRAM, METAPLEX_PROGRAM])
    expect(value).toEqual([{ owner: TOKEN_PROGRAM, data: Buffer.from([1, 2]) }, undefined])
  })
})

describe('what a node is sent', () => {
  it('names the commitment, the encoding and the slot that the answer may not be older than', async () => {
    const node = await start(sound('[]', 9))
    await rpcOf([node.url], { commitment: 'finalized' }).getTokenAccountsByOwner(
      METAPLEX_PROGRAM,
      TOKEN_PROGRAM,
      { minContextSlot: 9 }
    )
    expect(node.calls).toMatchObject([
      {
        method: 'getTokenAccountsByOwner',
        params: [
          METAPLEX_PROGRAM,
          { programId: TOKEN_PROGRAM },
          { commitment: 'finalized', encoding: 'base64', minContextSlot: 9 }
        ]
      }
    ])
  })

  it('carries the credentials of a URL as Basic authorization', async () => {
    const node = await start(sound('1'))
    await rpcOf([node.url.replace('http://', 'http://us%40er:pa%3Ass@')]).getBalance(TOKEN_PROGRAM)
    expect(node.authorizations).toEqual([`Basic ${btoa('us@er:pa:ss')}`])
  })

  it('never holds more than 100 keys', async () => {
    const node = await start(sound('[]'))
    const keys = Array<string>(101).fill(TOKEN_PROGRAM)
    await expect(rpcOf([node.url]).getMultipleAccounts(keys)).rejects.toThrow(RangeError)
    expect(node.calls).toEqual([])
  })
})

describe('a node in trouble', () => {
  const troubles: [string, ScriptedNode['react']][] = [
    ['resets connections', () => 'reset'],
    ['answers 429', () => ({ status: 429, body: '{}' })],
    ['answers 503 with HTML', () => ({ ...html, status: 503 })],
    ['answers HTML with status 200', () => html],
    ['answers JSON that is no JSON-RPC', () => ({ body: '{"ok":true}' })],
    ['answers broken JSON', () => ({ body: '{"jsonrpc":' })],
    ['never answers', () => 'hang'],
    ['drips its answer without end', () => 'drip']
  ]
  const behind: [string, ScriptedNode['react']][] = [
    ['is unhealthy', call => errorOf(call, -32005)],
    ['says that it is behind', call => errorOf(call, -32016, 400)],
    ['is behind without saying so', sound('1', 49)]
  ]
  const hopeless: [string, ScriptedNode['react']][] = [
    ['redirects', () => ({ status: 302, headers: { location: 'http://127.0.0.1:1/' }, body: '' })],
    ['knows no such credentials', () => ({ status: 401, body: '{"message":"no"}' })],
    ['answers too much', sound(`42${' '.repeat(3000)}`, 50)]
  ]

  it.each([...troubles, ...behind, ...hopeless])(
    'that %s is passed over for the next',
    async (what, react) => {
      const broken = await start(react)
      const healthy = await start(sound('42', 50))
      const rpc = rpcOf([`${broken.url}/${secret}`, healthy.url], {
        maxResponseBytes: 2000,
        timeoutMs: 1_000
      })
      expect(await rpc.getBalance(TOKEN_PROGRAM, { minContextSlot: 50 })).toEqual({ slot: 50, value: 42n })
      // The one that answered is asked first from then on; an answer that is too large says nothing of the next one.
      await rpc.getBalance(TOKEN_PROGRAM)
      expect([broken.calls.length, healthy.calls.length]).toEqual([what === 'answers too much' ? 2 : 1, 2])
    }
  )

  it.each([...troubles, ...behind, ...hopeless])(
    'that %s is unavailable when it is the only one, named without its URL',
    async (what, react) => {
      const broken = await start(react)
      const url = broken.url.replace('http://', `http://${secret}:${secret}@`)
      const rpc = rpcOf([`${url}/${secret}?k=${secret}`], {
        maxResponseBytes: 2000,
        timeoutMs: 400,
        maxAttempts: 2
      })
      const failure: unknown = await rpc
        .getBalance(TOKEN_PROGRAM, { minContextSlot: 50 })
        .catch(error => error)
      expect(failure).toBeInstanceOf(NodeUnavailableError)
      expect((failure as Error).message).toMatch(/^getBalance: upstream 1 /)
      const told = JSON.stringify([(failure as Error).message, (failure as Error).stack, failure])
      expect(told).not.toContain(secret)
      expect(told).not.toContain(new URL(broken.url).host)
      const isOf = (kind: typeof troubles) => kind.some(([name]) => name === what)
      // What no second try will mend is not tried again; what time mends, more often.
      if (what === 'answers 429') {
        // With longer and longer pauses, of which the deadline leaves room for some.
        expect(broken.calls.length).toBeGreaterThan(2)
        expect(broken.calls.length).toBeLessThanOrEqual(10)
      } else expect(broken.calls).toHaveLength(isOf(hopeless) ? 1 : isOf(behind) ? 10 : 2)
    }
  )

  it('that nobody listens for is unavailable', async () => {
    const gone = await start(sound('1'))
    await gone.close()
    await expect(rpcOf([gone.url]).getBalance(TOKEN_PROGRAM)).rejects.toThrow(
      /^getBalance: upstream 1 cannot be reached \(ECONNREFUSED\)$/
    )
  })

  it('that recovers is asked again', async () => {
    let left = 2
    const node = await start(call => (left-- > 0 ? { status: 503, body: '' } : answerOf(call, '3')))
    expect(await rpcOf([node.url]).getBalance(TOKEN_PROGRAM)).toMatchObject({ value: 3n })
  })

  it('is given the patience it asks for', async () => {
    let asked = 0
    const node = await start(call =>
      asked++ === 0 ? { status: 429, headers: { 'retry-after': '1' }, body: '' } : answerOf(call, '3')
    )
    const begun = performance.now()
    await rpcOf([node.url], { timeoutMs: 5_000 }).getBalance(TOKEN_PROGRAM)
    expect(performance.now() - begun).toBeGreaterThan(990)
  })

  it('that redirects takes nobody along, least of all with credentials', async () => {
    const elsewhere = await start(sound('1'))
    const node = await start(() => ({ status: 307, headers: { location: elsewhere.url }, body: '' }))
    const rpc = rpcOf([node.url.replace('http://', 'http://user:pass@')], { maxAttempts: 1 })
    await expect(rpc.getBalance(TOKEN_PROGRAM)).rejects.toThrow(/HTTP 307/)
    expect(elsewhere.calls).toEqual([])
  })

  it('that asks for more patience than a call may take fails it at once', async () => {
    const node = await start(() => ({ status: 429, headers: { 'retry-after': '2' }, body: '' }))
    await expect(rpcOf([node.url], { timeoutMs: 1_500 }).getBalance(TOKEN_PROGRAM)).rejects.toThrow(
      /HTTP 429/
    )
    expect(node.calls).toHaveLength(1)
  })

  it('that asks for more patience than the caller has fails the call at once', async () => {
    const node = await start(() => ({ status: 429, headers: { 'retry-after': '3600' }, body: '' }))
    await expect(
      rpcOf([node.url], { timeoutMs: 60_000 }).getBalance(TOKEN_PROGRAM, { deadlineMs: Date.now() + 50_000 })
    ).rejects.toThrow(/HTTP 429/)
    expect(node.calls).toHaveLength(1)
  })
})

describe('several nodes', () => {
  const other = METAPLEX_PROGRAM
  const log = () => {
    const lines: string[] = []
    return { lines, logger: createLogger({ level: 'debug', write: line => lines.push(line) }) }
  }

  it('are asked for their genesis hash once each, and a node of another cluster is never used', async () => {
    const nodes = [await start(() => 'reset'), await start(sound('1')), await start(sound('42'))]
    const asked: string[] = []
    for (const [at, node] of nodes.entries()) {
      const hash = at === 1 ? other : TOKEN_PROGRAM
      node.genesisHash = undefined
      const { react } = node
      node.react = call => {
        if (call.method !== 'getGenesisHash') return react(call)
        asked.push(`upstream ${at + 1}`)
        return { body: JSON.stringify({ jsonrpc: '2.0', id: call.id, result: hash }) }
      }
    }
    const { lines, logger } = log()
    const rpc = rpcOf(
      nodes.map(node => node.url),
      { logger }
    )
    for (let times = 0; times < 3; times++) {
      expect(await rpc.getBalance(TOKEN_PROGRAM)).toMatchObject({ value: 42n })
    }
    expect(asked).toEqual(['upstream 1', 'upstream 2', 'upstream 3'])
    expect(nodes[1]?.calls.map(call => call.method)).toEqual(['getGenesisHash'])
    expect(lines.map(line => JSON.parse(line) as object)).toMatchObject([
      { level: 50, problem: 'upstream 2 serves another cluster than upstream 1' }
    ])
  })

  it('must be of the cluster that is expected, and one alone is also asked then', async () => {
    const node = await start(sound('1'))
    const [mainnet, devnet] = [101, 103].map(clusterOfChainId)
    const { lines, logger } = log()
    const rpc = rpcOf([node.url], { cluster: mainnet, logger })
    const problem =
      'upstream 1 serves devnet (genesis EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxkPkZBG), and chain id 101 stands for ' +
      'mainnet-beta: mend chainId or the URL, or set "dev": true for a development cluster'
    for (let times = 0; times < 2; times++) {
      await expect(rpc.getBalance(TOKEN_PROGRAM)).rejects.toThrow(new ConfigError(problem))
    }
    expect(lines.map(line => JSON.parse(line) as object)).toMatchObject([{ level: 50, problem }])
    expect(node.calls).toEqual([])
    expect(await rpcOf([node.url], { cluster: devnet }).getBalance(TOKEN_PROGRAM)).toMatchObject({
      value: 1n
    })
    node.genesisHash = METAPLEX_PROGRAM
    await expect(rpcOf([node.url], { cluster: devnet }).getBalance(TOKEN_PROGRAM)).rejects.toThrow(
      /serves another cluster \(genesis meta.*chain id 103 stands for devnet/
    )
    // What does not tell its genesis hash is what its host says it is.
    node.genesisHash = undefined
    node.react = call => (call.method === 'getGenesisHash' ? errorOf(call, -32601) : sound('2')(call))
    expect(await rpcOf([node.url], { cluster: devnet }).getBalance(TOKEN_PROGRAM)).toMatchObject({
      value: 2n
    })
  })

  it.each(['everything', 'all but its genesis hash'])(
    'of which the preferred one is silent to %s cost one call less than 5 s, and the next call nothing',
    async what => {
      const silent = await start(() => 'hang')
      if (what === 'everything') silent.genesisHash = undefined
      const sane = await start(sound('1'))
      const rpc = rpcOf([silent.url, sane.url], { timeoutMs: 10_000 })
      for (const [limitMs, calls] of [
        [5_000, 1],
        [1_000, 1]
      ] as const) {
        const startedMs = performance.now()
        expect(await rpc.getBalance(TOKEN_PROGRAM)).toMatchObject({ value: 1n })
        expect(performance.now() - startedMs).toBeLessThan(patient(limitMs))
        expect(silent.calls).toHaveLength(calls)
      }
    }
  )

  it('that do not tell their genesis hash are not used beside others, and alone are not asked', async () => {
    const first = await start(sound('1'))
    const silent = await start(call =>
      call.method === 'getGenesisHash' ? errorOf(call, -32601) : answerOf(call, '2')
    )
    silent.genesisHash = undefined
    const rpc = rpcOf([first.url, silent.url], { maxAttempts: 1 })
    expect(await rpc.getBalance(TOKEN_PROGRAM)).toMatchObject({ value: 1n })
    first.react = () => 'reset'
    await expect(rpc.getBalance(TOKEN_PROGRAM)).rejects.toThrow(NodeUnavailableError)
    expect(silent.calls.map(call => call.method)).toEqual(['getGenesisHash'])
    expect(await rpcOf([silent.url]).getBalance(TOKEN_PROGRAM)).toMatchObject({ value: 2n })
    expect(silent.calls.map(call => call.method)).toEqual(['getGenesisHash', 'getBalance'])
  })

  it('share what is known of each: one that asked to be left alone is, one without a method too', async () => {
    const limiting = await start(() => ({ status: 429, headers: { 'retry-after': '5' }, body: '' }))
    const poor = await start(call =>
      call.method === 'getBalance' ? answerOf(call, '1') : errorOf(call, -32601)
    )
    const able = await start(call => answerOf(call, call.method === 'getBalance' ? '2' : '[]'))
    const rpc = rpcOf([limiting.url, poor.url, able.url])
    await rpc.getBalance(TOKEN_PROGRAM)
    expect([limiting, poor, able].map(node => node.calls.length)).toEqual([1, 1, 0])
    await rpc.getTokenAccountsByOwner(METAPLEX_PROGRAM, TOKEN_PROGRAM)
    await rpc.getTokenAccountsByOwner(METAPLEX_PROGRAM, TOKEN_PROGRAM)
    expect([limiting, poor, able].map(node => node.calls.length)).toEqual([1, 2, 2])
  })

  it('that all refuse a call make it fail with the code of the first, each asked once', async () => {
    const [one, two] = [
      await start(call => errorOf(call, -32010)),
      await start(call => errorOf(call, -32601))
    ]
    const failure: unknown = await rpcOf([one.url, two.url])
      .getTokenAccountsByOwner(METAPLEX_PROGRAM, TOKEN_PROGRAM)
      .catch(error => error)
    expect(failure).toBeInstanceOf(NodeRpcError)
    expect(failure).toMatchObject({
      rpcCode: -32010,
      message: 'upstream 1 keeps no index of this key for getTokenAccountsByOwner (error -32010)'
    })
    expect([one.calls.length, two.calls.length]).toEqual([1, 1])
  })
})

describe('an answer that asking again would not mend', () => {
  it('is passed on as the code of the error, without the words of the node', async () => {
    const refusing = await start(call => errorOf(call, -32602))
    const failure: unknown = await rpcOf([refusing.url])
      .getBalance(TOKEN_PROGRAM)
      .catch(error => error)
    expect(failure).toBeInstanceOf(NodeRpcError)
    expect(failure).toMatchObject({ rpcCode: -32602, message: 'upstream 1 answered error -32602' })
    expect(refusing.calls).toHaveLength(1)
  })

  it('is a contradiction when it counts other accounts than were asked for', async () => {
    const node = await start(sound('[null]'))
    await expect(rpcOf([node.url]).getMultipleAccounts([TOKEN_PROGRAM, METAPLEX_PROGRAM])).rejects.toThrow(
      NodeContradictionError
    )
  })
})

describe('a caller who does not wait', () => {
  it('gets the reason of its own signal, in the middle of an exchange', async () => {
    const reason = new Error('client went away')
    const stop = new AbortController()
    const node = await start(() => {
      stop.abort(reason)
      return 'hang'
    })
    await expect(
      rpcOf([node.url], { timeoutMs: 10_000 }).getBalance(TOKEN_PROGRAM, { signal: stop.signal })
    ).rejects.toBe(reason)
  })

  it('gets the reason of its own signal, in the middle of a pause', async () => {
    const reason = new Error('client went away')
    const stop = new AbortController()
    const node = await start(() => {
      setTimeout(() => stop.abort(reason), 50)
      return { status: 503, body: '' }
    })
    const rpc = rpcOf([node.url], { timeoutMs: 30_000, backoffMs: 20_000 })
    await expect(rpc.getBalance(TOKEN_PROGRAM, { signal: stop.signal })).rejects.toBe(reason)
  })

  it('has its deadline kept over all retries', async () => {
    const node = await start(() => 'hang')
    const begun = performance.now()
    await expect(
      rpcOf([node.url, node.url], { timeoutMs: 5_000 }).getBalance(TOKEN_PROGRAM, {
        deadlineMs: Date.now() + 150
      })
    ).rejects.toThrow('getBalance: upstream 2 did not answer in time')
    expect(performance.now() - begun).toBeLessThan(3_000)
  })
})

it.each([
  ['not a URL', `no url ${secret}`],
  ['no http', `ftp://${secret}.test/`]
])('a URL that is %s is refused by its place, not its text', (_what, url) => {
  const attempt = () => rpcOf(['http://node.test', url])
  expect(attempt).toThrow(ConfigError)
  expect(attempt).toThrow(/^rpcUrls\[1\] /)
  expect(attempt).not.toThrow(new RegExp(secret))
})
