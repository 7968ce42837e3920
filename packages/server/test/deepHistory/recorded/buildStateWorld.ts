import { developmentPhrase, startAnvil } from '@chain-data/devnet'
import { getCreate2Address, HDNodeWallet, Interface, type InterfaceAbi, keccak256, Mnemonic } from 'ethers'
import { createRandom } from '../../../../devnet/src/platform/createRandom.ts'
import { createJsonRpc, type JsonRpc } from '../../../../devnet/src/platform/jsonRpc.ts'
import { compileTestContracts } from '../../evm/compileTestContracts.ts'
import { type RecordedChain, recordBlocks } from './recordBlocks.ts'

/** Accounts of every kind that a search from state tells apart. */
export const keyedKinds = ['busy', 'quiet', 'mixed', 'selfTransferring', 'inAndOut', 'zeroValue'] as const
export const otherKinds = [
  ...['receiverOnly', 'internalOnly', 'tokenOnly', 'delegated', 'contract', 'swept']
] as const
export interface StateWorld {
  readonly chain: RecordedChain
  /** Addresses in lower case. */
  readonly people: Readonly<Record<string, string>>
}

const gwei = 10n ** 9n
const ether = 10n ** 18n
const hex = (value: bigint | number) => `0x${value.toString(16)}`
type Step = readonly [kind: number, target: string, value: bigint, data: string, gasLimit: bigint]
const steps = { call: 0, create2: 5, selfDestruct: 6 }

/** Builds the world on anvil, one block after the other, by real transactions. */
export async function buildStateWorld(blocks: number, seed: number): Promise<StateWorld> {
  const anvil = await startAnvil({ forgetsOldState: true })
  try {
    return await build(createJsonRpc(anvil.rpcUrl), blocks, seed)
  } finally {
    await anvil.stop()
  }
}

