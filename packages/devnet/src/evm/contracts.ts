import { readFileSync } from 'node:fs'
import { Interface } from 'ethers'
import { packageFile } from '../packageFile.ts'

/** Contracts that are compiled ahead; sources in `contracts/`. */
export type DevContractName = 'DevToken' | 'DevNft' | 'DevMultiToken' | 'DevRelay'

/** A contract ready to be deployed and called. */
export interface DevContract {
  abi: Interface
  /** Creation code, 0x-hex, to be followed by the encoded constructor arguments. */
  bytecode: string
}

const loaded = new Map<DevContractName, DevContract>()

/** Reads a committed artifact, once per process. */
export function devContract(name: DevContractName): DevContract {
  const known = loaded.get(name)
  if (known !== undefined) return known
  const artifact = JSON.parse(readFileSync(packageFile(`artifacts/${name}.json`), 'utf8'))
  const contract = { abi: new Interface(artifact.abi), bytecode: artifact.bytecode as string }
  loaded.set(name, contract)
  return contract
}
