const emptyRoot = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'

/** Whether a header's root is the one of a trie with nothing in it. */
export function isEmptyRoot(root: unknown): boolean {
  return typeof root === 'string' && root.toLowerCase() === emptyRoot
}

/** Whether a node wrote zeros where it has no hash. */
export function isZeroHash(hash: unknown): boolean {
  return typeof hash === 'string' && /^0x0*$/i.test(hash)
}
