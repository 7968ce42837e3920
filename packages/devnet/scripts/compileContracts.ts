import { createRequire } from 'node:module'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { argv } from 'node:process'

/** What a committed artifact holds: enough to deploy and call, nothing that changes without a reason. */
export interface Artifact {
  contractName: string
  compiler: string
  abi: unknown[]
  bytecode: string
}

interface SolcOutput {
  errors?: { severity: string; formattedMessage: string }[]
  contracts: Record<string, Record<string, { abi: unknown[]; evm: { bytecode: { object: string } } }>>
}

interface Solc {
  version(): string
  compile(
    input: string,
    callbacks: { import(path: string): { contents: string } | { error: string } }
  ): string
}

const require = createRequire(import.meta.url)
const packageRoot = new URL('../', import.meta.url)

/**
 * Compiles every contract of `contracts/` with pinned settings.
 *
 * The metadata hash is left out of the bytecode, so that comments and paths cannot change an artifact.
 *
 * @returns Artifacts by contract name, only for contracts of this package (not for imported ones).
 * @throws With the compiler's own message when a source does not compile.
 */
export async function compileContracts(): Promise<Record<string, Artifact>> {
  const solc = require('solc') as Solc
  const { readFileSync } = await import('node:fs')
  const folder = new URL('contracts/', packageRoot)
  const names = (await readdir(folder)).filter(name => name.endsWith('.sol')).sort()
  const sources: Record<string, { content: string }> = {}
  for (const name of names) sources[name] = { content: await readFile(new URL(name, folder), 'utf8') }

  const input = {
    language: 'Solidity',
    sources,
    settings: {
      evmVersion: 'cancun',
      optimizer: { enabled: true, runs: 200 },
      metadata: { bytecodeHash: 'none', appendCBOR: false },
      outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } }
    }
  }
  const output = JSON.parse(
    solc.compile(JSON.stringify(input), {
      import: path => ({ contents: readFileSync(require.resolve(path), 'utf8') })
    })
  ) as SolcOutput
  const failures = (output.errors ?? []).filter(error => error.severity === 'error')
  if (failures.length > 0) throw new Error(failures.map(error => error.formattedMessage).join('\n'))

  const artifacts: Record<string, Artifact> = {}
  for (const name of names) {
    for (const [contractName, contract] of Object.entries(output.contracts[name] ?? {})) {
      if (!name.startsWith(contractName)) continue
      artifacts[contractName] = {
        contractName,
        compiler: solc.version(),
        abi: contract.abi,
        bytecode: `0x${contract.evm.bytecode.object}`
      }
    }
  }
  return artifacts
}

/** The text of an artifact file: what the script writes and the test compares. */
export function artifactText(artifact: Artifact): string {
  return `${JSON.stringify(artifact, null, 2)}\n`
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  const folder = new URL('artifacts/', packageRoot)
  await mkdir(folder, { recursive: true })
  for (const [name, artifact] of Object.entries(await compileContracts())) {
    await writeFile(new URL(`${name}.json`, folder), artifactText(artifact))
  }
}
