import { createContract } from '../evmIntents.ts'
import { evmContract } from '../evmTruth.ts'
import type { Stage } from './Stage.ts'

const gold = (amount: number) => BigInt(amount) * 10n ** 18n
const dollars = (amount: number) => BigInt(amount) * 10n ** 6n

/** Two ERC-20 tokens: mints, transfers, several in one transaction, a burn, and a balance that goes to zero. */
export async function playTokenScene({ driver, calls, random }: Stage): Promise<void> {
  await driver.send({
    ...{ label: 'creation of GLD', from: 'deployer' },
    ...createContract('DevToken', ['Devnet Gold', 'GLD', 18], {
      ...{ label: 'gold', kind: 'erc20', name: 'Devnet Gold', symbol: 'GLD', decimals: 18 }
    })
  })
  await driver.send({
    ...{ label: 'creation of dUSD', from: 'deployer' },
    ...createContract('DevToken', ['Devnet Dollar', 'dUSD', 6], {
      ...{ label: 'dollar', kind: 'erc20', name: 'Devnet Dollar', symbol: 'dUSD', decimals: 6 }
    })
  })
  await driver.mine()
  const goldToken = evmContract(driver.world, 'gold')
  const dollar = evmContract(driver.world, 'dollar')
  const relay = evmContract(driver.world, 'relay')

  await driver.send({
    label: 'gold mint',
    ...calls.erc20Mint('deployer', goldToken, 'alice', gold(1_000_000))
  })
  await driver.send({ label: 'dollar mint', ...calls.erc20Mint('deployer', dollar, 'bob', dollars(250_000)) })
  await driver.send({
    label: 'gold mint to heidi',
    ...calls.erc20Mint('deployer', goldToken, 'heidi', 1000n)
  })
  await driver.send({ label: 'dollar mint to erin', ...calls.erc20Mint('deployer', dollar, 'erin', 777n) })
  await driver.mine()
  await driver.send({
    label: 'gold transfer',
    ...calls.erc20Transfer('alice', goldToken, 'bob', gold(100) + BigInt(random.below(1_000_000)))
  })
  await driver.send({ label: 'gold to frank', ...calls.erc20Transfer('alice', goldToken, 'frank', 1n) })
  await driver.send({
    label: 'dollar to carol',
    ...calls.erc20Transfer('bob', dollar, 'carol', dollars(500))
  })
  await driver.mine()
  // Carol gives everything back: what she once held must not be shown any more.
  await driver.send({ label: 'dollar back', ...calls.erc20Transfer('carol', dollar, 'bob', dollars(500)) })
  await driver.send({ label: 'gold to itself', ...calls.erc20Transfer('bob', goldToken, 'bob', gold(1)) })
  await driver.send({ label: 'gold of nothing', ...calls.erc20Transfer('bob', goldToken, 'dave', 0n) })
  await driver.mine()
  await driver.send({
    label: 'gold approval',
    ...calls.erc20Approve('alice', goldToken, relay.address, gold(5000))
  })
  await driver.mine()
  await driver.send({
    label: 'several payments',
    ...calls.relayPay('alice', relay, goldToken, [
      { to: 'carol', amount: gold(3) },
      { to: 'mallory', amount: gold(4) },
      { to: 'carol', amount: gold(5) }
    ])
  })
  await driver.send({ label: 'gold burn', ...calls.erc20Burn('bob', goldToken, gold(2)) })
  await driver.mine()
}
