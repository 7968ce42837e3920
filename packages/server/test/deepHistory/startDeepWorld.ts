import { type AnvilNode, startAnvil } from '@chain-data/devnet'
import { createRandom } from '../../../devnet/src/platform/createRandom.ts'
import { everyAddress } from '../certificate/everyAddress.ts'
import { beginRandomDeeds } from '../certificate/randomDeeds.ts'
import { type CertifiedWorld, startCertifiedWorld } from '../certificate/startCertifiedWorld.ts'
import { type Engine, engines } from '../support/testStores.ts'

/** A chain on which everything has happened that makes somebody a party, longer than it takes to be final. */
export interface DeepWorld {
  readonly anvil: AnvilNode
  readonly rpc: CertifiedWorld['rpc']
  readonly addresses: readonly string[]
  close(): Promise<void>
}

/** So deep a block is final here. */
export const finality = 22

export async function startDeepWorld(seed: number): Promise<DeepWorld> {
  const random = createRandom(seed)
  const anvil = await startAnvil()
  const store = await (engines[0] as Engine).create()
  const world = await startCertifiedWorld({ ...anvil, store })
  const deeds = await beginRandomDeeds(world, anvil.rpcUrl, random)
  const strangers = new Set<string>()
  const stranger = (place: number) => {
    const address = `0x${String(place).padStart(40, 'd')}`
    strangers.add(address)
    return address
  }
  const kitties = await world.deploy('Kitties')
  const multi = await world.deploy('BirthMultiToken', [stranger(901), 1n, 7n])
  const walking = await world.deploy('WalkingNft', [world.accounts[0], 0n, 240n])
  const people = world.accounts.slice(0, 4) as [string, string, string, string]
  for (let block = 0; block < 40; block++) {
    for (let left = random.below(5); left > 0; left--) await deeds.act().catch(() => undefined)
    if (block % 5 === 0) {
      await world.call(people[0], kitties, 'transfer', [people[1], BigInt(block)])
      await world.call(people[2], kitties, 'transfer', [stranger(block), BigInt(1_000 + block)])
    }
    // Strangers whom nothing but a log names: each event at a place of its own.
    if (block % 6 === 2) {
      const [low, high] = [BigInt(block * 6 + 1), BigInt(block * 6 + 3)]
      await world.call(people[0], multi, 'mintBatch', [stranger(100 + block), [low, high], [3n, 4n]])
      await world.call(people[0], walking, 'transferRange', [stranger(200 + block), low, high])
    }
    if (block % 7 === 1)
      await world.call(people[1], kitties, 'transfer', [people[3], BigInt(block - 1)]).catch(() => undefined)
    await world.mine()
  }
  const addresses = [...new Set([...(await everyAddress(world, true)), ...strangers])]
  return {
    ...{ anvil, rpc: world.rpc, addresses },
    async close() {
      await world.close()
      await anvil.stop()
    }
  }
}
