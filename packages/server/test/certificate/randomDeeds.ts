import { createEmptyWorld, evmAccount } from '@chain-data/devnet'
import { getAddress, getCreateAddress, keccak256, toBeHex, Wallet } from 'ethers'
import type { Random } from '../../../devnet/src/platform/createRandom.ts'
import { beginTraffic } from '../chaos/beginTraffic.ts'
import { compileTestContracts } from '../evm/compileTestContracts.ts'
import { type CertifiedWorld, type Deployed, hex } from './startCertifiedWorld.ts'

/** Everything that moves something, at random. */
export interface RandomDeeds {
  /** Sends one transaction, which may fail. */
  act(): Promise<void>
}

const kinds = { call: 0, delegateCall: 1, create: 4, create2: 5, selfDestruct: 6, revert: 7 } as const
type Step = readonly [kind: number, target: string, value: bigint, data: string, gasLimit: bigint]

/** Deploys what the deeds need. @param world - of a fresh chain; the first account deploys. */
export async function beginRandomDeeds(
  world: CertifiedWorld,
  rpcUrl: string,
  random: Random
): Promise<RandomDeeds> {
  const cast = await createEmptyWorld(rpcUrl)
  const traffic = beginTraffic(cast, random)
  for (const block of traffic.preparation) {
    for (const request of block) await world.send(request)
    await world.mine()
  }
  const [odd, wrapped] = [await world.deploy('OddToken'), await world.deploy('Wrapped')]
  const puppets = [await world.deploy('Puppet', [[]]), await world.deploy('Puppet', [[]])] as const
  const puppet = compileTestContracts().Puppet?.bytecode ?? ''
  const bornWith = (steps: readonly Step[]) => puppet + puppets[0].abi.encodeDeploy([steps]).slice(2)
  for (const { address } of puppets) {
    await world.send({ from: world.accounts[0], to: address, value: hex(10n ** 18n) })
  }
  await world.mine()
  let counter = 0
  const someone = () => random.pick(world.accounts as [string, ...string[]])
  const stranger = () => getAddress(`0x${keccak256(toBeHex(++counter)).slice(-40)}`)
  const anyone = () => (random.below(4) === 0 ? stranger() : someone())
  const amount = () => BigInt(1 + random.below(1_000))
  const aPuppet = (): Deployed => random.pick(puppets)
  // Those who have delegated to a puppet's code are puppets, too.
  const delegates: Deployed[] = []

  function randomStep(depth: number): Step {
    const address = anyone()
    switch (random.below(depth > 2 ? 3 : 8)) {
      case 0:
      case 1:
        return [kinds.call, address, amount(), '0x', 0n]
      case 2:
        return [kinds.call, address, 0n, '0x', 0n]
      case 3:
        return [kinds.create, address, amount(), bornWith(randomSteps(depth + 1)), 0n]
      case 4: {
        const steps = [...randomSteps(depth + 1), [kinds.selfDestruct, anyone(), 0n, '0x', 0n] as const]
        return [kinds.create2, stranger(), amount(), bornWith(steps), 0n]
      }
      case 5:
        return [kinds.delegateCall, aPuppet().address, 0n, actData(randomSteps(depth + 1)), 0n]
      case 6: {
        const steps = [...randomSteps(depth + 1), [kinds.revert, address, 0n, '0x', 0n] as const]
        return [kinds.call, aPuppet().address, amount(), actData(steps), 0n]
      }
      default:
        return [kinds.call, aPuppet().address, amount(), actData(randomSteps(depth + 1)), 0n]
    }
  }

  function randomSteps(depth: number): readonly Step[] {
    return Array.from({ length: 1 + random.below(2) }, () => randomStep(depth))
  }

  function actData(steps: readonly Step[]): string {
    return puppets[0].abi.encodeFunctionData('act', [steps])
  }

  /** EIP-7702: one account has its code set by a transaction of another. */
  async function delegate(): Promise<void> {
    const authority = new Wallet(evmAccount(cast, random.pick(['ivan', 'judy'])).privateKey ?? '')
    const sender = new Wallet(evmAccount(cast, random.pick(['deployer', 'ivan', 'judy'])).privateKey ?? '')
    const [ofAuthority, ofSender] = [await nonceOf(authority.address), await nonceOf(sender.address)]
    const isSelf = authority.address === sender.address
    // At times a nonce that is used up, or not due yet: such a tuple is passed over.
    const nonce = ofAuthority + (isSelf ? 1 : 0) + random.pick([0, 0, 0, -1, 1])
    if (nonce < 0) return
    const code = random.below(4) === 0 ? `0x${'00'.repeat(20)}` : puppets[0].address
    const authorization = await authority.authorize({ address: code, nonce, chainId: 31337 })
    const raw = await sender.signTransaction({
      ...{ type: 4, chainId: 31337, nonce: ofSender, to: someone(), value: 1n, gasLimit: 200_000n },
      ...{ maxFeePerGas: 5n * 10n ** 9n, maxPriorityFeePerGas: 10n ** 9n, authorizationList: [authorization] }
    })
    await world.rpc('eth_sendRawTransaction', raw)
    delegates.push({ address: authority.address, abi: puppets[0].abi })
  }

  async function nonceOf(address: string): Promise<number> {
    return Number(await world.rpc('eth_getTransactionCount', address, 'pending'))
  }

  const deeds: readonly [() => Promise<unknown>, ...(() => Promise<unknown>)[]] = [
    async () => {
      const { nonce: _, ...request } = traffic.next()
      return world.send(request)
    },
    async () => {
      const { nonce: _, ...request } = traffic.next()
      return world.send(request)
    },
    () => world.send({ from: someone(), to: anyone(), value: hex(random.pick([0n, amount()])) }),
    () => world.call(someone(), aPuppet(), 'act', [randomSteps(0)], random.pick([0n, amount()])),
    () => world.call(someone(), aPuppet(), 'act', [randomSteps(0)]),
    () => world.send({ from: someone(), data: bornWith(randomSteps(1)), value: hex(amount()) }),
    // A contract that ends in its own favour takes what it has with it.
    async () => {
      const from = someone()
      const self = getCreateAddress({ from, nonce: await nonceOf(from) })
      return world.send({
        from,
        data: bornWith([[kinds.selfDestruct, self, 0n, '0x', 0n]]),
        value: hex(amount())
      })
    },
    delegate,
    async () => {
      const target = delegates[random.below(Math.max(1, delegates.length))]
      return target && world.call(someone(), target, 'act', [randomSteps(1)])
    },
    () => world.call(someone(), wrapped, 'deposit', [], amount()),
    () => world.call(someone(), wrapped, 'depositFor', [anyone()], amount()),
    () => world.call(someone(), wrapped, 'transfer', [anyone(), 1n]),
    () => world.call(someone(), wrapped, 'withdraw', [1n]),
    () => world.call(someone(), odd, 'mint', [anyone(), amount() * 100n]),
    () => world.call(someone(), odd, 'transfer', [anyone(), amount()]),
    () => world.call(someone(), odd, 'transferTaxed', [anyone(), amount()]),
    () => world.call(someone(), odd, 'mintSilently', [anyone(), amount()]),
    () => world.call(someone(), odd, 'burnSilently', [someone(), 1n]),
    () => world.call(someone(), odd, 'boast', [[anyone(), anyone()], amount()]),
    () => world.call(someone(), odd, 'rebase', [10n ** 18n + BigInt(random.below(10 ** 9)) * 10n ** 8n])
  ]
  return {
    async act() {
      await random.pick(deeds)()
    }
  }
}
