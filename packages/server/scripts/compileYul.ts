import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

/** A Yul object has no pragma: its compiler is pinned here. */
const compilerVersion = '0.8.37'
/** The first version with the shifts that the sources need; the compiler refuses every later instruction. */
const evmVersion = 'constantinople'

interface Solc {
  version(): string
  compile(input: string): string
}

interface SolcOutput {
  readonly errors?: readonly { readonly severity: string; readonly formattedMessage: string }[]
  readonly contracts?: Readonly<
    Record<string, Readonly<Record<string, { evm: { bytecode: { object: string } } }>>>
  >
}

/**
 * Compiles a Yul object.
 * @param name - of the object.
 * @returns its creation code, hex without 0x, and the whole version of the compiler.
 * @throws {Error} another compiler is installed, or the source does not compile; with the compiler's own message.
 */
export function compileYul(
  source: URL,
  name: string
): { readonly bytecode: string; readonly compiler: string } {
  const file = fileURLToPath(source)
  const solc = createRequire(import.meta.url)('solc') as Solc
  if (!solc.version().startsWith(`${compilerVersion}+`)) {
    throw new Error(`solc is ${solc.version()}; expected ${compilerVersion}`)
  }
  const input = {
    language: 'Yul',
    sources: { [name]: { content: readFileSync(file, 'utf8') } },
    settings: {
      evmVersion,
      optimizer: { enabled: true },
      outputSelection: { '*': { '*': ['evm.bytecode.object'] } }
    }
  }
  const output = JSON.parse(solc.compile(JSON.stringify(input))) as SolcOutput
  const failures = (output.errors ?? []).filter(({ severity }) => severity === 'error')
  if (failures.length > 0)
    throw new Error(failures.map(({ formattedMessage }) => formattedMessage).join('\n'))
  const bytecode = output.contracts?.[name]?.[name]?.evm.bytecode.object
  if (bytecode === undefined) throw new Error(`${file} has no object of the name ${name}`)
  return { bytecode, compiler: solc.version() }
}
