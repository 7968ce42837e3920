import { setTimeout as wait } from 'node:timers/promises'
import { createEvmCalls, type EvmDriver, evmAccount, evmContract } from '@chain-data/devnet'

/** Transactions that come and are mined while somebody looks on. */
export interface Traffic {
  /** Waits for what is being sent. */
  stop(): Promise<void>
}

/** How long a transaction waits in the pool, and how long nothing happens after its block. */
export interface TrafficPace {
  pendingMs: number
  quietMs: number
}

/** Sends something from or to `alice` again and again, waits, and mines it. @param failed - Told once, and it ends. */
export function startTraffic(
  driver: EvmDriver,
  failed: (error: unknown) => void,
  pauses: TrafficPace = { pendingMs: 5000, quietMs: 4000 }
): Traffic {
  const end = new AbortController()
  const { world } = driver
  const calls = createEvmCalls(world)
  const alice = evmAccount(world, 'alice').address
  const gold = evmContract(world, 'gold')
  const gwei = 10n ** 9n
  let latest = Math.max(...world.blocks.map(({ timestampSeconds = 0 }) => timestampSeconds))

  const turns = [
    (label: string) => driver.send({ label, from: 'carol', to: alice, valueWei: 12_345_678n * gwei }),
    (label: string) => driver.send({ label, ...calls.erc20Transfer('alice', gold, 'dave', 10n ** 17n) }),
    (label: string) => driver.send({ label, from: 'dave', to: alice, valueWei: 500_000_000n * gwei }),
    (label: string) =>
      driver.send({
        label,
        from: 'alice',
        to: evmAccount(world, 'bob').address,
        valueWei: 250_000_000n * gwei
      })
  ]

  async function mine() {
    // The devnet's story is set in the past; what happens now happens now.
    latest = Math.max(latest + 1, Math.floor(Date.now() / 1000))
    await driver.mine({ timestampSeconds: latest })
  }

  async function run() {
    await mine()
    for (let turn = 0; !end.signal.aborted; turn++) {
      await turns[turn % turns.length]?.(`traffic ${turn}`)
      await wait(pauses.pendingMs, undefined, { signal: end.signal })
      await mine()
      await wait(pauses.quietMs, undefined, { signal: end.signal })
    }
  }

  const running = run().catch((error: unknown) => {
    if (!end.signal.aborted) failed(error)
  })
  return {
    stop() {
      end.abort()
      return running
    }
  }
}
