import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { createStatusPages } from '../../src/features/operatorPages/statusPage/createStatusPages.ts'
import type { StatusReport } from '../../src/features/operatorPages/statusPage/StatusReport.ts'
import { chainWith, reportOf, states } from './reports.ts'

/** The page over one report, as text without markup, and as it is. */
async function pageOf(report: StatusReport) {
  const page = await createStatusPages({ report: () => report }).get('/')?.()
  if (typeof page?.body !== 'string') throw new Error('the page is no text')
  return { headers: page.headers, markup: page.body, ...readPage(page.body) }
}

function readPage(markup: string) {
  const withoutAssets = markup.replace(/<(style|script)>.*?<\/\1>/gs, '')
  const textOf = (part = '') => decode(part.replace(/<[^>]*>/g, ''))
  const heading = textOf(/<h1>(.*?)<\/h1>/s.exec(withoutAssets)?.[1])
  const main = /<main[^>]*>(.*)<\/main>/s.exec(withoutAssets)?.[1] ?? ''
  return { heading, text: textOf(main), tags: withoutAssets.match(/<[a-z!][^>]*>/g) ?? [] }
}

function decode(text: string): string {
  return text.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
}

describe('the line on top says', () => {
  test.each<[keyof typeof states, string, string[]]>([
    ['inSync', 'All 2 chains are in sync, Solana cluster 101 answers', ['As of 14:32 UTC', 'Up for 2 d 4 h']],
    ['indexing', 'Chain 1 is still indexing: 43.3 %, about 12 min left', ['15,298 a second']],
    [
      'stalled',
      'Polygon (137) has stalled, since 14:19 UTC',
      [
        '3 blocks at 13:08',
        '812 pending, seen 12 min ago',
        'node 1 was not reachable',
        '1 of 2 chains in order',
        '0 of 2 in service'
      ]
    ],
    ['degraded', 'Chain 1 is degraded: final blocks were replaced', ['Degraded']],
    ['byAnother', 'Chain 1 is in sync', ['another server on the same store', 'not known']],
    [
      'littleSpace',
      'Chain 1 is in sync, and little space is left on its disk: 3 GiB',
      ['Little space', 'Free on disk']
    ],
    ['onlyAnswers', 'Chain 1 is in sync', ['another server; this one only answers']],
    ['notHeardOf', 'Chain 1 waits for a word of the server that indexes it', ['only answers']],
    ['goingBack', 'Chain 1 was reorganised and goes back to block 19,426,560', ['Going back']],
    ['waiting', 'Chain 1 waits for its node', ['not known']],
    ['behind', 'Chain 1 is catching up: 240 blocks behind', ['240 blocks, about 48 min']],
    [
      'closing',
      'The server is shutting down: answers under way are finished, new calls are refused',
      ['Under way']
    ],
    ['solanaOnly', 'Solana cluster 101 answers', ['301,224,518', 'none: read live']],
    ['solanaSilent', 'Solana cluster 101 does not answer', ['no node answered within 5 s']]
  ])('in the state %s: %s', async (state, line, also) => {
    const { heading, text } = await pageOf(states[state] as StatusReport)
    expect(heading).toBe(line)
    for (const words of also) expect(text).toContain(words)
  })

  test('what is worst, whatever order the chains are in', async () => {
    const indexing = chainWith({ chainId: 5, ready: false, phase: 'backfilling', percent: 10 })
    const stalled = chainWith({ chainId: 7, phase: 'stalled', problem: 'no node answers' })
    for (const chains of [
      [indexing, stalled],
      [stalled, indexing]
    ]) {
      expect((await pageOf(reportOf(chains))).heading).toBe('Chain 7 has stalled')
    }
  })

  test('where many chains are served, which of them are not in order, with links to them', async () => {
    const chains = Array.from({ length: 40 }, (_, place) => chainWith({ chainId: place + 1 }))
    chains[11] = chainWith({ chainId: 12, lagBlocks: 240 })
    chains[30] = chainWith({ chainId: 31, phase: 'stalled', problem: 'no node answers' })
    const silent = {
      chainId: 101,
      phase: 'stalled',
      ready: false,
      degraded: true,
      problem: 'silent'
    } as const
    const { heading, markup, text } = await pageOf(reportOf(chains, [silent]))
    const body = markup.slice(markup.indexOf('<body'))
    expect(heading).toBe('Chain 31 has stalled')
    expect(text).toContain('38 of 41 chains in order.')
    const links = [...body.matchAll(/<li><a href="#([^"]*)">([^<]*)<\/a><\/li>/g)].map(([, id, words]) => [
      id,
      words
    ])
    expect(links).toEqual([
      ['chain-31', 'Chain 31: Stalled'],
      ['chain-101', 'Solana cluster 101: Silent'],
      ['chain-12', 'Chain 12: Behind']
    ])
    const cards = [...body.matchAll(/<article class="card" id="([^"]*)"/g)].map(([, id]) => id)
    expect(cards.slice(0, 5)).toEqual(['chain-31', 'chain-101', 'chain-12', 'chain-1', 'chain-2'])
    expect(cards).toHaveLength(41)
    for (const [id] of links) expect(body.split(`id="${id}"`)).toHaveLength(2)
    expect((await pageOf(reportOf(chains.slice(0, 11)))).markup).not.toContain('<li><a href="#chain-1')
  })
})

