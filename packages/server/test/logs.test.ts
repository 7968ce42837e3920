import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer as createHttpServer, type Server as HttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { eventually } from '@chain-data/index/test'
import { afterEach, describe, expect, it } from 'vitest'
import { createLogger } from '../src/platform/logger.ts'
import { createServer } from '../src/server/start/createServer.ts'
import { request, startService } from './http/startService.ts'

const sources = ['../src', '../../index/src'].map(path => fileURLToPath(new URL(path, import.meta.url)))
const page = readFileSync(new URL('../../../docs/logs.md', import.meta.url), 'utf8')

/** What stands in place of something that differs from line to line. */
const blank = '<>'

interface NodeCall {
  readonly id: unknown
  readonly method: string
  readonly params: readonly unknown[]
}

interface Message {
  readonly text: string
  readonly level: string
}

/** Every message that the sources hand to a logger. */
function writtenMessages(): readonly Message[] {
  const files = sources.flatMap(source =>
    readdirSync(source, { recursive: true, encoding: 'utf8' })
      .filter(file => file.endsWith('.ts') && !/\.(test|bench|contract)\.ts$/.test(file))
      .map(file => join(source, file))
  )
  return files.flatMap(file => {
    const code = readFileSync(file, 'utf8')
    const calls = code.matchAll(
      /(?:[lL]ogger\??|[lL]ogger\([^()]*\{[^{}]*\}\s*\))\s*\.(debug|info|warn|error)\(\s*(?:'([^']*)'|`([^`]*)`|(\w+))/g
    )
    return [...calls].flatMap(([, level = '', plain, template, variable]) => {
      if (plain !== undefined) return [{ text: plain, level }]
      if (template !== undefined) return [{ text: template.replace(/\$\{[^}]*\}/g, blank), level }]
      const [, value = ''] = new RegExp(`const ${variable} = (.*)`).exec(code) ?? []
      const texts = [...value.matchAll(/'([^']*)'/g)]
        .filter(([, text]) => text !== '')
        .map(([, text = '']) => ({ text, level }))
      if (texts.length === 0) throw new Error(`${file}: what is logged as ${variable}?`)
      return texts
    })
  })
}

