import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { type AnvilNode, startAnvil } from '@chain-data/devnet'
import { eventually, temporaryFolder } from '@chain-data/index/test'
import { expect, it, type TestContext } from 'vitest'
import { type Call, expectRight } from './expectRight.ts'
import { type DevNode, startDevNode, useDevNode } from './startDevNode.ts'

const devnetMain = fileURLToPath(new URL('../../../devnet/src/cli/main.ts', import.meta.url))

/** Runs the command of `npm start` in a folder of its own, until everything is up. */
async function npmStart(
  { onTestFinished }: TestContext,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {}
) {
  const folder = await temporaryFolder()
  onTestFinished(folder.remove)
  const child = spawn(
    process.execPath,
    ['--conditions=@chain-data/source', devnetMain, '--port', '0', ...args],
    { cwd: folder.path, env: { ...process.env, ...env, CHAIN_DATA_PROJECT: 'demo:demo-server-key' } }
  )
  const ended = once(child, 'close')
  onTestFinished(async () => {
    child.kill('SIGINT')
    await ended
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', text => {
      output += text
    })
  }
  await eventually('everything is up', () => output.includes('Everything is up'), 60_000).catch(error => {
    throw new Error(`${error}: ${output.slice(-2_000)}`)
  })
  const [, baseUrl = ''] = /^Service +(\S+)/m.exec(output) ?? []
  const authorization = `Basic ${Buffer.from('demo:demo-server-key').toString('base64')}`
  const call: Call = async (method, ...params) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, chainId: 31337, method, params })
    const headers = { 'content-type': 'application/json', authorization }
    const response = await fetch(`${baseUrl}/evm-chain`, { method: 'POST', headers, body })
    const { result, error } = (await response.json()) as Record<string, unknown>
    return result ?? error
  }
  return { pid: child.pid, call }
}

/** Takes the node through everything that may happen to it. */
async function expectFollowed(node: DevNode, call: Call): Promise<void> {
  await node.deployToken('First')
  await node.live(2)
  await expectRight('at the start', node, call)
  const snapshot = await node.rpc('evm_snapshot')
  await node.live(2)
  await expectRight('after the snapshot', node, call)
  await node.rpc('evm_revert', snapshot)
  await expectRight('reverted', node, call)
  await node.rpc('anvil_rollback', 1)
  await expectRight('rolled back', node, call)
  for (const otherGenesis of [false, true]) {
    await node.restart({ otherGenesis })
    await node.deployToken(otherGenesis ? 'Third' : 'Second')
    await node.live(1)
    await expectRight(`restarted, with another genesis block: ${otherGenesis}`, node, call)
  }
}

// Beside each other: they mostly wait for polls.
it.concurrent("npm start over a developer's own node follows it wherever it goes", async context => {
  const node = await startDevNode('anvil')
  context.onTestFinished(() => node.stop())
  // An account of that chain is shown at the start.
  await node.deployToken('Before')
  await node.restart()
  await node.deployToken('Again')
  const { call } = await npmStart(context, [], { CHAIN_DATA_EVM_31337: node.rpcUrl })
  await expectFollowed(node, call)
})

it('npm start follows the node that it has started itself, also when that is replaced by another on its port', {
  concurrent: true,
  skip: process.platform !== 'linux'
}, async context => {
  const port = await freePort()
  const { pid, call } = await npmStart(context, ['--evm-port', String(port)])
  let anvil: AnvilNode | undefined
  const stop = async () => {
    if (anvil !== undefined) return anvil.stop()
    const child = anvilOf(pid)
    process.kill(child, 'SIGKILL')
    await eventually('the node is gone', () => !readdirSync('/proc').includes(String(child)))
  }
  const node = await useDevNode(`http://127.0.0.1:${port}`, {
    chainId: 31337,
    stop,
    async restart({ otherGenesis } = { otherGenesis: false }) {
      await stop()
      anvil = await startAnvil({ port, ...(otherGenesis && { genesisTimestampSeconds: 1_700_000_001 }) })
      context.onTestFinished(anvil.stop)
    }
  })
  await expectFollowed(node, call)
})

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const address = probe.address()
  await new Promise(resolve => probe.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

/** Finds the anvil that a process has started. */
function anvilOf(parent: number | undefined): number {
  const found = readdirSync('/proc').find(entry => {
    try {
      const isChild =
        readFileSync(`/proc/${entry}/stat`, 'utf8').split(') ')[1]?.split(' ')[1] === String(parent)
      return isChild && readFileSync(`/proc/${entry}/cmdline`, 'utf8').split('\0')[0]?.endsWith('anvil')
    } catch {
      return false
    }
  })
  expect(found, 'npm start runs anvil').toBeDefined()
  return Number(found)
}
