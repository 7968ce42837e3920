import { parseArgs } from 'node:util'
import { holdPort } from './stack/holdPort.ts'
import type { Stack } from './stack/startStack.ts'

const help = `Starts a devnet, the chain-data service over it, and this page.

  npm run dev -w examples/portfolio [-- options]

  --port <port>   of the page (default: 5173, or a free one while that is taken)
  --no-traffic    nothing happens on the devnet while you look on
  --help          show this
`

const say = (line: string) => process.stdout.write(`${line}\n`)

/** @returns The exit code. */
async function main(): Promise<number> {
  const options = readOptions()
  if (typeof options === 'number') return options

  const interrupted = new Promise<void>(resolve => {
    // npm hands a Ctrl-C on that the terminal has sent already: the second one must not cut the ending short.
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => resolve())
  })
  const ends: (() => Promise<unknown>)[] = []
  let exitCode = 0
  const work = start(options, ends)
  try {
    const first = await Promise.race([work, interrupted.then(() => 'interrupted' as const)])
    // What is still starting has to be there before it can be ended.
    if (first === 'interrupted') say('\nStopping, as soon as everything has started.')
    await work
    await interrupted
    say('\nStopping.')
  } catch (error) {
    process.stderr.write(`\nFailed: ${error instanceof Error ? error.message : String(error)}\n`)
    exitCode = 1
  }
  for (let end = ends.pop(); end !== undefined; end = ends.pop()) await end()
  return exitCode
}

async function start({ port, traffic }: Options, ends: (() => Promise<unknown>)[]): Promise<void> {
  const began = performance.now()
  // Held until the page listens: the service has to know it, and others look for free ports too.
  const held = await holdPort(port)
  const pagePort = held.port
  if (port !== 0 && pagePort !== port) say(`Port ${port} is taken: the page gets ${pagePort}.`)
  // Loaded now, so that help and complaints come at once.
  const [{ startStack }, { startTraffic }, { createServer }] = await Promise.all([
    import('./stack/startStack.ts'),
    import('./stack/startTraffic.ts'),
    import('vite')
  ])
  const stack = await startStack({
    port: 8080,
    // Whoever writes localhost comes from another origin.
    pageOrigins: [`http://127.0.0.1:${pagePort}`, `http://localhost:${pagePort}`],
    tell: say
  })
  ends.push(() => stack.stop())
  const { evm } = stack.devnet
  if (traffic && evm !== undefined) {
    const running = startTraffic(evm.driver, error => say(`The traffic has ended: ${String(error)}`))
    ends.push(() => running.stop())
  }
  // As if they stood in a file .env: Vite builds them into the page.
  Object.assign(process.env, stack.environment)
  const page = await createServer({
    root: import.meta.dirname,
    configFile: `${import.meta.dirname}/vite.config.ts`,
    server: { host: '127.0.0.1', port: pagePort, strictPort: true },
    clearScreen: false,
    logLevel: 'warn'
  })
  ends.push(() => page.close())
  await held.release()
  await page.listen()
  const seconds = ((performance.now() - began) / 1000).toFixed(1)
  say(`\nThe page     http://127.0.0.1:${pagePort}/   (ready after ${seconds} s)\n`)
  showSamples(stack, `http://127.0.0.1:${pagePort}/`)
  say(
    `\n${traffic ? 'A transaction comes every few seconds and is mined a moment later. ' : ''}Ctrl-C stops everything.`
  )
}

function showSamples({ environment }: Stack, pageUrl: string): void {
  const samples = JSON.parse(environment.VITE_CHAIN_DATA_SAMPLES ?? '[]') as {
    chainId: number
    address: string
    name: string
  }[]
  say('Accounts to try:')
  for (const { chainId, address, name } of samples) say(`  ${pageUrl}#/${chainId}/${address}   ${name}`)
}

interface Options {
  port: number
  traffic: boolean
}

/** @returns Options, or the code to end with. */
function readOptions(): Options | number {
  try {
    const { values } = parseArgs({
      allowNegative: true,
      options: {
        port: { type: 'string', default: '5173' },
        traffic: { type: 'boolean', default: true },
        help: { type: 'boolean', default: false }
      }
    })
    if (values.help) {
      process.stdout.write(help)
      return 0
    }
    const port = Number(values.port)
    if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new Error(`no port: ${values.port}`)
    return { port, traffic: values.traffic }
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${help}`)
    return 2
  }
}

process.exitCode = await main()
