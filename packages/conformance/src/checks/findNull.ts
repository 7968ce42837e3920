/** Members whose content is somebody else's JSON, passed on as it is. */
const foreign = new Set(['data', 'uriData'])

/**
 * JSON Pointer to the first null outside third-party JSON.
 *
 * @returns `undefined` where there is none.
 */
export function findNull(value: unknown, path = '', inForeign = false): string | undefined {
  if (value === null) return path === '' ? '/' : path
  if (typeof value !== 'object' || inForeign) return undefined
  for (const [key, member] of Object.entries(value)) {
    const isForeign = foreign.has(key) && isThirdParty(value)
    const found = findNull(member, `${path}/${key}`, isForeign)
    if (found !== undefined) return found
  }
  return undefined
}

/** `data` of an EVM NFT and `uriData` of a Solana one; `metadata.data` of Solana is ours. */
function isThirdParty(holder: object): boolean {
  return 'tokenURI' in holder || 'uriData' in holder
}
