import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { getBytes, Interface, type Wallet } from 'ethers'
import { getUserOperationHash, toPackedUserOperation, type UserOperation } from 'viem/account-abstraction'
import type { CertifiedWorld } from '../certificate/startCertifiedWorld.ts'

export type Version = '0.6' | '0.7' | '0.8'
type Hex = `0x${string}`

/** An EntryPoint and the factory of its simple accounts, deployed from their published bytecode. */
export interface EntryPoint {
  readonly version: Version
  readonly address: Hex
  readonly abi: Interface
  readonly factory: Hex
  readonly factoryAbi: Interface
}

interface Artifact {
  readonly abi: ConstructorParameters<typeof Interface>[0]
  readonly bytecode: string
}

const require = createRequire(import.meta.url)
const packages: Readonly<Record<Version, string>> = {
  '0.6': require.resolve('account-abstraction-0.6/package.json'),
  '0.7': require.resolve('account-abstraction-0.7/package.json'),
  '0.8': require.resolve('account-abstraction-0.8/package.json')
}
const artifactOf = (version: Version, name: string) =>
  JSON.parse(readFileSync(join(dirname(packages[version]), 'artifacts', `${name}.json`), 'utf8')) as Artifact

async function deploy(world: CertifiedWorld, { abi, bytecode }: Artifact, args: readonly unknown[] = []) {
  const data = bytecode + new Interface(abi).encodeDeploy(args).slice(2)
  const hash = await world.send({ from: world.accounts[0], data, gas: '0x989680' })
  await world.mine()
  const receipt = (await world.rpc('eth_getTransactionReceipt', hash)) as Record<string, string>
  if (receipt.status !== '0x1') throw new Error('a contract could not be deployed')
  return receipt.contractAddress as Hex
}

export async function deployEntryPoint(world: CertifiedWorld, version: Version): Promise<EntryPoint> {
  const [entryPoint, factory] = ['EntryPoint', 'SimpleAccountFactory'].map(name => artifactOf(version, name))
  if (entryPoint === undefined || factory === undefined) throw new Error('no artifacts')
  const address = await deploy(world, entryPoint)
  return {
    ...{ version, address, abi: new Interface(entryPoint.abi) },
    factory: await deploy(world, factory, [address]),
    factoryAbi: new Interface(factory.abi)
  }
}

/** What a simple account is to do. */
export interface Wish {
  readonly owner: Wallet
  readonly to: string
  readonly valueWei?: bigint
  readonly data?: string
  readonly paymaster?: Hex
}

const accountAbi = new Interface(['function execute(address dest, uint256 value, bytes func)'])
const chainId = 31337

/** Signs an operation of the owner's simple account, which it creates where it is not there yet. */
export async function signOperation(
  world: CertifiedWorld,
  entryPoint: EntryPoint,
  { owner, to, valueWei = 0n, data = '0x', paymaster }: Wish
): Promise<{ readonly sender: Hex; readonly hash: Hex; readonly packed: unknown }> {
  const { version, address, factory } = entryPoint
  const read = async (abi: Interface, contract: Hex, name: string, args: readonly unknown[]) => {
    const call = { to: contract, data: abi.encodeFunctionData(name, args) }
    return abi.decodeFunctionResult(name, (await world.rpc('eth_call', call, 'latest')) as string)[0]
  }
  const salt = [owner.address, 0n]
  const sender = (await read(entryPoint.factoryAbi, factory, 'getAddress', salt)).toLowerCase() as Hex
  const isThere = (await world.rpc('eth_getCode', sender, 'latest')) !== '0x'
  const factoryData = entryPoint.factoryAbi.encodeFunctionData('createAccount', salt) as Hex
  const common = {
    ...{ sender, nonce: (await read(entryPoint.abi, address, 'getNonce', [sender, 0n])) as bigint },
    callData: accountAbi.encodeFunctionData('execute', [to, valueWei, data]) as Hex,
    ...{ callGasLimit: 200_000n, verificationGasLimit: 1_000_000n, preVerificationGas: 50_000n },
    ...{ maxFeePerGas: 3_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n, signature: '0x' as Hex }
  }
  const paid = { paymasterVerificationGasLimit: 200_000n, paymasterPostOpGasLimit: 100_000n }
  const userOperation = (
    version === '0.6'
      ? {
          ...common,
          initCode: isThere ? '0x' : `${factory}${factoryData.slice(2)}`,
          paymasterAndData: paymaster ?? '0x'
        }
      : {
          ...common,
          ...(!isThere && { factory, factoryData }),
          ...(paymaster && { paymaster, paymasterData: '0x', ...paid })
        }
  ) as UserOperation
  const hash = getUserOperationHash({
    ...{ chainId, entryPointAddress: address, entryPointVersion: version },
    userOperation: userOperation as never
  })
  // Accounts of 0.8 check the typed hash itself, those before it as a signed message.
  const signature = (
    version === '0.8' ? owner.signingKey.sign(hash).serialized : await owner.signMessage(getBytes(hash))
  ) as Hex
  const signed = { ...userOperation, signature }
  return { sender, hash, packed: version === '0.6' ? signed : toPackedUserOperation(signed as UserOperation) }
}

/** Sends the operations in one bundle, in a block of its own. @returns the hash of the transaction. */
export async function sendBundle(
  world: CertifiedWorld,
  bundler: string,
  { abi, address }: EntryPoint,
  operations: readonly { readonly packed: unknown }[]
): Promise<string> {
  const beneficiary = world.accounts[9]
  const data = abi.encodeFunctionData('handleOps', [operations.map(({ packed }) => packed), beneficiary])
  const hash = await world.send({ from: bundler, to: address, data, gas: '0x989680' })
  await world.mine()
  return hash
}
