/**
 * Imports that stand although `importGraph.test.ts` forbids them. They are being worked off: these lists only ever get
 * shorter, and what is no longer needed fails the test until it is taken out.
 */

type Knots = Readonly<Record<'server' | 'index', readonly (readonly string[])[]>>

/** Files of each package that import each other. */
export const knotsOfFiles: Knots = {
  server: [],
  index: []
}

/** Folders of each package that import each other. */
export const knotsOfFolders: Knots = {
  server: [],
  index: []
}

/** How often a folder imports one that it lies in. */
export const importsOfParents: Readonly<Record<string, number>> = {}
