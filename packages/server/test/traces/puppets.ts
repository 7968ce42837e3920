import { Interface, type InterfaceAbi } from 'ethers'
import { compileTestContracts } from '../evm/compileTestContracts.ts'

/** One thing that a puppet does; see `contracts/Puppet.sol`. Without data a call only sends. */
export type Step =
  | { readonly do: 'call' | 'callCode'; readonly at: string; readonly value?: bigint; readonly data?: string }
  | { readonly do: 'delegateCall' | 'staticCall'; readonly at: string; readonly data?: string }
  | { readonly do: 'create'; readonly value?: bigint; readonly data: string }
  | { readonly do: 'create2'; readonly value?: bigint; readonly salt: number; readonly data: string }
  | { readonly do: 'selfDestruct'; readonly at: string }
  | { readonly do: 'revert' | 'invalid' | 'vanish' }

const kinds = {
  call: 0,
  delegateCall: 1,
  staticCall: 2,
  callCode: 3,
  create: 4,
  create2: 5,
  selfDestruct: 6,
  revert: 7,
  invalid: 8,
  vanish: 9
} as const

/** An invalid instruction burns the gas of its call: those around it must have enough left. */
const frugalGas = 200_000n
const zeroAddress = `0x${'0'.repeat(40)}`

const compiled = compileTestContracts().Puppet
if (compiled === undefined) throw new Error('there is no contract Puppet')
const { bytecode } = compiled
const abi = new Interface(compiled.abi as InterfaceAbi)

/** Calldata that has a puppet take these steps. */
export function act(...steps: readonly Step[]): string {
  return abi.encodeFunctionData('act', [steps.map(encode)])
}

/** Creation code of a puppet that takes these steps while it is created. */
export function puppetCode(...steps: readonly Step[]): string {
  return bytecode + abi.encodeDeploy([steps.map(encode)]).slice(2)
}

function encode(step: Step): readonly unknown[] {
  const value = 'value' in step ? (step.value ?? 0n) : 0n
  const data = 'data' in step ? (step.data ?? '0x') : '0x'
  const salt = 'salt' in step ? `0x${step.salt.toString(16).padStart(40, '0')}` : undefined
  const target = salt ?? ('at' in step ? step.at : zeroAddress)
  return [kinds[step.do], target, value, data, step.do === 'staticCall' ? frugalGas : 0n]
}
