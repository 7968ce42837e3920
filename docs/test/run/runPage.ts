import dns from 'node:dns'
import { registerHooks } from 'node:module'
import { isIP, Server } from 'node:net'
import { pathToFileURL } from 'node:url'
import { inspect } from 'node:util'
import { type Addresses, withAddresses } from '../withAddresses.ts'

/** A module of a page to be run. */
export interface Task {
  /** Where it would be as a file. */
  readonly path: string
  readonly source: string
  readonly addresses: Addresses
}

/** What came of it. */
export interface Outcome {
  readonly output: string
  readonly error?: string
}

const givenFolder = new URL('../given', import.meta.url).href
const sources = new Map<string, Task>()
let addresses: Addresses | undefined

// The modules of a page are no files, and neither they nor what is given know where the service really listens.
registerHooks({
  resolve: (specifier, context, next) =>
    sources.has(specifier)
      ? { url: specifier, format: 'module-typescript', shortCircuit: true }
      : next(specifier, context),
  load(url, context, next) {
    const task = sources.get(url)
    if (task !== undefined) {
      const source = withAddresses(task.source, task.addresses)
      return { format: 'module-typescript', source, shortCircuit: true }
    }
    const loaded = next(url, context)
    if (!url.startsWith(givenFolder) || addresses === undefined) return loaded
    return { ...loaded, source: withAddresses(String(loaded.source), addresses) }
  }
})

// Whatever port a page names may be taken here.
const listen = Server.prototype.listen as (this: Server, ...args: unknown[]) => Server
Server.prototype.listen = function (this: Server, first: unknown, ...rest: unknown[]) {
  const isPort = typeof first === 'number' || (typeof first === 'string' && /^\d+$/.test(first))
  const isOptions = typeof first === 'object' && first !== null && 'port' in first
  return listen.call(this, isPort ? 0 : isOptions ? { ...first, port: 0 } : first, ...rest)
}

// A test asks nobody outside this machine, whatever hosts a page names.
const lookUp = dns.lookup as (...args: unknown[]) => void
const lookUpHere = (host: string, ...rest: unknown[]) => {
  if (host === 'localhost' || isIP(host) !== 0) return lookUp(host, ...rest)
  const callback = rest.at(-1) as (error: Error) => void
  callback(new Error(`blocks that are run ask no other hosts, such as ${host}`))
}
dns.lookup = lookUpHere as typeof dns.lookup

// A client key is for pages: its requests come from one.
const { fetch } = globalThis
const clientAuthorization = `Basic ${btoa('demo:demo-client-key')}`
globalThis.fetch = (input, init) => {
  const request = new Request(input, init)
  if (request.headers.get('Authorization') === clientAuthorization) {
    request.headers.set('Origin', 'http://localhost:5173')
  }
  return fetch(request)
}

let output = ''
const capture = (chunk: unknown) => {
  output += String(chunk)
  return true
}
process.stdout.write = capture
process.stderr.write = capture

let late: unknown
process.on('uncaughtException', error => {
  late ??= error
})

process.on('message', async (task: Task) => {
  output = ''
  const url = pathToFileURL(task.path).href
  sources.set(url, task)
  addresses = task.addresses
  const error: unknown = await import(url).then(
    // What was thrown and not waited for is told a turn later.
    () => new Promise(done => setImmediate(() => done(late))),
    (thrown: unknown) => thrown ?? new Error('it threw nothing')
  )
  late = undefined
  process.send!({ output, ...(error === undefined ? {} : { error: inspect(error) }) } satisfies Outcome)
})
// The process that asks has all it wants. What is still open is broken off.
process.on('disconnect', () => process.exit())
