import { readFileSync } from 'node:fs'
import { concat, Interface } from 'ethers'
import { packageFile } from '../../packageFile.ts'
import type { DevContract } from '../contracts.ts'

/** Contracts that are compiled ahead; sources in `contracts/hostile/`. */
export const hostileContractNames = [
  'AverseToken',
  'CostlyNft',
  'DeepToken',
  'HollowProxy',
  'HonestMultiToken',
  'HonestNft',
  'HonestToken',
  'HybridToken',
  'KittyCollection',
  'MoodyToken',
  'MortalFactory',
  'MortalToken',
  'RebasingToken',
  'ReentrantToken',
  'ScriptedToken',
  'TaxedToken',
  'WrappedEther'
] as const

/** The name of one of them. */
export type HostileContractName = (typeof hostileContractNames)[number]

const loaded = new Map<HostileContractName, DevContract>()

/** Reads a committed artifact, once per process. */
export function hostileContract(name: HostileContractName): DevContract {
  const known = loaded.get(name)
  if (known !== undefined) return known
  const artifact = JSON.parse(readFileSync(packageFile(`artifacts/hostile/${name}.json`), 'utf8'))
  const contract = { abi: new Interface(artifact.abi), bytecode: artifact.bytecode as string }
  loaded.set(name, contract)
  return contract
}

/** Creation code with its arguments, 0x-hex. */
export function creationOf(name: HostileContractName, args: readonly unknown[] = []): string {
  const { abi, bytecode } = hostileContract(name)
  return concat([bytecode, abi.encodeDeploy(args)])
}

/** Data of a call, 0x-hex. */
export function callOf(name: HostileContractName, method: string, args: readonly unknown[] = []): string {
  return hostileContract(name).abi.encodeFunctionData(method, args)
}