describe('the page', () => {
  test('shows a lag only where it is known: not while the node is silent', async () => {
    const { text } = await pageOf(
      reportOf([chainWith({ phase: 'stalled', lagBlocks: 0, problem: 'silent' })])
    )
    expect(text).toMatch(/Lag\s*not known/)
  })

  test('says nothing of now from what was so before a gap', async () => {
    const report = reportOf([chainWith({ phase: 'stalled', problem: 'silent' })])
    const [series] = report.charts.evm
    const before = (series?.lagBlocks ?? []).map(([at], place) => [at, place] as const).slice(0, -10)
    const evm = [{ chainId: 1, lagBlocks: before, blocksPerSecond: [] }]
    const { text } = await pageOf({ ...report, charts: { ...report.charts, p95Ms: before, evm } })
    expect(text).toContain('Lag: not known now')
    expect(text).toContain('Answer times: no calls lately')
  })

  test('draws nothing where nothing was known, and a dot for a moment between two gaps', async () => {
    const chain = chainWith()
    const report = reportOf([chain])
    const at = (secondsAgo: number) => report.server.nowSeconds - secondsAgo
    const lagBlocks = [
      [at(300), 0],
      [at(290), 50],
      [at(120), 50],
      [at(10), 0],
      [at(0), 0]
    ] as const
    const charts = { ...report.charts, evm: [{ chainId: 1, lagBlocks, blocksPerSecond: [] }] }
    const { tags } = await pageOf({ ...report, charts })
    const [lag = '', rate = ''] = tags.flatMap(tag => /^<path class="line" d="([^"]*)"/.exec(tag)?.[1] ?? [])
    expect(lag.match(/M[^M]*/g)?.map(run => run.replace(/[\d.]+ [\d.]+/g, 'p'))).toEqual([
      'MpLp',
      'Mph0',
      'MpLp'
    ])
    expect(rate).toBe('')
  })

  test.each([
    ['inSync', 2],
    ['stalled', 2],
    ['indexing', 4]
  ] as const)('draws charts only of what moved: in the state %s %i', async (state, count) => {
    const report = states[state] as StatusReport
    const { charts } = report
    const { tags } = await pageOf(report)
    expect(tags.filter(tag => tag.startsWith('<figure'))).toHaveLength(count)
    const still = { ...charts, callsPerSecond: [[report.server.nowSeconds, 0]], p95Ms: [] } as const
    const quiet = await pageOf({ ...report, charts: still })
    expect(quiet.tags.filter(tag => tag.startsWith('<figure'))).toHaveLength(count - 2)
  })

  test('shows what a node says of itself as text', async () => {
    const { markup, text } = await pageOf(states.hostile as StatusReport)
    expect(text).toContain(
      `<img src=x onerror="document.title='owned'"></p><script>alert(1)</script>&lt;b&gt;`
    )
    expect(markup).not.toContain('<img')
    expect(markup.match(/<script/g)).toHaveLength(1)
  })

  test('allows exactly the style and the script that it holds, and nothing from elsewhere', async () => {
    const { headers, markup } = await pageOf(states.inSync as StatusReport)
    const policy = headers['content-security-policy'] ?? ''
    const hashOf = (tag: string) => {
      const content = new RegExp(`<${tag}>(.*?)</${tag}>`, 's').exec(markup)?.[1] ?? ''
      return `'sha256-${createHash('sha256').update(content).digest('base64')}'`
    }
    expect(Object.fromEntries(policy.split('; ').map(rule => rule.split(/ (.*)/)))).toEqual({
      'default-src': "'none'",
      'script-src': hashOf('script'),
      'style-src': hashOf('style'),
      'img-src': 'data:',
      'connect-src': "'self'",
      'base-uri': "'none'",
      'form-action': "'none'",
      'frame-ancestors': "'none'"
    })
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'referrer-policy': 'no-referrer',
      'x-frame-options': 'DENY',
      'cross-origin-opener-policy': 'same-origin'
    })
    const { tags } = readPage(markup)
    expect(tags.filter(tag => /\s(style|on\w+)=/.test(tag))).toEqual([])
    const elsewhere = tags.filter(tag => /\s(src|href)="(?!#|data:image\/svg)/.test(tag))
    expect(elsewhere).toEqual([])
  })

  test.each(Object.keys(states))('is well-formed in the state %s', async state => {
    const { markup, tags } = await pageOf(states[state] as StatusReport)
    const ids = tags.flatMap(tag => /\sid="([^"]*)"/.exec(tag)?.[1] ?? [])
    expect(ids).toEqual([...new Set(ids)])
    for (const name of tags.flatMap(tag => /\saria-labelledby="([^"]*)"/.exec(tag)?.[1] ?? [])) {
      expect(ids).toContain(name)
    }
    expect(markup).toMatch(/^<!doctype html>\n<html lang="en">/)
    expect(markup).toMatch(/<title>[^<]+<\/title>/)
    expect(
      tags.filter(
        tag => tag.startsWith('<svg') && !/aria-hidden="true"|role="img" aria-label="[^"]+/.test(tag)
      )
    ).toEqual([])
    const open: string[] = []
    const pieces =
      markup.replace(/<(style|script)>.*?<\/\1>/gs, '').match(/<\/?[a-z][a-z0-9]*(?:\s[^>]*)?>/g) ?? []
    for (const piece of pieces) {
      const name = /[a-z][a-z0-9]*/.exec(piece)?.[0] ?? ''
      if (['meta', 'link'].includes(name) || piece.endsWith('/>')) continue
      if (piece.startsWith('</')) expect(open.pop()).toBe(name)
      else open.push(name)
    }
    expect(open).toEqual([])
  })

  test('has a script that every browser can read', async () => {
    const { markup } = await pageOf(states.inSync as StatusReport)
    const script = /<script>(.*?)<\/script>/s.exec(markup)?.[1] ?? ''
    expect(() => new Function(script)).not.toThrow()
  })

  test('is less than 60 kB with two chains and half an hour of charts', async () => {
    const { markup } = await pageOf(states.inSync as StatusReport)
    expect(Buffer.byteLength(markup)).toBeLessThan(60_000)
  })
})
