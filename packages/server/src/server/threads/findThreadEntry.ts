import { existsSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { ConfigError } from '../../platform/errors.ts'

/**
 * Finds the file of a worker thread. In the sources it lies beside the module that starts it. A bundler may put this module into a
 * chunk or an entry at the top of `dist`, or one folder below, while the thread stays an entry of its own: `dist/<path>.js`.
 *
 * Threads that run from the sources: Node strips their types with WebAssembly, and V8 (Node 24.21) may end the process
 * when several threads compile its often made calls to JavaScript anew. So many calls are never reached.
 *
 * @param starter - `import.meta.url` of the module that starts it.
 * @param entry - the file, where the host has named it.
 * @throws {ConfigError} when there is no such file.
 */
export function findThreadEntry(
  path: `indexer/${'indexer' | 'writer' | 'decoder'}Thread` | 'live/replayThread',
  starter: string,
  entry?: URL
): URL {
  const urls = [
    new URL(`${basename(path)}.ts`, starter),
    ...[`./${path}.js`, `../${path}.js`].map(place => new URL(place, import.meta.url))
  ]
  const found = entry ?? urls.find(url => existsSync(fileURLToPath(url)))
  if (found === undefined) {
    throw new ConfigError(`the file of a thread (${path}) is missing; expected it in the package`)
  }
  if (found.pathname.endsWith('.ts')) setFlagsFromString('--wasm-wrapper-tiering-budget=2147483647')
  return found
}
