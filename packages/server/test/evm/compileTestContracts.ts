import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** One contract of `contracts/`, ready to be deployed and called. */
export interface CompiledContract {
  readonly abi: readonly object[]
  /** Creation code, 0x-hex. */
  readonly bytecode: string
}

interface SolcOutput {
  readonly errors?: readonly { readonly severity: string; readonly formattedMessage: string }[]
  readonly contracts: Readonly<
    Record<
      string,
      Readonly<Record<string, { abi: readonly object[]; evm: { bytecode: { object: string } } }>>
    >
  >
}

const folder = new URL('contracts/', import.meta.url)
const settings = {
  // Without PUSH0, so that nodes of old rules run it too.
  evmVersion: 'paris',
  optimizer: { enabled: true, runs: 200 },
  outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } }
}

/**
 * All contracts of `contracts/`, by name, in one run of the compiler. The result is kept in the system's folder for
 * temporary files, by the hash of what goes in: loading the compiler takes longer than most tests.
 * @throws {Error} with the compiler's own words.
 */
export function compileTestContracts(): Readonly<Record<string, CompiledContract>> {
  const require = createRequire(import.meta.url)
  const { version } = require('solc/package.json') as { version: string }
  const names = readdirSync(folder).filter(name => name.endsWith('.sol'))
  const sources = Object.fromEntries(
    names.sort().map(name => [name, { content: readFileSync(new URL(name, folder), 'utf8') }])
  )
  const input = JSON.stringify({ language: 'Solidity', sources, settings })
  const key = createHash('sha256').update(version).update(input).digest('hex')
  const kept = join(tmpdir(), 'chain-data-test-contracts', `${key}.json`)
  if (existsSync(kept)) return JSON.parse(readFileSync(kept, 'utf8'))

  const solc = require('solc') as { compile(input: string): string }
  const output = JSON.parse(solc.compile(input)) as SolcOutput
  const failures = (output.errors ?? []).filter(({ severity }) => severity === 'error')
  if (failures.length > 0)
    throw new Error(failures.map(({ formattedMessage }) => formattedMessage).join('\n'))
  const compiled = Object.fromEntries(
    Object.values(output.contracts)
      .flatMap(file => Object.entries(file))
      .map(([name, { abi, evm }]) => [name, { abi, bytecode: `0x${evm.bytecode.object}` }])
  )
  mkdirSync(join(tmpdir(), 'chain-data-test-contracts'), { recursive: true })
  // Another worker may be at it too: whoever is last puts the same bytes there.
  const unfinished = `${kept}.${process.pid}`
  writeFileSync(unfinished, JSON.stringify(compiled))
  renameSync(unfinished, kept)
  return compiled
}
