import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { testIdentity } from '@chain-data/index/contract'
import { eventually } from '@chain-data/index/test'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createLogger } from '../../platform/logger.ts'
import { createThreads, type ThreadEnd } from './createThreads.ts'
import { connectWriter } from './writerPort.ts'

let folder: string
let lines: Record<string, unknown>[]
const ends: ThreadEnd[] = []
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'chain-data-threads-'))
  lines = []
})
afterEach(async () => {
  for (const end of ends.splice(0)) {
    end.port.close()
    await end.release()
  }
  rmSync(folder, { recursive: true, force: true })
})

function createWriters(options: { readonly most?: number; readonly code?: string } = {}) {
  const { code, ...rest } = options
  const entry = join(folder, 'thread.mjs')
  if (code !== undefined)
    writeFileSync(entry, `import { parentPort, threadId } from 'node:worker_threads'\n${code}`)
  return createThreads('writer', {
    most: 8,
    logger: createLogger({ level: 'info', write: line => lines.push(JSON.parse(line)) }),
    ...(code === undefined ? {} : { entry: pathToFileURL(entry) }),
    ...rest
  })
}

const kept = (end: ThreadEnd): ThreadEnd => {
  ends.push(end)
  return end
}
const firstMessage = ({ port }: ThreadEnd) =>
  new Promise<unknown>((resolve, reject) => {
    port.once('message', resolve)
    port.once('close', () => reject(new Error('the port was closed')))
  })

/** A thread that tells each port its number. */
const tellsItself = `parentPort.on('message', ({ kind, port }) => {
  if (kind === 'serve') port.postMessage(threadId)
  else parentPort.close()
})`

it('gives each chain a thread of its own, and shares them evenly from a number on', async () => {
  const threads = createWriters({ most: 3, code: tellsItself })
  const ids: unknown[] = []
  for (let chain = 0; chain < 7; chain++) ids.push(await firstMessage(kept(threads.connect())))
  expect(new Set(ids.slice(0, 3)).size).toBe(3)
  const counts = [...new Set(ids)].map(id => ids.filter(each => each === id).length)
  expect(counts.toSorted()).toEqual([2, 2, 3])
})

it('ends a thread with its last chain, and starts another one for the next', async () => {
  const threads = createWriters({ most: 1, code: tellsItself })
  const [one, two] = [threads.connect(), threads.connect()]
  const first = await firstMessage(one)
  expect(await firstMessage(two)).toBe(first)
  one.port.close()
  await one.release()
  const third = kept(threads.connect())
  expect(await firstMessage(third)).toBe(first)
  two.port.close()
  await two.release()
  ends.pop()
  third.port.close()
  await third.release()
  expect(await firstMessage(kept(threads.connect()))).not.toBe(first)
  expect(lines).toEqual([])
})

it('ends a thread that does not end by itself', async () => {
  const threads = createWriters({
    code: `parentPort.on('message', ({ port }) => port?.postMessage(threadId))`
  })
  const end = threads.connect()
  await firstMessage(end)
  await end.release()
  expect(lines.map(({ msg }) => msg)).toEqual(['a thread that writes stores does not stop and is ended'])
})

it('tells every chain of a thread that crashed, also one that it never heard of, and starts another thread', async () => {
  const threads = createWriters({ most: 1, code: `throw new Error('out of order')` })
  const location = { kind: 'sqlite' as const, folder }
  const opened = [kept(threads.connect()), kept(threads.connect())].map(({ port }) =>
    connectWriter(port).open(location, testIdentity)
  )
  for (const each of await Promise.allSettled(opened)) {
    expect(each).toMatchObject({
      status: 'rejected',
      reason: {
        name: 'StoreError',
        message: 'the thread that writes the store has ended; expected it to run'
      }
    })
  }
  await eventually('the crash is told', () => lines.length > 0)
  expect(lines).toMatchObject([
    { msg: 'a thread that writes stores crashed', error: { message: 'out of order' } }
  ])
  writeFileSync(
    join(folder, 'thread.mjs'),
    `import ${JSON.stringify(new URL('./writerThread.ts', import.meta.url).href)}`
  )
  const connection = connectWriter(kept(threads.connect()).port)
  const writer = await connection.open(location, testIdentity)
  expect(await writer.state()).toMatchObject({ backfilled: false })
  await writer.close()
})

it('closes the stores of a chain whose other end is gone', async () => {
  const threads = createWriters({ most: 1 })
  const location = { kind: 'sqlite' as const, folder }
  const [one, two] = [kept(threads.connect()), kept(threads.connect())]
  await connectWriter(one.port).open(location, testIdentity)
  one.port.close()
  const writer = await connectWriter(two.port).open(location, testIdentity, { lockWaitMs: 10_000 })
  await writer.close()
})
