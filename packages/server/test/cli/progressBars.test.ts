import { spawn, spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { startAnvil } from '@chain-data/devnet'
import { eventually } from '@chain-data/index/test'
import { expect, it, type TestContext } from 'vitest'
import { createRate } from '../../src/server/cli/rate.ts'
import { startFaultProxy } from '../support/startFaultProxy.ts'
import { runCommand } from './runCommand.ts'

const [brokenBlock, lastBlock] = [300, 400]
/** Blocks below this are far from those that an index begins with. */
const oldBlocks = 50
/** So long takes each newer block: the bar has to be watched. */
const blockMs = 150

/**
 * A configuration over a node that cannot give one of its blocks, until it is let.
 * @param wait - before a block is answered.
 */
async function prepare(
  { onTestFinished }: TestContext,
  wait: (blockNumber: number) => Promise<unknown> | undefined = () => undefined
) {
  const anvil = await startAnvil()
  onTestFinished(() => anvil.stop())
  const proxy = await startFaultProxy(anvil.rpcUrl)
  onTestFinished(() => proxy.close())
  const mined = await fetch(anvil.rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'anvil_mine',
      params: [`0x${lastBlock.toString(16)}`]
    })
  })
  await mined.text()
  let isMended = false
  proxy.setFault(async ({ params: [number, isWhole] }, result) => {
    if (isWhole !== true) return result
    await wait(Number(number))
    return isMended || Number(number) !== brokenBlock ? result : null
  })
  const folder = await mkdtemp(join(tmpdir(), 'chain-data-bars-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = join(folder, 'config.json')
  await writeFile(
    file,
    JSON.stringify({
      listen: { port: 0 },
      store: `sqlite:${join(folder, 'store')}`,
      projects: [{ projectId: 'demo', serverKey: 'demo-server-key' }],
      chains: { evm: [{ chainId: 31337, rpcUrls: [proxy.url] }] },
      log: { level: 'debug' }
    })
  )
  return {
    file,
    mend() {
      isMended = true
    }
  }
}

const main = fileURLToPath(new URL('../../src/server/cli/main.ts', import.meta.url))
const onTerminal = { concurrent: true, skip: spawnSync('script', ['--version']).status !== 0 }
// biome-ignore lint/suspicious/noControlCharactersInRegex: that is what a terminal's commands begin with; these two clear a line.
const cleared = /\u001b\[2K|\u001b\[0J|[\r\n]+/
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above.
const commands = /\u001b\[[0-9;?]*[A-Za-z]/g

/** Runs `serve` on a terminal of 400 columns. @param environment - variables of the shell before the command. */
function serveOnTerminal({ onTestFinished }: TestContext, file: string, environment = '') {
  const command = `stty cols 400; ${environment} exec '${process.execPath}' --conditions=@chain-data/source '${main}' serve --config '${file}'`
  const child = spawn('script', ['-qec', command, '/dev/null'], { stdio: ['pipe', 'pipe', 'inherit'] })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', text => {
    output += text
  })
  const ended = new Promise(resolve => child.once('close', resolve))
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return {
    /** Returns all that the terminal was sent. */
    shown: () => output,
    /** Presses Ctrl+C, and waits for the end. */
    async interrupt() {
      child.stdin.write('\u0003')
      await ended
    }
  }
}

it(
  'on a terminal a bar shows rate and time left, then why it stalls, goes at the head, and tears no log line',
  onTerminal,
  async atEnd => {
    let sendOldBlocks = () => {}
    const isSeen = new Promise<void>(resolve => {
      sendOldBlocks = resolve
    })
    // The oldest blocks come one by one, so that there is a rate to show, until the bar was seen.
    const { file, mend } = await prepare(atEnd, number =>
      number < oldBlocks ? Promise.race([isSeen, sleep((oldBlocks - number) * 2 * blockMs)]) : sleep(blockMs)
    )
    const { shown, interrupt } = serveOnTerminal(atEnd, file)
    await eventually(
      'it stalls',
      () => /chain 31337 \[#+\.+\] 6\d% stalled: block 300: /.test(shown()),
      20_000
    )
    mend()
    const backwards = /chain 31337 \[[#.]+\] \d+% \d+ back to 0 \d+\.\d blocks\/s ETA \d+s/
    await eventually('the bar says how far back the index goes', () => backwards.test(shown()), 20_000)
    sendOldBlocks()
    await eventually('it goes on', () => shown().includes('the backfill is complete'), 20_000)
    await interrupt()
    const output = shown()
    expect(output).toMatch(/chain 31337 \[[#.]+\] \d+% \d+ of 400 \d+\.\d blocks\/s ETA \d+s/)
    expect(output).toMatch(/connecting to 127\.0\.0\.1:\d+/)
    const lines = output.split(cleared).map(line => line.replace(commands, '').replace('^C', ''))
    const logged = lines.filter(line => /\d\d:\d\d:\d\d /.test(line))
    expect(logged.length).toBeGreaterThan(5)
    for (const line of logged) expect(line).toMatch(/^\d\d:\d\d:\d\d [a-z][^[]*(\[0m|$)/i)
    expect(logged.at(-1)).toMatch(/ closed$/)
    expect(output).not.toContain('"level"')
    expect(output).toMatch(/ listening on http:\/\/127\.0\.0\.1:\d+\s/)
    expect(output).toMatch(/ status page (http:\/\/127\.0\.0\.1:\d+)\/, metrics \1\/metrics/)
    expect(output).toContain('its calls are answered once its newest blocks are indexed')
    // The cursor is there again.
    expect(output.lastIndexOf('\u001b[?25h')).toBeGreaterThan(output.lastIndexOf('\u001b[?25l'))
  }
)

it(
  'on a terminal a node that does not answer is named at once, by its host alone',
  onTerminal,
  async atEnd => {
    const folder = await mkdtemp(join(tmpdir(), 'chain-data-bars-'))
    atEnd.onTestFinished(() => rm(folder, { recursive: true }))
    const file = join(folder, 'config.json')
    const config = {
      listen: { port: 0 },
      store: 'sqlite::memory:',
      projects: [{ projectId: 'demo', serverKey: 'demo-server-key' }],
      chains: { evm: [{ chainId: 137, rpcUrls: ['http://user:pa55word@127.0.0.1:1/k3y-in-the-path'] }] }
    }
    await writeFile(file, JSON.stringify(config))
    const { shown, interrupt } = serveOnTerminal(atEnd, file, 'TERM=xterm NO_COLOR=1')
    const advice = `127.0.0.1:1, node of Polygon (137): it cannot be reached (ECONNREFUSED). Next: check that it runs`
    await eventually('it says so', () => shown().includes(advice), 20_000)
    await eventually(
      'it points to check',
      () => shown().includes(`More: chain-data check --config ${file}`),
      5_000
    )
    await eventually('it warns', () => shown().includes('warning: Polygon: '), 20_000)
    await eventually('it listens all the same', () => shown().includes('listening on'), 20_000)
    await interrupt()
    const output = shown()
    expect(output).not.toMatch(/pa55word|k3y/)
    // No colour was asked for; the commands of the bars have another form.
    expect(output).not.toContain('\u001b[33m')
  }
)

it.concurrent('without a terminal there is no bar, and standard error stays empty', async atEnd => {
  const { file } = await prepare(atEnd)
  const command = runCommand(['serve', '--config', file])
  atEnd.onTestFinished(async () => {
    command.child.kill('SIGKILL')
    await command.ended
  })
  await eventually(
    'it stalls',
    () => command.logLines().some(({ msg }) => msg === 'indexing is stalled'),
    20_000
  )
  expect(command.stderr()).toBe('')
  expect(
    command
      .stdout()
      .split('\n')
      .filter(Boolean)
      .every(line => line.startsWith('{'))
  ).toBe(true)
})

it('a rate is that of the last seconds, and begins anew after a step back', () => {
  const rate = createRate()
  rate.note(0, 0)
  expect(rate.perSecond()).toBeUndefined()
  for (let second = 1; second <= 10; second++) rate.note(second * 1_000, second * second)
  expect(rate.perSecond()).toBe((100 - 25) / 5)
  rate.note(11_000, 7)
  expect(rate.perSecond()).toBeUndefined()
})
