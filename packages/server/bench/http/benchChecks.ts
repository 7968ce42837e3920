import { askOf, requestOf } from './benchHttp.ts'
import { accountAt, datasetFigures, prepareDataset } from './dataset.ts'
import type { Listening } from './messages.ts'
import { formatSpread, spread } from './spread.ts'
import { canPin, startChild } from './startChild.ts'

const rounds = 6
const accountsAsked = 2_000

/** Measures pages with the checks of stored records and rows, and without them, in turn. */
export async function benchChecks(print: (line: string) => void): Promise<object> {
  const folder = await prepareDataset(print)
  const pages = Array.from({ length: accountsAsked }, (_, index) =>
    requestOf(accountAt(index), { limit: 100 })
  )
  const generator = startChild('generateLoad.ts', [], 1)
  const checked = startChild('serveHistory.ts', [folder], 0)
  const unchecked = startChild('serveUnchecked.ts', [folder], 0)
  try {
    const [a, b] = [(await checked.first) as Listening, (await unchecked.first) as Listening]
    const askChecked = askOf(generator, checked, a.url, pages)
    const askUnchecked = askOf(generator, unchecked, b.url, pages)
    // Until all of their code is compiled: the time of that would count.
    for (const ask of [askChecked, askUnchecked]) await ask()
    const cpuMicros: { readonly checked: number; readonly unchecked: number }[] = []
    for (let round = 0; round < rounds; round++) {
      // What comes second in one round comes first in the next.
      const first = round % 2 === 0 ? await askChecked() : undefined
      const without = (await askUnchecked()).cpuMicrosPerAnswer
      cpuMicros.push({ checked: (first ?? (await askChecked())).cpuMicrosPerAnswer, unchecked: without })
    }
    const ratios = spread(cpuMicros.map(each => each.checked / each.unchecked))
    const of = (name: 'checked' | 'unchecked') => formatSpread(spread(cpuMicros.map(each => each[name])))
    print(`  processor time per page: ${of('checked')} us with checks, ${of('unchecked')} us without`)
    print(`  ratio ${formatSpread(ratios, 3)} (goal: at most 1.03)`)
    return { dataset: datasetFigures, pinned: canPin, cpuMicros, ratios }
  } finally {
    await Promise.all([generator, checked, unchecked].map(child => child.stop()))
  }
}
