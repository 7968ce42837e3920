import { mkdir, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createLogger, silentLogger } from '../../platform/logger.ts'
import { metadataFailure } from './metadataFailure.ts'
import { createTokenLists, type TokenLists } from './tokenLists.ts'

const gateways = { ipfs: ['https://one.gateway.art'], arweave: [] }
const address = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'
const token = {
  chainId: 1,
  address,
  name: 'USD Coin',
  symbol: 'USDC',
  decimals: 6,
  logoURI: 'https://a.names.art/u.png'
}
const remote = 'https://lists.names.art/b.json'
const list = (...tokens: unknown[]) => ({ name: 'A', tokens })

let folder: string
let lists: TokenLists | undefined
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'token-lists-'))
})
afterEach(async () => {
  lists?.close()
  vi.useRealTimers()
  await rm(folder, { recursive: true })
})

async function file(name: string, content: unknown): Promise<string> {
  const path = join(folder, name)
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

/** `answer` stands for the network: a list, or what it throws. */
async function start(
  sources: readonly string[],
  answer: (url: string) => unknown = () => {
    throw metadataFailure('STATUS', 'HTTP status 404')
  },
  options: { readonly refreshMs?: number; readonly allowHosts?: readonly string[] } = {}
) {
  const log: { msg: string; problem?: string; count?: number }[] = []
  const fetched: string[] = []
  lists = createTokenLists({
    sources,
    chainIds: [1, 10],
    gateways,
    guardedFetch: async url => {
      fetched.push(url)
      return { url, contentType: '', body: Buffer.from(JSON.stringify(answer(url))) }
    },
    refreshMs: 3_600_000,
    logger: createLogger({ level: 'info', write: line => log.push(JSON.parse(line)) }),
    ...options
  })
  expect(lists.find(1, address)).toBeUndefined()
  await lists.start()
  const warnings = () => log.filter(({ msg }) => msg !== 'Token list read').map(({ msg, problem }) => `${msg}: ${problem}`)
  return { lists, log, warnings, fetched }
} // biome-ignore format: one line

test('gives name, symbol and logo by chain and address, in any case', async () => {
  const { lists, log } = await start([await file('a.json', list(token))])
  const expected = {
    address: address.toLowerCase(),
    name: 'USD Coin',
    symbol: 'USDC',
    image: 'https://a.names.art/u.png'
  }
  expect(lists.find(1, address)).toEqual(expected)
  expect(lists.find(1, address.toLowerCase())).toEqual(expected)
  expect(lists.find(10, address)).toBeUndefined()
  expect(lists.find(1, `0x${'00'.repeat(20)}`)).toBeUndefined()
  expect(lists.tokensOf(1)).toEqual([expected])
  expect(lists.tokensOf(10)).toEqual([])
  expect(log).toMatchObject([{ msg: 'Token list read', count: 1 }])
})

test('an earlier list wins, a later one fills the gaps, field by field', async () => {
  const other = { ...token, chainId: 10, logoURI: 'ipfs://QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKPbdG' }
  const first = await file('a.json', list(token, { ...other, name: '', logoURI: undefined }))
  const { lists } = await start([first, remote], () =>
    list({ ...token, name: 'Not this', logoURI: 'https://b.names.art/u.png' }, { ...other, symbol: 'NOT' })
  )
  expect(lists.find(1, address)).toMatchObject({ name: 'USD Coin', image: 'https://a.names.art/u.png' })
  expect(lists.find(10, address)).toMatchObject({
    name: 'USD Coin',
    symbol: 'USDC',
    image: 'https://one.gateway.art/ipfs/QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKPbdG'
  })
})

test('a missing or broken list is a warning, and the others still count', async () => {
  await mkdir(join(folder, 'folder.json'))
  const huge = await file('huge.json', '')
  await truncate(huge, 16 * 1024 * 1024 + 1)
  const { lists, warnings } = await start([
    join(folder, 'missing.json'),
    await file('broken.json', '{'),
    join(folder, 'folder.json'),
    huge,
    remote,
    await file('good.json', list(token))
  ])
  expect(warnings().sort()).toEqual(
    [
      'Token list not used: ENOENT',
      'Token list not used: Not JSON: "{"',
      'Token list not used: Token list is no regular file',
      'Token list not used: Token list of 16777217 bytes: expected at most 16 MiB',
      'Token list not used: HTTP status 404'
    ].sort()
  )
  expect(lists.find(1, address)).toBeDefined()
})

test('bad entries are left out and counted in one warning; a logo of no use is no logo', async () => {
  const insecure = { ...token, chainId: 10, logoURI: 'http://a.names.art/insecure.png' }
  const { lists, log } = await start([
    await file('a.json', list(null, { ...token, address: '0x1' }, insecure, token))
  ])
  expect(log).toMatchObject([
    { msg: 'Token list read', count: 2 },
    { msg: 'Entries of a token list left out', count: 2 }
  ])
  expect(lists.find(10, address)).toMatchObject({ name: 'USD Coin', image: '' })
})

test('a list over http is not even asked for, unless its host is allowed', async () => {
  const plain = 'http://10.0.0.5:8080/list.json'
  const refused = await start([plain], () => list(token))
  expect(refused.fetched).toEqual([])
  expect(refused.warnings()).toEqual(['Token list not used: Address is not public: "10.0.0.5"'])
  const insecure = await start(['http://lists.names.art/a.json'], () => list(token))
  expect(insecure.warnings()).toEqual([
    'Token list not used: Token list over http: expected https, or its host in allowHosts'
  ])
  const allowed = await start([plain], () => list(token), { allowHosts: ['10.0.0.5:8080'] })
  expect(allowed.fetched).toEqual([plain])
  expect(allowed.lists.find(1, address)).toBeDefined()
})

describe('as time goes by', () => {
  const hour = 3_600_000

  function useFakeTimers(): void {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  }

  test('a list is read again; tokens that left it are gone', async () => {
    useFakeTimers()
    let name = 'USD Coin'
    const { lists, fetched, log } = await start([remote], () => list({ ...token, name }))
    const before = lists.tokensOf(1)
    await vi.advanceTimersByTimeAsync(hour - 1)
    expect(fetched).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(1)
    expect(fetched).toHaveLength(2)
    // The same bytes change nothing and are not told.
    expect(lists.tokensOf(1)).toBe(before)
    expect(log).toHaveLength(1)
    name = 'USDC'
    await vi.advanceTimersByTimeAsync(hour)
    expect(lists.find(1, address)).toMatchObject({ name: 'USDC' })
  })

  test('a list that fails keeps its last good entries and is tried again, ever more rarely', async () => {
    useFakeTimers()
    let answer: unknown = list(token)
    const { lists, fetched, warnings } = await start([remote], () => {
      if (answer === undefined) throw metadataFailure('STATUS', 'HTTP status 500')
      return answer
    })
    answer = undefined
    const minutes = async (count: number) => {
      await vi.advanceTimersByTimeAsync(count * 60_000)
      return fetched.length
    }
    expect(await minutes(60)).toBe(2)
    expect(await minutes(1)).toBe(3)
    expect([await minutes(1), await minutes(1)]).toEqual([3, 4])
    expect([await minutes(3), await minutes(1)]).toEqual([4, 5])
    expect(lists.find(1, address)).toBeDefined()
    expect(warnings()).toEqual(Array(3).fill('Token list not refreshed: HTTP status 500'))
    // Never more rarely than a good one.
    await minutes(8 + 16 + 32)
    const before = fetched.length
    expect(await minutes(60)).toBe(before + 1)
    answer = list({ ...token, name: 'Back' })
    await minutes(60)
    expect(lists.find(1, address)).toMatchObject({ name: 'Back' })
  })

  test('a broken list in the place of a good one changes nothing', async () => {
    useFakeTimers()
    let answer: unknown = list(token)
    const { lists, warnings } = await start([remote], () => answer)
    answer = { name: 'A', tokens: 'none' }
    await vi.advanceTimersByTimeAsync(hour)
    expect(lists.find(1, address)).toBeDefined()
    expect(warnings()).toHaveLength(1)
  })

  test('nothing goes on after closing', async () => {
    useFakeTimers()
    const { lists, fetched } = await start([remote, `${remote}?2`], url => {
      if (url === remote) return list(token)
      throw metadataFailure('STATUS', 'HTTP status 500')
    })
    expect(vi.getTimerCount()).toBe(2)
    lists.close()
    expect(vi.getTimerCount()).toBe(0)
    await vi.advanceTimersByTimeAsync(10 * hour)
    expect(fetched).toHaveLength(2)
  })

  test('a list that is being read while it closes is cut off, and not tried again', async () => {
    useFakeTimers()
    const warned: unknown[] = []
    let cutOff: AbortSignal | undefined
    const closing = createTokenLists({
      sources: [remote],
      chainIds: [1],
      gateways,
      refreshMs: hour,
      logger: { ...silentLogger, warn: message => warned.push(message) },
      guardedFetch: (_url, options) =>
        new Promise((_resolve, reject) => {
          cutOff = options?.signal
          cutOff?.addEventListener('abort', () => reject(metadataFailure('ABORTED', 'Given up')))
        })
    })
    const started = closing.start()
    await vi.advanceTimersByTimeAsync(0)
    closing.close()
    await started
    expect(cutOff?.aborted).toBe(true)
    expect(vi.getTimerCount()).toBe(0)
    expect(warned).toEqual([])
  })
})