async function build(rpc: JsonRpc, blocks: number, seed: number): Promise<StateWorld> {
  const random = createRandom(seed)
  const recorder = await recordBlocks(rpc)
  const accounts = ((await rpc('eth_accounts')) as string[]).map(address => address.toLowerCase())
  const [funder = '', busy = '', quiet = '', mixed = '', selfTransferring = '', inAndOut = ''] = accounts
  const [zeroValue = '', delegated = '', peer = ''] = accounts.slice(6)
  const unseen = (name: string) => `0x${keccak256(Buffer.from(name)).slice(-40)}`
  const [receiverOnly, internalOnly, tokenOnly, sink] = ['receiver', 'internal', 'token', 'sink'].map(
    unseen
  ) as [string, string, string, string]
  const send = (from: string, to: string | undefined, value: bigint, data = '0x') =>
    rpc('eth_sendTransaction', { from, ...(to && { to }), value: hex(value), data, gas: '0x2dc6c0' })
  const amount = () => BigInt(1 + random.below(1_000_000)) * 1_000_003n
  const other = () => random.pick([funder, peer])

  const compiled = compileTestContracts()
  const abiOf = (name: string) => new Interface(compiled[name]?.abi as InterfaceAbi)
  async function deploy(name: string, args: readonly unknown[]): Promise<string> {
    const data = (compiled[name]?.bytecode ?? '') + abiOf(name).encodeDeploy(args).slice(2)
    const hash = await send(funder, undefined, 0n, data)
    await recorder.mine()
    const receipt = (await rpc('eth_getTransactionReceipt', hash)) as { contractAddress: string }
    return receipt.contractAddress.toLowerCase()
  }
  const puppet = abiOf('Puppet')
  const token = abiOf('OddToken')
  const contract = await deploy('Puppet', [[]])
  const erc20 = await deploy('OddToken', [])
  const act = (from: string, to: string, taken: readonly Step[], value = 0n) =>
    send(from, to, value, puppet.encodeFunctionData('act', [taken]))
  const payFrom = (to: string, value: bigint): Step => [steps.call, to, value, '0x', 0n]
  const mint = (to: string) => send(other(), erc20, 0n, token.encodeFunctionData('mint', [to, amount()]))
  const salt = unseen('salt')
  const sweeper =
    (compiled.Puppet?.bytecode ?? '') +
    puppet.encodeDeploy([[[steps.selfDestruct, sink, 0n, '0x', 0n]]]).slice(2)
  const swept = getCreate2Address(
    contract,
    `0x${salt.slice(2).padStart(64, '0')}`,
    keccak256(sweeper)
  ).toLowerCase()
  await send(funder, contract, 100n * ether)
  await recorder.mine()

  /** One authorization, sent by another account: the code of the puppet, or none again. */
  async function delegate(code: string): Promise<void> {
    const root = HDNodeWallet.fromMnemonic(Mnemonic.fromPhrase(developmentPhrase), "m/44'/60'/0'/0")
    const [authority, sender] = [root.deriveChild(accounts.indexOf(delegated)), root.deriveChild(8)]
    const nonceOf = async (address: string) =>
      Number(await rpc('eth_getTransactionCount', address, 'pending'))
    const authorization = authority.authorizeSync({
      ...{ address: code, nonce: await nonceOf(authority.address), chainId: 31337 }
    })
    const raw = await sender.signTransaction({
      ...{ type: 4, chainId: 31337, nonce: await nonceOf(sender.address), to: funder, value: 1n },
      ...{ gasLimit: 200_000n, maxFeePerGas: 5n * gwei, maxPriorityFeePerGas: gwei },
      authorizationList: [authorization]
    })
    await rpc('eth_sendRawTransaction', raw)
  }

  /** What happens in so many blocks of a thousand. */
  const deeds: readonly (readonly [perMille: number, deed: () => Promise<unknown>])[] = [
    [80, () => send(busy, other(), amount())],
    [6, () => send(other(), busy, amount())],
    [2, () => send(quiet, other(), amount())],
    [2, () => send(other(), quiet, amount())],
    [8, () => send(mixed, other(), amount())],
    [6, () => send(other(), mixed, amount())],
    [4, () => act(other(), contract, [payFrom(mixed, amount())])],
    [4, () => mint(mixed)],
    [2, () => send(mixed, erc20, 0n, token.encodeFunctionData('transfer', [other(), 1n]))],
    [2, () => send(mixed, undefined, amount(), sweeper)],
    [8, () => send(selfTransferring, selfTransferring, random.pick([0n, amount()]))],
    [3, () => send(other(), selfTransferring, amount())],
    [
      8,
      async () => {
        const value = amount()
        await send(funder, inAndOut, value)
        await send(inAndOut, peer, value)
      }
    ],
    [5, () => send(zeroValue, other(), 0n)],
    [5, () => send(other(), zeroValue, 0n)],
    [3, () => send(other(), zeroValue, amount())],
    [4, () => send(other(), receiverOnly, amount())],
    [4, () => act(other(), contract, [payFrom(internalOnly, amount())])],
    [4, () => mint(tokenOnly)],
    [4, () => send(delegated, other(), amount())],
    [3, () => send(other(), delegated, amount())],
    // While it runs the puppet's code this pays, and nobody signed for it.
    [3, () => act(other(), delegated, [payFrom(funder, amount())])],
    [4, () => act(other(), contract, [payFrom(sink, amount())], amount())],
    [4, () => send(other(), swept, amount())],
    [2, () => act(other(), contract, [[steps.create2, salt, 0n, sweeper, 0n]])]
  ]
  const delegations = new Map([
    [Math.floor(blocks * 0.3), contract],
    [Math.floor(blocks * 0.5), `0x${'00'.repeat(20)}`],
    [Math.floor(blocks * 0.7), contract],
    [Math.floor(blocks * 0.8), `0x${'00'.repeat(20)}`]
  ])
  let empty = 0
  for (let number = Number(await rpc('eth_blockNumber')) + 1; number <= blocks; number++) {
    const due = deeds.filter(([perMille]) => random.below(1_000) < perMille)
    const code = delegations.get(number)
    if (due.length === 0 && code === undefined) {
      empty++
      continue
    }
    await recorder.skip(empty)
    empty = 0
    if (code !== undefined) await delegate(code)
    for (const [, deed] of due) await deed()
    await recorder.mine()
  }
  await recorder.skip(empty)
  const chain = await recorder.recorded()
  return {
    chain,
    people: {
      ...{ busy, quiet, mixed, selfTransferring, inAndOut, zeroValue, receiverOnly, internalOnly, tokenOnly },
      ...{ delegated, contract, swept }
    }
  }
}
