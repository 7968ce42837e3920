import { fileURLToPath } from 'node:url'
import { type BuildResult, build } from 'esbuild'

/** What is bundled, and for whom. */
export interface BundleOptions {
  /** Source of the entry module; its relative imports start from this folder. */
  readonly program: string
  readonly format: 'esm' | 'iife'
  /** Name of the global that an `iife` leaves its exports in. */
  readonly globalName?: string
  /** Conditions of package exports, as the bundlers of the runtime set them. */
  readonly conditions: readonly string[]
  /** Fields of package.json that replace modules, as the bundlers of the runtime read them. */
  readonly mainFields?: readonly string[]
  /** Packages that the program's user brings along. */
  readonly external?: readonly string[]
}

/** The conditions under which the sources of this repository are used as they are. */
export const sourceConditions = ['@chain-data/source']

/**
 * One file of a program and everything it imports, for runtimes that are not Node.
 *
 * @throws A module of Node is imported: `platform: 'browser'` resolves none.
 */
export function bundle(
  options: BundleOptions
): Promise<BuildResult<{ write: false; metafile: true; bundle: true }>> {
  const { program, format, globalName, conditions, mainFields = ['browser', 'module', 'main'] } = options
  const { external = [] } = options
  return build({
    stdin: { contents: program, resolveDir: fileURLToPath(new URL('./', import.meta.url)), loader: 'ts' },
    bundle: true,
    write: false,
    metafile: true,
    format,
    ...(globalName === undefined ? {} : { globalName }),
    platform: 'browser',
    conditions: [...conditions],
    mainFields: [...mainFields],
    external: [...external],
    target: 'es2022',
    logLevel: 'silent'
  })
}
