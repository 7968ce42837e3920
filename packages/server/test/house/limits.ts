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
    'all, lines': 47_000,
    'all, files': 412,
    'all, files with one importer': 140,
    'all, percent of files from 200 lines': 12.5,
    'audit, lines': 2_850,
    'evm, lines': 10_650,
    'index.ts, lines': 100,
    'model, lines': 900,
    'nodes, lines': 3_900,
    'platform, lines': 1_900,
    'server/check, lines': 1_300,
    'server/cli, lines': 2_700,
    'server/config, lines': 1_400,
    'server/http, lines': 4_000,
    'server/indexer, lines': 3_650,
    'server/live, lines': 950,
    'server/metadata, lines': 2_600,
    'server/methods, lines': 2_750,
    'server/metrics, lines': 700,
    'server/projects, lines': 1_100,
    'server/rpc, lines': 1_100,
    'server/start, lines': 950,
    'server/threads, lines': 120,
    'solana, lines': 4_100,
    'index: all, lines': 16_800,
    'index: all, files': 145,
    'index: all, files with one importer': 37,
    'index: all, percent of files from 200 lines': 15.5,
    'index: caches, lines': 900,
    'index: model, lines': 600,
    'index: own files, lines': 600,
    'index: platform, lines': 150,
    'index: port, lines': 550,
    'index: postgres, lines': 2_300,
    'index: record, lines': 2_850,
    'index: runs, lines': 2_500,
    'index: sqlite, lines': 1_500,
    'index: store, lines': 4_600
  },
  walks: {
    'history page, files': 87,
    'history page, lines': 13_450,
    'holdings, native only, files': 88,
    'holdings, native only, lines': 13_050,
    'holdings, tokens and NFTs, files': 128,
    'holdings, tokens and NFTs, lines': 18_150,
    'certificate, files': 116,
    'certificate, lines': 17_050,
    'rpc.discover, files': 36,
    'rpc.discover, lines': 6_300,
    'block, files': 114,
    'block, lines': 15_750
  }
}

/** Lines of the longest function: a reader should hold it in the head. */
export const maxFunctionLines = 120

/** Functions that are longer, by `<path>: <name>`, and why. */
export const longFunctions: readonly { readonly why: string; readonly functions: readonly string[] }[] = [
  {
    why: 'Parts of their own would make what a page loads larger than the limits in packages/client/bench/checkSize.ts',
    functions: [
      'packages/client/src/history/createLiveHistory.ts: createLiveHistory',
      'packages/client/src/sendCall.ts: sendCall'
    ]
  },
  {
    why: 'Not divided yet',
    functions: [
      'packages/index/src/caches/createDeepHistoryCache.ts: createDeepHistoryCache',
      'packages/index/src/caches/createMetadataCache.ts: createMetadataCache',
      'packages/index/src/store/schema.ts: headTables',
      'packages/server/src/features/certificates/svc_verifyHistory.ts: createVerifyHistory',
      'packages/server/src/features/metadata/fetchQueue.ts: createFetchQueue',
      'packages/server/src/features/metadata/metadataService.ts: createMetadataService',
      'packages/server/src/features/olderHistory/below/createAccountReader.ts: createAccountReader',
      'packages/server/src/features/olderHistory/below/createDeepHistory.ts: createDeepHistory',
      'packages/server/src/features/solanaHistory/history/history.ts: createSolanaHistory',
      'packages/server/src/features/solanaHistory/history/historyRpc.ts: createSolanaHistoryRpc',
      'packages/server/src/features/solanaHistory/history/readHistory.ts: readHistory',
      'packages/server/src/features/solanaHistory/history/transactionReader.ts: createTransactionReader'
    ]
  }
]

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
