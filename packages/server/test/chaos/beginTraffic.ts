import {
  createContract,
  createEvmCalls,
  type EvmContract,
  type EvmWorld,
  evmAccount
} from '@chain-data/devnet'
import { getCreateAddress } from 'ethers'
import type { Random } from '../../../devnet/src/platform/createRandom.ts'

/** What a node is asked to sign and send. */
export interface TransactionRequest extends Readonly<Record<string, unknown>> {
  readonly from: string
  readonly nonce: string
}

/** Random transactions of every kind the index tells apart. */
export interface Traffic {
  /** Requests that have to be mined first, block by block. */
  readonly preparation: readonly (readonly TransactionRequest[])[]
  /** The next one, with the next nonce of its sender. */
  next(): TransactionRequest
  /** Sets every sender's next nonce, as after a reorg. */
  resume(nonces: ReadonlyMap<string, number>): void
  readonly everAddresses: ReadonlySet<string>
}

const senders = ['alice', 'bob', 'carol', 'dave', 'erin', 'grace', 'heidi', 'ivan', 'judy'] as const
const receivers = [...senders, 'frank', 'mallory'] as const
const gwei = 10n ** 9n

type Body = {
  readonly to?: string
  readonly data?: string
  readonly valueWei?: bigint
  readonly gas?: bigint
}

/** @param world - of a fresh chain; only its accounts are used. */
export function beginTraffic(world: EvmWorld, random: Random): Traffic {
  const calls = createEvmCalls(world)
  const nonces = new Map<string, number>()
  const everAddresses = new Set<string>()
  const addressOf = (name: string) => evmAccount(world, name).address
  const deployer = addressOf('deployer')
  let counter = 0
  /** Never the same twice. */
  const amount = () => BigInt(++counter)

  function request(name: string, { to, data, valueWei = 0n, gas = 500_000n }: Body): TransactionRequest {
    const from = addressOf(name)
    const nonce = nonces.get(from) ?? 0
    nonces.set(from, nonce + 1)
    for (const address of [from, to ?? getCreateAddress({ from, nonce })])
      everAddresses.add(address.toLowerCase())
    const fees = random.pick<Readonly<Record<string, unknown>>>([
      { gasPrice: hex(3n * gwei) },
      { gasPrice: hex(3n * gwei), accessList: [{ address: from, storageKeys: [`0x${'01'.repeat(32)}`] }] },
      { maxFeePerGas: hex(4n * gwei), maxPriorityFeePerGas: hex(gwei) },
      { maxFeePerGas: hex(5n * gwei), maxPriorityFeePerGas: hex(2n * gwei) }
    ])
    return {
      ...{ from, nonce: hex(nonce), gas: hex(gas), value: hex(valueWei), ...fees },
      ...(to === undefined ? {} : { to }),
      ...(data === undefined ? {} : { data })
    }
  }

  const contract = (kind: EvmContract['kind'], nonce: number): EvmContract => ({
    ...{ label: kind, kind, name: '', symbol: '', creationHash: '' },
    address: getCreateAddress({ from: deployer, nonce })
  })
  const gold = contract('erc20', 0)
  const art = contract('erc721', 1)
  const items = contract('erc1155', 2)
  const relay = contract('other', 3)
  const creations = [
    createContract('DevToken', ['Gold', 'GLD', 18]),
    createContract('DevNft', ['Art', 'ART']),
    createContract('DevMultiToken', ['Items', 'ITM', '']),
    createContract('DevRelay', [false])
  ].map(creation => request('deployer', { ...creation, gas: 3_000_000n }))
  const gifts = senders.flatMap(name => [
    request('deployer', calls.erc20Mint('deployer', gold, name, 10n ** 18n)),
    request(
      'deployer',
      calls.erc1155MintBatch('deployer', items, name, [
        { tokenId: 1n, amount: gwei },
        { tokenId: 2n, amount: gwei }
      ])
    ),
    request(name, calls.erc20Approve(name, gold, relay.address, 10n ** 17n))
  ])
  let nextArt = 1n

  function body(from: string): Body {
    const to = random.pick(receivers)
    const kinds: readonly [() => Body, ...(() => Body)[]] = [
      () => ({ to: addressOf(to), valueWei: amount(), gas: 100_000n }),
      () => ({ to: `0x${(++counter).toString(16).padStart(40, '7')}`, valueWei: amount(), gas: 100_000n }),
      () => calls.erc20Transfer(from, gold, to, amount()),
      () => calls.erc20Mint(from, gold, to, amount()),
      () => calls.erc721Mint(from, art, to, nextArt++, ''),
      // Often somebody else's by now, or of a block that is gone: then it fails, as such calls do.
      () => calls.erc721Transfer(from, art, to, 1n + BigInt(random.below(Number(nextArt)))),
      () => calls.erc1155Transfer(from, items, to, 1n, 1n),
      () =>
        calls.erc1155BatchTransfer(from, items, to, [
          { tokenId: 1n, amount: 2n },
          { tokenId: 2n, amount: 3n }
        ]),
      () =>
        calls.relayPay(
          from,
          relay,
          gold,
          [to, random.pick(receivers), random.pick(receivers)].map(name => ({ to: name, amount: amount() }))
        ),
      () => calls.relayFail(from, relay),
      () => ({ ...createContract('DevRelay', [random.below(3) === 0]), gas: 1_500_000n })
    ]
    return random.pick(kinds)()
  }

  return {
    preparation: [creations, gifts.slice(0, 15), gifts.slice(15)],
    next() {
      const from = random.pick(senders)
      return request(from, body(from))
    },
    resume(next) {
      nonces.clear()
      for (const [address, nonce] of next) nonces.set(address, nonce)
    },
    everAddresses
  }
}

function hex(value: bigint | number): string {
  return `0x${value.toString(16)}`
}
