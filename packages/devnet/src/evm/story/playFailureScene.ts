import { createContract } from '../evmIntents.ts'
import { evmContract } from '../evmTruth.ts'
import type { Stage } from './Stage.ts'

/** Transactions that are mined and fail: calls, token transfers, creations, and one that runs out of gas. */
export async function playFailureScene({ driver, calls, addressOf }: Stage): Promise<void> {
  const relay = evmContract(driver.world, 'relay')
  const gold = evmContract(driver.world, 'gold')
  const failed = { outcome: 'failed' } as const
  await driver.send({ label: 'failed call', ...calls.relayFail('alice', relay), ...failed, valueWei: 1000n })
  await driver.send({
    label: 'failed token transfer',
    ...calls.erc20Transfer('carol', gold, 'frank', 10n ** 40n),
    ...failed
  })
  await driver.mine()
  await driver.send({
    label: 'transfer undone by a later failure',
    ...calls.relayPayThenFail('alice', relay, gold, 'mallory', 1n),
    ...failed
  })
  await driver.send({
    ...{ label: 'failed creation', from: 'bob', ...createContract('DevRelay', [true]) },
    ...failed
  })
  await driver.mine()
  await driver.send({
    ...{
      label: 'creation that burns all gas',
      from: 'carol',
      data: '0xfe',
      gasLimit: 77_777n,
      burnsAllGas: true
    },
    ...failed
  })
  await driver.send({
    ...{ label: 'creation without code', from: 'dave', data: '0x', valueWei: 21n },
    creates: { label: 'empty', kind: 'other', name: '', symbol: '' }
  })
  await driver.send({
    label: 'transfer after the failures',
    from: 'bob',
    to: addressOf('frank'),
    valueWei: 1n
  })
  await driver.mine()
}
