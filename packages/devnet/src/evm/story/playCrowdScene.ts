import { evmContract } from '../evmTruth.ts'
import type { Stage } from './Stage.ts'

const people = ['alice', 'bob', 'carol', 'dave'] as const
const receivers = ['alice', 'bob', 'carol', 'dave', 'frank', 'mallory'] as const

/** Everyday traffic chosen by the seed: blocks of several transactions, and empty ones between them. */
export async function playCrowdScene({ driver, calls, random, addressOf }: Stage): Promise<void> {
  const gold = evmContract(driver.world, 'gold')
  await driver.send({
    label: 'gold for the crowd',
    ...calls.erc20Mint('deployer', gold, 'carol', 10n ** 21n)
  })
  await driver.send({ label: 'gold for dave', ...calls.erc20Mint('deployer', gold, 'dave', 10n ** 21n) })
  await driver.mine()
  for (let round = 1; round <= 12; round++) {
    for (let turn = random.below(5); turn > 0; turn--) {
      const label = `crowd ${round}.${turn}`
      const from = random.pick(people)
      const to = random.pick(receivers)
      const amount = BigInt(1 + random.below(1_000_000_000))
      if (random.below(2) === 0) {
        const type = random.pick([0, 1, 2] as const)
        await driver.send({ label, from, to: addressOf(to), type, valueWei: amount })
      } else await driver.send({ label, ...calls.erc20Transfer(from, gold, to, amount) })
    }
    await driver.mine({ baseFeeWei: BigInt(900_000_000 + random.below(400_000_000)) })
  }
}
