import { readFile } from 'node:fs/promises'
import { extname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ConfigError } from '../../platform/errors.ts'
import { scrubText } from '../../platform/scrubText.ts'
import { isRecord } from './isRecord.ts'

const moduleExtensions = new Set(['.js', '.mjs', '.cjs', '.ts', '.mts', '.cts'])

/**
 * The configuration object of a file: JSON, or the default export of a module.
 *
 * @param version - a module is loaded once, unless it is asked for in another version. What it imports, and CommonJS
 *   modules, stay as they were.
 * @throws {ConfigError} it cannot be read; the message quotes nothing of what is in it.
 */
export async function readConfigFile(file: string, version?: string): Promise<unknown> {
  const path = resolve(file)
  if (moduleExtensions.has(extname(path))) {
    const loaded: unknown = await import(
      `${pathToFileURL(path).href}${version === undefined ? '' : `?${version}`}`
    ).catch((error: unknown) => {
      throw new ConfigError(
        `Config file "${file}" could not be loaded as a module: ${textOf(error)}. ` +
          'Expected a JavaScript or TypeScript module (TypeScript needs Node 22.18 or newer) with a default export.'
      )
    })
    const exported = isRecord(loaded) ? loaded.default : undefined
    if (exported === undefined) {
      throw new ConfigError(`Config file "${file}" has no default export; expected the configuration object.`)
    }
    return exported
  }
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new ConfigError(
      `Config file "${file}" could not be read: ${textOf(error)}. Expected the path of a JSON file or a module.`
    )
  })
  return parseJson(text, `Config file "${file}"`)
}

function textOf(error: unknown): string {
  return scrubText(error instanceof Error ? error.message : String(error), 300)
}

/**
 * The value of a JSON text; a byte order mark before it is left out.
 *
 * @param name - what the text is, as it begins a sentence: `Config file "x.json"`.
 * @throws {ConfigError} it is no JSON; the message tells the place and quotes nothing of what may be a key.
 */
export function parseJson(text: string, name: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    // V8's message quotes the text around the mistake: keep only the place.
    const message = error instanceof Error ? error.message : ''
    const place = /at position \d+( \(line \d+ column \d+\))?/.exec(message)?.[0] ?? 'before its end'
    throw new ConfigError(`${name} is not JSON: unexpected text ${place}. Expected one JSON object.`)
  }
}
