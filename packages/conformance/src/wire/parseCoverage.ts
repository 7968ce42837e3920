/** What an answer covers of one chain. */
export interface Coverage {
  readonly chainId: number
  readonly parameters: Readonly<Record<string, string | number>>
}

const parameterForm = /^([a-z*][a-z0-9_.*-]*)(?:=(?:(-?\d{1,15})|([A-Za-z*][A-Za-z0-9!#$%&'*+.^_`|~:/-]*)))?$/

/**
 * Reads the coverage header: a list of integers with parameters.
 *
 * @returns `undefined` for anything else.
 * @see RFC 9651
 */
export function parseCoverage(text: string): readonly Coverage[] | undefined {
  const items = text.split(',').map(item => parseItem(item.trim()))
  return items.every(item => item !== undefined) ? items : undefined
}

function parseItem(text: string): Coverage | undefined {
  const [chain = '', ...rest] = text.split(';').map(part => part.trim())
  if (!/^\d{1,15}$/.test(chain)) return undefined
  const parameters: Record<string, string | number> = {}
  for (const part of rest) {
    const [, name, digits, token] = parameterForm.exec(part) ?? []
    if (name === undefined) return undefined
    parameters[name] = digits === undefined ? (token ?? '?1') : Number(digits)
  }
  return { chainId: Number(chain), parameters }
}
