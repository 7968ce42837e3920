import { checksum } from '../wire/checksum.ts'

const addressForm = /^0x[0-9a-fA-F]{40}$/

/** Members that hold bytes or foreign text, which may look like an address. */
const skipped = new Set(['data', 'tokenURI', 'name', 'symbol', 'image', 'input'])

/**
 * The first EVM address in an answer whose letters are not those of its checksum (EIP-55).
 *
 * @returns JSON Pointer and address; `undefined` where all are right.
 */
export function findUnchecked(value: unknown, path = ''): { path: string; address: string } | undefined {
  if (typeof value === 'string') {
    return addressForm.test(value) && checksum(value) !== value ? { path, address: value } : undefined
  }
  if (typeof value !== 'object' || value === null) return undefined
  for (const [key, member] of Object.entries(value)) {
    const found = skipped.has(key) ? undefined : findUnchecked(member, `${path}/${key}`)
    if (found !== undefined) return found
  }
  return undefined
}
