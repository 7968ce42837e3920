/** Measured figures by name. */
export type Figures = Readonly<Record<string, number>>

/**
 * Largest value of each figure. Git keeps how they grew.
 *
 * Function counts and generated lines are measured but not limited: the first differ by one or two between runs, the
 * second follow the document.
 */
export const limits: Readonly<Record<'sizes' | 'walks', Figures>> = {
  sizes: {
    'core, lines': 47_500,
    'core, lines of code': 35_600,
    'all, lines': 47_900,
    'all, files': 455,
    'all, files with one importer': 165,
    'all, percent of files from 200 lines': 12.5,
    'evm, lines': 8_000,
    'features, lines': 30,
    'features/certificates, lines': 3_200,
    'features/liveStreams, lines': 1_150,
    'features/liveStreams/settings, lines': 10,
    'features/metadata, lines': 2_550,
    'features/metadata/settings, lines': 70,
    'features/olderHistory, lines': 3_050,
    'features/olderHistory/settings, lines': 30,
    'features/operatorPages, lines': 1_300,
    'features/operatorPages/settings, lines': 20,
    'features/solanaHistory, lines': 2_350,
    'index.ts, lines': 50,
    'model, lines': 920,
    'nodes, lines': 3_700,
    'platform, lines': 1_800,
    'server/check, lines': 1_330,
    'server/cli, lines': 2_700,
    'server/config, lines': 1_300,
    'server/feature, lines': 230,
    'server/guards, lines': 270,
    'server/http, lines': 2_000,
    'server/indexer, lines': 3_650,
    'server/limits, lines': 950,
    'server/methods, lines': 2_100,
    'server/metrics, lines': 250,
    'server/projects, lines': 1_100,
    'server/rpc, lines': 1_100,
    'server/start, lines': 950,
    'server/threads, lines': 120,
    'solana, lines': 2_200,
    'index: all, lines': 15_600,
    'index: all, files': 145,
    'index: all, files with one importer': 34,
    'index: all, percent of files from 200 lines': 14,
    'index: caches, lines': 850,
    'index: model, lines': 600,
    'index: own files, lines': 600,
    'index: platform, lines': 160,
    'index: port, lines': 550,
    'index: postgres, lines': 2_400,
    'index: record, lines': 2_450,
    'index: runs, lines': 2_500,
    'index: sqlite, lines': 1_500,
    'index: store, lines': 4_100
  },
  walks: {
    'history page, files': 77,
    'history page, lines': 12_700,
    'holdings, native only, files': 84,
    'holdings, native only, lines': 13_300,
    'holdings, tokens and NFTs, files': 129,
    'holdings, tokens and NFTs, lines': 18_600,
    'certificate, files': 111,
    'certificate, lines': 16_900,
    'rpc.discover, files': 35,
    'rpc.discover, lines': 6_450,
    'block, files': 112,
    'block, lines': 15_750
  }
}

/** Lines of the longest function: a reader should hold it in the head. */
export const maxFunctionLines = 120

const isLimited = (name: string) => !/, (functions|of these lines generated)$/.test(name)

/** Returns a sentence for each figure above its limit, without a limit, or no longer measured. */
export function findExcesses(figures: Figures, limits: Figures): string[] {
  const excesses = Object.entries(figures).flatMap(([name, value]) => {
    const limit = limits[name]
    if (limit === undefined) return isLimited(name) ? [`"${name}" has no limit`] : []
    return value > limit ? [`"${name}" is ${value}, limit ${limit}`] : []
  })
  const gone = Object.keys(limits).filter(name => figures[name] === undefined)
  return [...excesses, ...gone.map(name => `"${name}" has a limit but is not measured`)]
}
