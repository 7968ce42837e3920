import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { eventually, openSqliteWriter, temporaryFolder } from '@chain-data/index/test'
import { afterEach, expect, it } from 'vitest'
import { startScriptedChain } from '../blocks/startScriptedChain.ts'

const script = fileURLToPath(new URL('outOfDescriptors.ts', import.meta.url))
const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

/** Runs the script with so many file descriptors; its lines as they come. */
function runWith(descriptors: number, args: readonly string[]) {
  const limited = `ulimit -n ${descriptors} && exec "$0" "$@"`
  const child: ChildProcess = spawn(
    'bash',
    ['-c', limited, process.execPath, '--conditions=@chain-data/source', script, ...args],
    { stdio: ['ignore', 'pipe', 'inherit'] }
  )
  cleanUps.push(() => child.kill())
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]()
  return async (): Promise<unknown> => JSON.parse((await lines.next()).value ?? 'null')
}

it('a lack of file descriptors is an overload with its cause, of store and node, and passes', async () => {
  const folder = await temporaryFolder()
  cleanUps.push(folder.remove)
  const chain = await startScriptedChain([])
  cleanUps.push(chain.close)
  const writer = await openSqliteWriter(folder.path, { chainId: 31337, genesisHash: `0x${'a'.repeat(64)}` })
  await writer.close()
  const next = runWith(120, ['hold', folder.path, chain.url])
  const overload = {
    reason: 'OVERLOADED',
    retryAfterMs: 1_000,
    extraMessage: expect.stringMatching(/^The server is out of file descriptors\./)
  }
  expect(await next()).toEqual({ store: overload, node: expect.objectContaining(overload) })
  expect(await next()).toEqual({ store: 'answered', node: 'answered' })
})

it('connections leave file descriptors for the rest: further calls are refused as an overload, and health pages are not', async () => {
  const url = new URL(String(await runWith(100, ['listen'])()))
  const dial = async () => {
    const socket = connect(Number(url.port), url.hostname).on('error', () => {})
    cleanUps.push(() => socket.destroy())
    await once(socket, 'connect')
    return socket
  }
  const ask = async (socket: Socket, method: string) => {
    socket.write(`${method} / HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\n\r\n`)
    const [data] = await Promise.race([once(socket, 'data'), once(socket, 'close')])
    return Buffer.isBuffer(data) ? data.toString() : 'closed'
  }
  const sockets: Socket[] = []
  for (let i = 0; i < 70; i++) sockets.push(await dial())
  for (const socket of sockets) expect(await ask(socket, 'POST')).toMatch(/^HTTP\/1\.1 200/)
  expect(await ask(await dial(), 'GET')).toMatch(/^HTTP\/1\.1 200/)
  const refused = await ask(await dial(), 'POST')
  expect(refused).toMatch(/^HTTP\/1\.1 503/)
  expect(refused).toContain('"reason":"OVERLOADED"')
  expect(refused).toContain('open files (ulimit -n)')
  for (const socket of sockets) socket.destroy()
  await eventually('calls are served again', async () =>
    (await ask(await dial(), 'POST')).startsWith('HTTP/1.1 200')
  )
})
