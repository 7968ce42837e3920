import { afterEach, describe, expect, it } from 'vitest'
import { ConfigError } from '../../src/platform/errors.ts'
import { createLogger } from '../../src/platform/logger.ts'
import { ResultStream } from '../../src/server/methods/MethodContext.ts'
import { createKeyRing } from '../../src/server/projects/createKeyRing.ts'
import {
  createProjectVerifier,
  type VerifyLimits,
  type VerifyProject
} from '../../src/server/projects/createProjectVerifier.ts'
import { createServer, type Server } from '../../src/server/start/createServer.ts'
import { address, request, startService, statusHandlers } from '../http/startService.ts'

const good = request('svc_getSyncStatus', [])
const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`
const origin = 'https://shop.example'

/** A host's database with one server key, one key for pages, and one that it fails at. */
const verifyProject: VerifyProject = async ({ projectId, key }) => {
  if (key === 'broken') throw new Error('connect ECONNREFUSED top-secret')
  if (key === 'hanging') return new Promise(() => {})
  if (key === 'page') return { projectId, origins: [origin] }
  return key === 'right' ? { projectId: `account of ${projectId}` } : undefined
}

function start(limits: VerifyLimits = {}, host = verifyProject) {
  const lines: string[] = []
  const logger = createLogger({ level: 'debug', write: line => lines.push(line) })
  const verifier = createProjectVerifier(host, { limits, logger })
  const service = startService({ handlers: statusHandlers, verifier })
  const call = async (credentials: string, headers: Record<string, string> = {}) => {
    const init = { headers: { authorization: basic(credentials), ...headers } }
    const response = await service.post('/evm-chain', good, init)
    const { error } = (await response.json()) as { error?: { code: number; data: { reason: string } } }
    return {
      status: response.status,
      reason: error?.data.reason,
      code: error?.code,
      headers: response.headers
    }
  }
  return { service, call, lines }
}

describe('a service over a host with a database of its own', () => {
  it.each<[string, string, Record<string, string>, number, string | undefined]>([
    ['a right key', 'shop:right', {}, 200, undefined],
    ['a wrong key', 'shop:wrong', {}, 401, 'UNAUTHENTICATED'],
    ['a key for pages from its origin', 'shop:page', { origin }, 200, undefined],
    ['a key for pages from another', 'shop:page', { origin: 'https://a.example' }, 403, 'FORBIDDEN_ORIGIN'],
    ['a key for pages without an origin', 'shop:page', {}, 403, 'FORBIDDEN_ORIGIN'],
    ['a project of the configuration', 'demo:demo-server-key', {}, 200, undefined],
    ['a key of the host for a project of the configuration', 'demo:right', {}, 401, 'UNAUTHENTICATED'],
    ['a key that the host fails at', 'shop:broken', {}, 503, 'OVERLOADED'],
    ['a key that the host is silent about', 'shop:hanging', {}, 503, 'OVERLOADED']
  ])('answers %s', async (_what, credentials, headers, status, reason) => {
    const outcome = await start({ timeoutMs: 30 }).call(credentials, headers)
    expect([outcome.status, outcome.reason]).toEqual([status, reason])
  })

  it('says when to come back while nobody can tell, and never that the key is wrong', async () => {
    const { call, lines } = start()
    const { code, headers } = await call('shop:broken', { origin })
    expect([code, headers.get('retry-after')]).toEqual([-32002, '1'])
    expect(headers.has('www-authenticate')).toBe(false)
    // A page may read it too.
    expect(headers.get('access-control-allow-origin')).toBe(origin)
    expect(lines.join('')).toContain('verifyProject failed')
    expect(lines.join('')).not.toMatch(/top-secret|broken/)
  })

  it('is asked by others while one address fills its part of the questions', async () => {
    let answer = () => {}
    const host: VerifyProject = question =>
      question.key === 'slow'
        ? new Promise(resolve => {
            answer = () => resolve(undefined)
          })
        : verifyProject(question)
    const { service } = start({ atOnce: 10 }, host)
    const statusFor = async (credentials: string, from: string) => {
      const headers = { authorization: basic(credentials), 'content-type': 'application/json' }
      const init = { method: 'POST', body: good, headers }
      return (await service.fetch(new Request('http://service/evm-chain', init), { address: from })).status
    }
    const waiting = statusFor('a:slow', '192.0.2.1')
    expect(await statusFor('b:right', '192.0.2.1')).toBe(503)
    expect(await statusFor('b:right', '192.0.2.2')).toBe(200)
    answer()
    expect(await waiting).toBe(401)
    expect(await statusFor('b:right', '192.0.2.1')).toBe(200)
  })

  it('counts calls under the project that the host named', async () => {
    const { service, call } = start()
    await call('shop:right')
    const calls = service.logLines.map(line => JSON.parse(line) as { projectId?: string })
    expect(calls.flatMap(({ projectId }) => projectId ?? [])).toEqual(['account of shop'])
  })

  it('lets pages of any origin ask, without cookies, since only the key tells from where it may be used', async () => {
    const closed = createProjectVerifier(verifyProject, { logger: createLogger({ level: 'silent' }) })
    const service = startService({ handlers: statusHandlers, projects: [], verifier: closed })
    const headers = {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-private-network': 'true'
    }
    const preflight = await service.fetch(
      new Request('http://service/evm-chain', { method: 'OPTIONS', headers })
    )
    expect(Object.fromEntries(preflight.headers)).toMatchObject({
      'access-control-allow-origin': origin,
      'access-control-allow-headers': 'Authorization, Content-Type, Last-Event-ID',
      vary: 'Origin'
    })
    expect(preflight.headers.has('access-control-allow-credentials')).toBe(false)
    expect(preflight.headers.has('access-control-allow-private-network')).toBe(false)
  })
})

describe('a key that is revoked', () => {
  it('is refused at the next request, while the answer under way is written to its end', async () => {
    const keys = createKeyRing([{ projectId: 'demo', serverKey: 'demo-server-key' }])
    let goOn = () => {}
    const paused = new Promise<void>(resolve => {
      goOn = resolve
    })
    async function* chunks() {
      // More than what is held back until an answer may begin.
      yield `"${'a'.repeat(1_000_000)}"`
      await paused
      yield '"the end"'
    }
    const service = startService({
      keyRing: keys,
      handlers: {
        ...statusHandlers,
        svc_getTransactionsByAddress: async () => new ResultStream(chunks(), async () => {})
      }
    })
    const streaming = await service.post('/evm-chain', request('svc_getTransactionsByAddress', [address]))
    expect(streaming.status).toBe(200)
    keys.replace([])
    expect((await service.post('/evm-chain', good)).status).toBe(401)
    goOn()
    expect(await streaming.json()).toMatchObject({ result: [expect.any(String), 'the end'] })
  })
})

describe('a server in a program', () => {
  const servers: Server[] = []
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.close()
  })
  const config = {
    store: 'sqlite::memory:',
    chains: { solana: [{ chainId: 103, rpcUrls: ['http://127.0.0.1:1'] }] },
    log: { level: 'silent' as const }
  }

  it('needs no projects where the host verifies them, takes others at run time, and forgets what was verified', async () => {
    let asked = 0
    const server = await createServer(config, {
      verifyProject: async question => {
        asked++
        return verifyProject(question)
      }
    })
    servers.push(server)
    const statusOf = async (credentials: string) => {
      const headers = { authorization: basic(credentials), 'content-type': 'application/json' }
      const body = request('rpc.discover', [], { chainId: 103 })
      return (await server.fetch(new Request('http://service/solana', { method: 'POST', headers, body })))
        .status
    }
    expect([await statusOf('shop:right'), await statusOf('shop:right'), asked]).toEqual([200, 200, 1])
    await server.reloadProjects([{ projectId: 'shop', serverKey: 'own' }])
    expect([await statusOf('shop:right'), await statusOf('shop:own')]).toEqual([401, 200])
    const wrong = server.reloadProjects([{ projectId: 'a:b', serverKey: 'x' }])
    await expect(wrong).rejects.toThrow(/^projects\[0\]\.projectId is "a:…"; expected/)
    expect(await statusOf('shop:own')).toBe(200)
    await server.reloadProjects([])
    expect([await statusOf('shop:right'), asked]).toEqual([200, 2])
  })

  it('is refused without projects, without a file of them and without a host that knows them', async () => {
    await expect(createServer(config)).rejects.toThrow(/^projects is missing; expected who may call/)
    const missing = createServer({ ...config, projectsFile: '/nowhere/projects.json' })
    await expect(missing).rejects.toThrow(ConfigError)
  })
})
