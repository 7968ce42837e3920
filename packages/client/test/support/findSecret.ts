import { format, inspect } from 'node:util'
import { projectId, serverKey, token } from './credentials.ts'

const secrets = [serverKey, token, JSON.stringify(serverKey).slice(1, -1), encodeURIComponent(serverKey)]
secrets.push(`${projectId}:`, inspect(serverKey).slice(1, -1))

/**
 * Looks for the credentials in everything that a log, a crash report or a curious developer would look at.
 *
 * @returns Where they were found; `[]` when nowhere.
 */
export function findSecret(value: unknown): string[] {
  const views: Record<string, () => string> = {
    'console.log': () => format(value),
    'console.log %o': () => format('%o', value),
    'inspect of everything': () =>
      inspect(value, {
        depth: Number.POSITIVE_INFINITY,
        showHidden: true,
        getters: true,
        maxStringLength: null,
        maxArrayLength: null
      }),
    'JSON.stringify': () => JSON.stringify(value) ?? '',
    'String()': () => String(value),
    'a walk over all properties': () => walk(value).join('\n')
  }
  return Object.entries(views).flatMap(([name, view]) => {
    const text = view()
    return secrets.some(secret => text.includes(secret)) ? [name] : []
  })
}

/** Every text that can be reached, through hidden and symbol properties, getters and prototypes too. */
function walk(value: unknown, seen = new Set<unknown>()): string[] {
  if (typeof value === 'string') return [value]
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value))
    return []
  seen.add(value)
  const found: string[] = typeof value === 'function' ? [Function.prototype.toString.call(value)] : []
  for (const key of Reflect.ownKeys(value)) {
    found.push(String(key))
    try {
      found.push(...walk((value as Record<PropertyKey, unknown>)[key], seen))
    } catch {
      // A getter that wants another `this`.
    }
  }
  return [...found, ...walk(Object.getPrototypeOf(value), seen)]
}
