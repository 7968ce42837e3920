import type { NftView } from './HoldingsView.ts'

/** Lists of strangers are cut, and what is cut off is named. */
const mostAttributes = 50

/** What a page can say of a metadata object, which may hold anything. Only text, numbers and truth values are taken. */
export function readMetadata(
  data: Readonly<Record<string, unknown>>
): Pick<NftView, 'description' | 'attributes' | 'links'> {
  const { description, attributes, external_url: site, animation_url: animation } = data
  const links: [string, string][] = []
  if (typeof site === 'string' && site !== '') links.push(['Website', site])
  if (typeof animation === 'string' && animation !== '') links.push(['Animation', animation])
  return {
    description: typeof description === 'string' ? description : '',
    attributes: readAttributes(attributes),
    links
  }
}

function readAttributes(attributes: unknown): [name: string, value: string][] {
  if (!Array.isArray(attributes)) return []
  const pairs = attributes.slice(0, mostAttributes).flatMap((entry: unknown): [string, string][] => {
    if (typeof entry !== 'object' || entry === null) return []
    const { trait_type: name, value } = entry as Record<string, unknown>
    const text = plain(value)
    return text === undefined ? [] : [[plain(name) ?? 'Property', text]]
  })
  const left = attributes.length - mostAttributes
  return left > 0 ? [...pairs, ['More', `${left} that are not shown`]] : pairs
}

function plain(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined
}
