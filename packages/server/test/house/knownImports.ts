/**
 * Imports that stand although `importGraph.test.ts` forbids them. They are being worked off: these lists only ever get
 * shorter, and what is no longer needed fails the test until it is taken out.
 */

/** Files that import each other. */
export const knotsOfFiles: readonly (readonly string[])[] = []

/** Folders that import each other. */
export const knotsOfFolders: readonly (readonly string[])[] = []

/** How often a folder imports one that it lies in. */
export const importsOfParents: Readonly<Record<string, number>> = {}
