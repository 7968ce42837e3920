import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text as textOf } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { ConfigError } from './errors.ts'
import { createLogger, type LogFields } from './logger.ts'
import { scrubText } from './scrubText.ts'

function logTo(lines: string[], level: 'debug' | 'info' = 'info') {
  return createLogger({ level, write: line => lines.push(line) })
}

describe('a log line', () => {
  it('is one JSON object with the message, the time and the allowed fields', () => {
    const lines: string[] = []
    logTo(lines).child({ component: 'indexer' }).info('listening', { url: 'http://127.0.0.1:80', chainId: 1 })
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatch(/^\{"level":30,"time":"[^"]+Z","component":"indexer",.*,"msg":"listening"\}\n$/)
    expect(JSON.parse(lines[0]!)).toMatchObject({
      msg: 'listening',
      component: 'indexer',
      url: 'http://127.0.0.1:80',
      chainId: 1,
      time: expect.stringMatching(/^\d{4}-/)
    })
  })

  it('leaves out whatever is not on the list', () => {
    const lines: string[] = []
    const sneaky = { chainId: 1, authorization: 'x', serverKey: 'y', headers: { a: 1 } } as LogFields
    logTo(lines).child(sneaky).warn('w', sneaky)
    expect(lines[0]).toContain('"chainId":1')
    expect(lines[0]).not.toMatch(/authorization|serverKey|headers/)
  })

  it('holds no credentials, in whatever field or message they come', () => {
    const lines: string[] = []
    const url = 'https://user:secret@node.example/secret?key=secret#secret'
    const error = new ConfigError(
      `failed at ${url}`,
      {},
      { cause: new Error(`Authorization: Basic c2VjcmV0OnNlY3JldA==`) }
    )
    logTo(lines).error(`oops ${url}`, { problem: `node ${url} gone`, error })
    expect(lines[0]).toContain('https://node.example')
    expect(lines[0]).not.toMatch(/secret|c2VjcmV0/)
    expect(JSON.parse(lines[0]!).error).toMatchObject({ name: 'ConfigError', cause: { name: 'Error' } })
  })

  it('is not written below the level', () => {
    const lines: string[] = []
    logTo(lines).debug('quiet')
    logTo(lines, 'debug').debug('loud')
    expect(lines.map(line => JSON.parse(line).msg)).toEqual(['loud'])
  })
})

describe('standard output', () => {
  const startLogging = () => {
    const program = fileURLToPath(new URL('../../test/support/logMuch.ts', import.meta.url))
    return spawn(process.execPath, [...process.execArgv, program], { stdio: ['ignore', 'pipe', 'pipe'] })
  }

  it('has every line of a process that exits at once, though its reader is slow', async () => {
    const logging = startLogging()
    const ended = once(logging, 'close')
    await once(logging.stderr, 'data')
    const text = await textOf(logging.stdout)
    expect(await ended).toEqual([0, null])
    const lines = text.trimEnd().split('\n')
    expect(lines.map(line => JSON.parse(line).count)).toEqual(Array.from({ length: 20_000 }, (_, n) => n))
  })

  it('may lose its reader without an end of the process', async () => {
    const logging = startLogging()
    const ended = once(logging, 'close')
    logging.stdout.destroy()
    expect(await textOf(logging.stderr)).toBe('begins\nends\n')
    expect(await ended).toEqual([0, null])
  })
})

describe('scrubText', () => {
  it.each([
    ['postgres://u:p@db:5432/x', 'postgres://db:5432'],
    ['postgres://u:p@w@db:5432/x', 'postgres://db:5432'],
    ['https://u:p#w@node/x', 'https://'],
    ['http://[::1]:80/KEY', 'http://[::1]:80'],
    ['wss://node/v2/KEY and http://a', 'wss://node and http://a'],
    ['at file:///srv/app.js:1:2', 'at file:///srv/app.js:1:2'],
    ['Bearer abc.def-ghi', 'Bearer [removed]'],
    ['no address here', 'no address here']
  ])('%s becomes %s', (text, expected) => {
    expect(scrubText(text, 100)).toBe(expected)
  })

  it('takes no longer for a text that is many words than for one that is none', () => {
    const timeOf = (text: string) => {
      const startedMs = performance.now()
      scrubText(text, 100)
      return performance.now() - startedMs
    }
    timeOf('warm up')
    // Quadratic time would be minutes.
    expect(timeOf('a.'.repeat(500_000))).toBeLessThan(5_000)
  })

  it('cuts long texts', () => {
    expect(scrubText('x'.repeat(101), 100)).toBe(`${'x'.repeat(100)}…`)
  })
})
