import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { patient } from '../../../.config/patience.ts'
import { seedEvmWorld, startAnvil, startDevnet, surfpoolUnsupportedReason } from '../src/index.ts'

test.concurrent('both nodes come up seeded with a metadata server, and all of them are gone after stop', async () => {
  const devnet = await startDevnet({ seed: 5 })
  expect(devnet.evm?.world.blocks.length).toBeGreaterThan(36)
  if (surfpoolUnsupportedReason() === undefined) expect(devnet.solana?.world.owners.alice).toBeDefined()
  else expect(devnet.solanaUnavailable).toBe(surfpoolUnsupportedReason())
  await devnet.stop()
  await devnet.stop()
  for (const pid of [devnet.evm?.node.pid, devnet.solana?.node.pid]) {
    if (pid !== undefined) expect(() => process.kill(pid, 0)).toThrow()
  }
  await expect(fetch(devnet.metadata.url)).rejects.toThrow()
})

test.concurrent('the same seed and metadata origin give the same transactions, another seed gives others', async () => {
  const hashesOf = async (seed: number) => {
    const node = await startAnvil()
    try {
      const { world } = await seedEvmWorld(node.rpcUrl, { seed })
      return world.transactions.map(({ hash }) => hash)
    } finally {
      await node.stop()
    }
  }
  const [first, again, other] = await Promise.all([hashesOf(11), hashesOf(11), hashesOf(12)])
  expect(again).toEqual(first)
  expect(other).not.toEqual(first)
})

test.concurrent.each([
  ['just exits', 'process.exit(3)'],
  ['is killed', "process.kill(process.pid, 'SIGKILL')"]
])('nodes do not outlive a process that %s', async (_, ending) => {
  const script = `
    import { startAnvil, startSurfpool, surfpoolUnsupportedReason } from '@chain-data/devnet'
    import { writeSync } from 'node:fs'
    const nodes = [await startAnvil()]
    if (surfpoolUnsupportedReason() === undefined) nodes.push(await startSurfpool())
    writeSync(1, nodes.map(node => node.pid).join(' '))
    ${ending}`
  const child = spawn(
    process.execPath,
    ['--conditions=@chain-data/source', '--input-type=module', '--eval', script],
    { cwd: new URL('./', import.meta.url).pathname, stdio: ['ignore', 'pipe', 'inherit'] }
  )
  let output = ''
  child.stdout.on('data', chunk => {
    output += String(chunk)
  })
  await once(child, 'close')
  const pids = output.split(' ').map(Number)
  expect(pids.length).toBe(surfpoolUnsupportedReason() === undefined ? 2 : 1)
  expect(pids.every(pid => pid > 0)).toBe(true)
  const deadline = Date.now() + patient(5_000)
  const alive = () => pids.filter(pid => isAlive(pid))
  while (alive().length > 0 && Date.now() < deadline) await new Promise(resolve => setTimeout(resolve, 20))
  expect(alive()).toEqual([])
})

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
