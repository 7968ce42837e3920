import { hexlify, toUtf8Bytes } from 'ethers'
import type { Stage } from './Stage.ts'

const ether = 10n ** 18n

/** Transfers of ether in every transaction type, to others, to oneself, with calldata and without value. */
export async function playNativeScene({ driver, random, addressOf }: Stage): Promise<void> {
  const slot = `0x${'00'.repeat(31)}01`
  await driver.send({
    ...{ label: 'legacy transfer', type: 0, from: 'alice', to: addressOf('bob') },
    valueWei: ether + BigInt(random.below(1_000_000))
  })
  await driver.mine()
  await driver.send({
    ...{ label: 'access list transfer', type: 1, from: 'bob', to: addressOf('carol') },
    valueWei: 12_345n,
    accessList: [
      { address: addressOf('dave'), storageKeys: [slot, `0x${'ff'.repeat(32)}`] },
      { address: addressOf('erin'), storageKeys: [] }
    ]
  })
  await driver.send({
    ...{ label: 'fee market transfer', type: 2, from: 'alice', to: addressOf('frank') },
    valueWei: 2n * ether
  })
  await driver.mine({ baseFeeWei: 2n * 10n ** 9n })
  await driver.send({
    ...{ label: 'fee market transfer at its cap', from: 'carol', to: addressOf('frank'), valueWei: 1n },
    ...{ maxFeePerGasWei: 7n * 10n ** 9n, maxPriorityFeePerGasWei: 5n * 10n ** 9n }
  })
  await driver.mine({ baseFeeWei: 4n * 10n ** 9n })
  await driver.send({ label: 'blob transfer', type: 3, from: 'dave', to: addressOf('alice'), valueWei: 7n })
  await driver.mine()
  await driver.send({
    ...{ label: 'transfer to itself', from: 'alice', to: addressOf('alice'), valueWei: 3n * ether }
  })
  await driver.send({ label: 'transfer of nothing', from: 'bob', to: addressOf('alice') })
  await driver.mine()
  await driver.send({
    ...{ label: 'heavy calldata', from: 'carol', to: addressOf('bob'), gasLimit: 1_500_000n },
    data: hexlify(Uint8Array.from({ length: 20_000 }, (_, i) => (i % 5 === 0 ? i % 256 : 0)))
  })
  await driver.send({
    ...{ label: 'message in calldata', type: 0, from: 'dave', to: addressOf('carol') },
    data: hexlify(toUtf8Bytes('hello from the devnet'))
  })
  await driver.mine({ timestampSeconds: 1_700_100_000 })
}
