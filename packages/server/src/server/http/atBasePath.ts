import { ConfigError } from '../../platform/errors.ts'
import type { HttpHandler } from './exchange.ts'

/** No path that anything is found at. */
const nowhere = ''

/**
 * The same service below a path, for a host that hands requests on with the path as it was sent.
 *
 * @param basePath - checked by `requireBasePath`; `''` leaves everything as it is. What is not below it is not found,
 *   the service's own paths included: a path has one meaning. The path itself without a slash is not below it either:
 *   relative links of a page there would lead elsewhere.
 */
export function atBasePath(handle: HttpHandler, basePath: string): HttpHandler {
  if (basePath === '') return handle
  return request => handle({ ...request, path: below(request.path, basePath) })
}

/** @throws {ConfigError} What is given is neither `''` nor a path without a slash at its end. */
export function requireBasePath(basePath: string): void {
  if (/^(\/[\w.~-]+)*$/.test(basePath)) return
  throw new ConfigError(
    `basePath is ${JSON.stringify(String(basePath).slice(0, 100))}; expected a path such as "/api/chain-data", without a slash at its end`
  )
}

function below(path: string, basePath: string): string {
  return path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : nowhere
}
