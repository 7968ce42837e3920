import { registerHooks } from 'node:module'
import { datasetFigures, prepareDataset } from './dataset.ts'
import { openPages } from './readPages.ts'
import { formatSpread, spread } from './spread.ts'

const rounds = 200
const pagesPerTurn = 20
const accountsAsked = 2_000
/** Marks the URLs of a second copy of the modules. */
const mark = '?unchecked'

/** Checks of what is read from the store, by ends of URLs of modules, and what is in their place in the second copy. */
const replaced: Readonly<Record<string, readonly (readonly [checked: string, unchecked: string])[]>> = {
  '/index/src/record/recordSums.ts': [
    ['if (at > start && sumOf(chainId, id, bytes, start, at) === stored) return', 'if (at > start) return']
  ],
  '/index/src/store/rowSums.ts': [
    ['if (row.sum === sumOfRow(chainId, table, row)) return row', 'return row']
  ],
  '/index/src/runs/chunk.ts': [
    [
      'if (end < 2 || crc32(bytes.subarray(0, end), seedOf(chainId, position)) !== checksumOf(bytes)) {',
      'if (end < 2) {'
    ]
  ]
}

/**
 * Measures reading pages with the checks of stored records and rows, and without them: two copies of the same modules in one
 * process, in short turns. A line that is not there any more ends the benchmark.
 */
export async function benchChecks(print: (line: string) => void): Promise<object> {
  const folder = await prepareDataset(print)
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const resolved = nextResolve(specifier, context)
      const isCopied = context.parentURL?.endsWith(mark) && resolved.url.startsWith('file:')
      return isCopied && !resolved.url.endsWith(mark) ? { ...resolved, url: resolved.url + mark } : resolved
    },
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context)
      const found = Object.entries(replaced).find(([end]) => url.endsWith(end + mark))
      if (found === undefined) return loaded
      let source = String(loaded.source)
      for (const [checked, unchecked] of found[1]) {
        if (!source.includes(checked)) throw new Error(`${found[0]} has no ${checked}`)
        source = source.replace(checked, unchecked)
      }
      return { ...loaded, source }
    }
  })
  const copy: typeof import('./readPages.ts') = await import(`./readPages.ts${mark}`)
  const [checked, unchecked] = [await openPages(folder), await copy.openPages(folder)]
  let cpuMicros: { readonly checked: number; readonly unchecked: number }[] = []
  let next = 0
  const measure = async ({ read }: typeof checked) => {
    const before = process.cpuUsage()
    for (let page = 0; page < pagesPerTurn; page++) await read((next + page) % accountsAsked)
    const { user, system } = process.cpuUsage(before)
    return user + system
  }
  // All accounts once before, until the code is compiled: the time of that would count.
  for (let round = -accountsAsked / pagesPerTurn; round < rounds; round++) {
    // Neither of the two profits from coming second.
    const turns = [await measure(checked), await measure(unchecked)]
    turns.push(await measure(unchecked), await measure(checked))
    const [first = 0, second = 0, third = 0, fourth = 0] = turns.map(micros => micros / pagesPerTurn / 2)
    if (round >= 0) cpuMicros = [...cpuMicros, { checked: first + fourth, unchecked: second + third }]
    next += pagesPerTurn
  }
  const ratios = spread(cpuMicros.map(each => each.checked / each.unchecked))
  const of = (name: 'checked' | 'unchecked') => formatSpread(spread(cpuMicros.map(each => each[name])))
  print(`  processor time per page: ${of('checked')} us with checks, ${of('unchecked')} us without`)
  print(`  ratio ${formatSpread(ratios, 3)} (goal: at most 1.03)`)
  await Promise.all([checked.close(), unchecked.close()])
  return { dataset: datasetFigures, cpuMicros, ratios }
}
