import { evmContract } from '../evmTruth.ts'
import type { Stage } from './Stage.ts'

/**
 * What waits in the pool at the end: executable, queued behind a missing nonce, and one that was replaced.
 *
 * Its senders do nothing else late in the story, so that undoing the newest blocks leaves the pool alone.
 */
export async function playPoolScene({ driver, calls, addressOf }: Stage): Promise<void> {
  const gold = evmContract(driver.world, 'gold')
  const gwei = 10n ** 9n
  await driver.send({ label: 'pending transfer', from: 'grace', to: addressOf('alice'), valueWei: 100n })
  await driver.send({
    ...{ label: 'pending legacy transfer', type: 0, from: 'grace', to: addressOf('heidi'), valueWei: 101n },
    gasPriceWei: 5n * gwei
  })
  await driver.send({ label: 'pending token transfer', ...calls.erc20Transfer('heidi', gold, 'frank', 5n) })
  await driver.send({ label: 'pending creation', from: 'ivan', data: '0x00', valueWei: 0n })
  await driver.send({
    ...{ label: 'replaced transfer', from: 'judy', to: addressOf('alice'), valueWei: 1n }
  })
  await driver.send({
    ...{ label: 'replacing transfer', from: 'judy', to: addressOf('bob'), valueWei: 2n, nonce: 0 },
    ...{ maxFeePerGasWei: 9n * gwei, maxPriorityFeePerGasWei: 3n * gwei }
  })
  await driver.send({
    ...{ label: 'queued transfer', from: 'judy', to: addressOf('alice'), valueWei: 3n, nonce: 4 }
  })
  await driver.send({
    ...{ label: 'queued access list transfer', type: 1, from: 'heidi', to: addressOf('alice'), nonce: 9 },
    accessList: [{ address: gold.address, storageKeys: [`0x${'00'.repeat(32)}`] }]
  })
}
