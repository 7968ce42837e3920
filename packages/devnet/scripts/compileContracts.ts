import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { argv } from 'node:process'
import { fileURLToPath } from 'node:url'

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
const packageRoot = new URL('..', import.meta.url)

/** Each folder below `contracts/` with the EVM it is compiled for. */
const folders = [
  { folder: '', evmVersion: 'cancun' },
  // These also run on nodes that do not know PUSH0 yet.
  { folder: 'hostile/', evmVersion: 'london' }
] as const

/**
 * Compiles every contract of `contracts/` with pinned settings.
 *
 * The metadata hash is left out of the bytecode, so that comments and paths cannot change an artifact.
 *
 * @returns Artifacts by path below `artifacts/`, without its end: `DevToken`, `hostile/ScriptedToken`. Only contracts
 *   of this package (not imported ones) that can be deployed.
 * @throws With the compiler's own message when a source does not compile.
 */
export async function compileContracts(): Promise<Record<string, Artifact>> {
  const artifacts: Record<string, Artifact> = {}
  for (const { folder, evmVersion } of folders)
    Object.assign(artifacts, await compileFolder(folder, evmVersion))
  return artifacts
}

async function compileFolder(folder: string, evmVersion: string): Promise<Record<string, Artifact>> {
  const solc = require('solc') as Solc
  const { readFileSync } = await import('node:fs')
  const place = new URL(`contracts/${folder}`, packageRoot)
  const names = (await readdir(place)).filter(name => name.endsWith('.sol')).sort()
  const sources: Record<string, { content: string }> = {}
  for (const name of names) sources[name] = { content: await readFile(new URL(name, place), 'utf8') }

  const input = {
    language: 'Solidity',
    sources,
    settings: {
      evmVersion,
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
      const bytecode = contract.evm.bytecode.object
      // An abstract contract has none.
      if (!name.startsWith(contractName) || bytecode === '') continue
      artifacts[`${folder}${contractName}`] = {
        contractName,
        compiler: solc.version(),
        abi: contract.abi,
        bytecode: `0x${bytecode}`
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
  await mkdir(new URL('hostile/', folder), { recursive: true })
  for (const [name, artifact] of Object.entries(await compileContracts())) {
    await writeFile(new URL(`${name}.json`, folder), artifactText(artifact))
  }
}
