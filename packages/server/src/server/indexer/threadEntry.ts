import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { ConfigError } from '../../platform/errors.ts'

/**
 * The file of a worker thread of this folder. In the sources it lies beside this one. A bundler may put this module into a
 * chunk or an entry at the top of `dist`, or one folder below, while the thread stays an entry of its own:
 * `dist/indexer/<name>.js`.
 * @throws {ConfigError} when there is no such file.
 */
export function findThreadEntry(name: string): URL {
  const places = [`./${name}.ts`, `./${name}.js`, `./indexer/${name}.js`, `../indexer/${name}.js`]
  for (const place of places) {
    const url = new URL(place, import.meta.url)
    if (existsSync(fileURLToPath(url))) return url
  }
  throw new ConfigError(`the file of a thread (indexer/${name}) is missing; expected it in the package`)
}

/**
 * For threads that run from the sources: Node strips their types with WebAssembly, and V8 (Node 24.21) may end the
 * process when several threads compile its often made calls to JavaScript anew. So many calls are never reached.
 */
export function keepWrappers(entry: URL): void {
  if (entry.pathname.endsWith('.ts')) setFlagsFromString('--wasm-wrapper-tiering-budget=2147483647')
}
