import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { accountAt, chainId, datasetFigures, prepareDataset, whale } from './dataset.ts'
import { measureOverload } from './measureOverload.ts'
import { type Ask, measurePages } from './measurePages.ts'
import { measureStreams } from './measureStreams.ts'
import type { Listening, LoadFigures, Usage } from './messages.ts'
import { type Child, canPin, startChild } from './startChild.ts'

/** So many different accounts are asked for, one after the other. */
const accountsAsked = 2_000
/** So many are watched: their pages fit into the memory that is kept for pages. */
const accountsWatched = 200

/** Measures the history over HTTP; README.md beside this file says what is timed. */
export async function benchHttp(print: (line: string) => void): Promise<object> {
  const folder = await prepareDataset(print)
  const pages = Array.from({ length: accountsAsked }, (_, index) =>
    requestOf(accountAt(index), { limit: 100 })
  )
  const temporary = mkdtempSync(join(tmpdir(), 'chain-data-bench-'))
  const pagesFile = join(temporary, 'pages.json')
  writeFileSync(pagesFile, JSON.stringify(pages))
  const server = startChild('serveHistory.ts', [folder], 0)
  const generator = startChild('generateLoad.ts', [], 1)
  const children = [server, generator]
  try {
    const { url } = (await server.first) as Listening
    const bare = startChild('serveRecorded.ts', [url, pagesFile], 0)
    children.push(bare)
    const { url: bareUrl } = (await bare.first) as Listening
    print(`  ${accountsAsked} accounts, one after the other:`)
    const compared = await measurePages(
      askOf(generator, server, url, pages),
      askOf(generator, bare, bareUrl, pages),
      print
    )
    print(`  the same ${accountsWatched} accounts again and again:`)
    const watched = await measurePages(
      askOf(generator, server, url, pages.slice(0, accountsWatched)),
      askOf(generator, bare, bareUrl, pages.slice(0, accountsWatched)),
      print
    )
    const overload = await measureOverload(askOf(generator, server, url, pages), print)
    const whole = requestOf(whale)
    const streams = await measureStreams({
      url,
      server,
      generator,
      pages,
      whole,
      rows: datasetFigures.ofWhale,
      print
    })
    return { dataset: datasetFigures, pinned: canPin, pages: compared, watched, overload, streams }
  } finally {
    await Promise.all(children.map(child => child.stop()))
    rmSync(temporary, { recursive: true, force: true })
  }
}

/** A request for the history of an account, as it is sent. */
function requestOf(address: string, page?: { readonly limit: number }): string {
  const params = page === undefined ? [address] : [address, page]
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'svc_getTransactionsByAddress', chainId, params })
}

/** Gives a server the load that an order says. */
function askOf(generator: Child, server: Child, url: string, bodies: readonly string[]): Ask {
  return async order => {
    const before = await server.ask<Usage>('usage')
    const figures = await generator.ask<LoadFigures>({
      url,
      bodies,
      arrivals: { kind: 'closed' },
      connections: 32,
      warmUpMs: 1_500,
      measureMs: 4_000,
      ...order
    })
    const after = await server.ask<Usage>('usage')
    return { ...figures, cpuMicrosPerAnswer: ((after.cpuMs - before.cpuMs) * 1000) / figures.answers }
  }
}
