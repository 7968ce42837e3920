/**
 * As `serveHistory.ts`, without the checks of what is read from the store: their lines are replaced as the modules are loaded.
 * A line that is not there any more ends the benchmark.
 */
import { registerHooks } from 'node:module'

/** Ends of URLs of modules, and what is replaced in each. */
const replaced: Readonly<Record<string, readonly (readonly [checked: string, unchecked: string])[]>> = {
  '/index/record/recordSums.ts': [
    ['if (at <= start || sumOf(chainId, id, bytes, start, at) !== stored)', 'if (at <= start)']
  ],
  '/index/shared/rowSums.ts': [['if (row.sum === sumOfRow(chainId, table, row)) return row', 'return row']],
  '/index/sqlite/countedParts.ts': [['if (sumOfRows(shape, rows) !== sum) {', 'if (rows.count < 0) {']],
  '/index/sqlite/epochList.ts': [['if (sum !== null && crc32(text) !== sum) {', 'if (text === undefined) {']],
  '/index/sqlite/linkedRows.ts': [
    ['if (epoch.proof === proofs.rows) check(', 'if (epoch.proof < 0) check('],
    // Neither are the rows on both sides read.
    ['(?2, ?3) ORDER BY', '(?2, ?3) AND 0 ORDER BY'],
    ['< ?2 ORDER BY', '< ?2 AND 0 ORDER BY']
  ]
}

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context)
    const found = Object.entries(replaced).find(([end]) => url.endsWith(end))
    if (found === undefined) return loaded
    let source = String(loaded.source)
    for (const [checked, unchecked] of found[1]) {
      if (!source.includes(checked)) throw new Error(`${found[0]} has no ${checked}`)
      source = source.replace(checked, unchecked)
    }
    return { ...loaded, source }
  }
})
await import('./serveHistory.ts')
