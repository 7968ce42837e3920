import { createContract } from '../evmIntents.ts'
import type { Stage } from './Stage.ts'

const ether = 10n ** 18n

/** A set code transaction, and ether that reaches people through a contract only. */
export async function playContractScene({ driver, calls, addressOf }: Stage): Promise<void> {
  const creation = await driver.send({
    ...{ label: 'creation', from: 'deployer', valueWei: 5n },
    ...createContract('DevRelay', [false], { label: 'relay', kind: 'other', name: '', symbol: '' })
  })
  await driver.mine()
  const relay = driver.world.contracts.relay
  if (relay === undefined || creation.createdContract === undefined) throw new Error('the relay is missing')
  await driver.send({
    ...{ label: 'set code', type: 4, from: 'bob', to: addressOf('carol'), valueWei: 11n },
    delegations: [{ account: 'erin', delegate: relay.address }]
  })
  await driver.mine()
  await driver.send({
    label: 'transfer to a delegating account',
    from: 'carol',
    to: addressOf('erin'),
    valueWei: 9n
  })
  await driver.send({
    label: 'transfer by a delegating account',
    from: 'erin',
    to: addressOf('bob'),
    valueWei: 8n
  })
  await driver.send({
    label: 'internal transfer',
    ...calls.relayForward('alice', relay, 'mallory', ether / 2n)
  })
  await driver.mine()
}
