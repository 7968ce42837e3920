import { createEmptyWorld, createEvmDriver, type EvmDriver, evmAccount, startAnvil } from '@chain-data/devnet'
import { eventually } from '@chain-data/index/test'
import type { ConfigInput } from '../../src/server/config/config.ts'
import { createServer, type Server } from '../../src/server/start/createServer.ts'
import { readHistory, type Service } from './askService.ts'

/** A service over a chain of its own, to be watched. */
export interface LiveService extends Service {
  readonly server: Server
  readonly driver: EvmDriver
  /** By the name of the account. */
  addressOf(name: string): string
  close(): Promise<void>
}

export const credentials = { projectId: 'demo', serverKey: 'demo-server-key' }
export const authorization = `Basic ${btoa(`${credentials.projectId}:${credentials.serverKey}`)}`
const chainId = 31337

/** Starts both in this process; the chain is empty and indexed when this resolves. */
export async function startLiveService(settings: Partial<ConfigInput> = {}): Promise<LiveService> {
  const anvil = await startAnvil()
  const driver = createEvmDriver(anvil.rpcUrl, await createEmptyWorld(anvil.rpcUrl))
  const server = await createServer({
    listen: { port: 0 },
    store: 'sqlite::memory:',
    projects: [credentials],
    chains: { evm: [{ chainId, rpcUrls: [anvil.rpcUrl], pollIntervalMs: 50 }] },
    ...{ rateLimit: false, overload: false },
    log: { level: 'error' },
    ...settings
  })
  const url = await server.listen()
  await eventually('the chain is indexed', async () => (await fetch(`${url}/health/ready`)).status === 200)
  return {
    ...{ url, chainId, headers: { authorization }, server, driver },
    addressOf: name => evmAccount(driver.world, name).address,
    async close() {
      await server.close()
      await anvil.stop()
    }
  }
}

/**
 * One transaction's life, between two accounts: in the pool, replaced by a second one, in a block, in another one after a reorg,
 * gone with the next; then a third one. Each state is waited for, so that a service tells of all of them.
 */
export async function liveALife(
  service: Omit<LiveService, 'server' | 'close'>,
  from: string,
  to: string
): Promise<void> {
  const { driver } = service
  const gwei = 10n ** 9n
  const shows = (state: string) =>
    eventually(`the history shows ${state}`, async () => {
      const { records } = await readHistory(service, service.addressOf(from))
      return (
        records.map(({ hash, status, blockNumber }) => `${hash} ${status} ${blockNumber}`).join() === state
      )
    })
  const receiver = service.addressOf(to)
  const first = await driver.send({
    label: 'first',
    from,
    to: receiver,
    valueWei: 1n,
    maxFeePerGasWei: 5n * gwei
  })
  await shows(`${first.hash} 1 undefined`)
  const price = { maxFeePerGasWei: 20n * gwei, maxPriorityFeePerGasWei: 2n * gwei }
  const second = await driver.send({
    label: 'second',
    from,
    to: receiver,
    valueWei: 2n,
    nonce: first.nonce,
    ...price
  })
  await shows(`${second.hash} 1 undefined`)
  await driver.mine({ blocks: 2 })
  await shows(`${second.hash} 3 1`)
  await driver.reorg(2, { keep: [{ transaction: second, block: 1 }] })
  await shows(`${second.hash} 3 2`)
  await driver.reorg(1)
  await shows('')
  const third = await driver.send({ label: 'third', from, to: receiver, valueWei: 3n })
  await driver.mine()
  await shows(`${third.hash} 3 3`)
}