/** Every message in the table. */
function describedMessages(): readonly Message[] {
  const rows = page.split('\n').filter(line => line.startsWith('| `') && !line.startsWith('| `msg`'))
  return rows.flatMap(row => {
    const [names = '', levels = ''] = row.slice(2).split(' | ')
    return [...names.matchAll(/`([^`]+)`/g)].map(([, text = '']) => ({
      text: text.replace(/<\w+>/g, blank),
      level: levels
    }))
  })
}

/** Whether a text with blanks may stand for the other. */
function fits(template: string, text: string): boolean {
  const parts = template.split(blank).map(part => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('.+')}$`).test(text)
}

describe('docs/logs.md', () => {
  const written = writtenMessages()
  const described = describedMessages()

  it('has every message that the server writes, with its level', () => {
    expect(written.length).toBeGreaterThan(45)
    const missing = written.filter(
      ({ text, level }) =>
        !described.some(
          row =>
            (fits(row.text, text) || fits(text, row.text)) &&
            (row.level.includes(level) || page.includes(`With level ${level}`))
        )
    )
    expect(missing).toEqual([])
  })

  it('has no message that nobody writes', () => {
    const unknown = described.filter(
      row => !written.some(({ text }) => fits(row.text, text) || fits(text, row.text))
    )
    expect(unknown).toEqual([])
  })
})

it('at debug level each request is a line, without what the caller wrote', async () => {
  const service = startService()
  const answer = await service.post('/evm-chain?apikey=query-secret', request('nothing', []))
  await service.post('/path-secret', '{}')
  const lines = service.logLines.map(line => JSON.parse(line)).filter(({ msg }) => msg === 'request answered')
  expect(lines).toEqual([
    expect.objectContaining({
      requestId: answer.headers.get('x-request-id'),
      method: 'POST',
      status: 200,
      durationMs: expect.any(Number)
    }),
    expect.objectContaining({ status: 404 })
  ])
  expect(service.logLines.join('')).not.toMatch(/-secret/)
  await service.close()
})

describe('a server at debug level over nodes that tell their keys', () => {
  let node: HttpServer
  let folder: string
  afterEach(async () => {
    node.closeAllConnections()
    await new Promise(resolve => node.close(resolve))
    await rm(folder, { recursive: true, force: true })
  })

  it('writes no key of a URL, of a header or of a project into its log, health page or metrics', async () => {
    folder = await mkdtemp(join(tmpdir(), 'chain-data-logs-'))
    const secrets = {
      user: 'u5er-of-the-node',
      password: 'pa55word-of-the-node',
      path: 'k3y-in-the-path-0123456789',
      query: 'k3y-in-the-query-0123456789',
      project: 'k3y-of-the-project',
      wrong: 'k3y-that-is-wrong'
    }
    let asked = 0
    // As talkative as a node can be: it repeats all it was sent, in every way of failing.
    node = createHttpServer((incoming, response) => {
      const told = `${incoming.url} ${incoming.headers.authorization} ${Buffer.from(String(incoming.headers.authorization).slice(6), 'base64')}`
      let body = ''
      incoming.on('data', chunk => {
        body += chunk
      })
      incoming.on('end', () => {
        asked++
        const sent = JSON.parse(body || '[]') as NodeCall | NodeCall[]
        const refuse = ({ id, method, params }: NodeCall) => {
          // So much that it is taken for a node of the chain.
          if (method === 'eth_chainId') return { jsonrpc: '2.0', id, result: '0x1' }
          if (method === 'eth_getBlockByNumber' && params[0] === '0x0') {
            return { jsonrpc: '2.0', id, result: { number: '0x0', hash: `0x${'0a'.repeat(32)}` } }
          }
          return { jsonrpc: '2.0', id, error: { code: -32000, message: `bad key: ${told}`, data: told } }
        }
        const answers = [
          () => response.writeHead(401, { 'content-type': 'text/plain' }).end(told),
          () =>
            response
              .writeHead(302, {
                location: `http://elsewhere/${told.slice(0, 40)}`.replace(/[^\x20-\x7e]/g, '')
              })
              .end(),
          () => response.end(`<html>${told}</html>`),
          () => response.end(JSON.stringify(Array.isArray(sent) ? sent.map(refuse) : refuse(sent)))
        ]
        // The last way, an error in words, is the one that messages quote.
        const way = answers[body.includes('"eth_') ? 3 : asked % 4]
        way?.()
      })
    })
    await new Promise<void>(resolve => node.listen(0, '127.0.0.1', resolve))
    const { port } = node.address() as AddressInfo
    const url = `http://${secrets.user}:${secrets.password}@127.0.0.1:${port}/v2/${secrets.path}?apikey=${secrets.query}`
    const lines: string[] = []
    const server = await createServer(
      {
        store: `sqlite:${folder}`,
        projects: [{ projectId: 'demo', serverKey: secrets.project }],
        chains: {
          evm: [{ chainId: 1, rpcUrls: [url, url], wsUrls: [url.replace('http', 'ws')], pollIntervalMs: 50 }],
          solana: [{ chainId: 101, rpcUrls: [url], mplCore: true, dasUrl: url }]
        },
        metadata: { tokenLists: [`https://127.0.0.1:${port}/${secrets.path}?token=${secrets.query}`] },
        limits: { requestDeadlineMs: 3_000 }
      },
      { logger: createLogger({ level: 'debug', write: line => lines.push(line) }) }
    )
    const texts: string[] = []
    const call = async (path: string, method: string, params: unknown[], chainId: number, key: string) => {
      const headers = { authorization: `Basic ${btoa(`demo:${key}`)}`, 'content-type': 'application/json' }
      const body = request(method, params, { chainId })
      texts.push(
        await (
          await server.fetch(new Request(`http://s${path}?key=${key}`, { method: 'POST', headers, body }))
        ).text()
      )
    }
    try {
      const owner = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
      await eventually(
        'the indexer has failed',
        () => lines.some(line => line.includes('indexing is stalled')),
        20_000
      )
      for (let i = 0; i < 4; i++) {
        await call('/solana', 'enhancedGetTokensAndNFTs', [owner], 101, secrets.project)
        await call('/evm-chain', 'svc_getSyncStatus', [], 1, secrets.project)
        await call('/evm-chain', 'svc_getSyncStatus', [], 1, secrets.wrong)
      }
      for (const path of ['/health/ready', '/metrics', '/', '/status.json']) {
        texts.push(await (await server.fetch(new Request(`http://s${path}`))).text())
      }
    } finally {
      await server.close()
    }
    expect(asked).toBeGreaterThan(10)
    const everything = [...lines, ...texts].join('\n')
    const values = Object.entries(secrets).flatMap(([name, value]) => [
      [name, value],
      [`${name} in Base64`, Buffer.from(value).toString('base64').replace(/=+$/, '').slice(0, -2)]
    ])
    values.push(['header', btoa(`${secrets.user}:${secrets.password}`)])
    const leaks = values.flatMap(([name = '', value = '']) => {
      const at = everything.indexOf(value)
      return at < 0 ? [] : [`${name}: ${everything.slice(Math.max(0, at - 200), at + 60)}`]
    })
    expect(leaks).toEqual([])
  })
})
