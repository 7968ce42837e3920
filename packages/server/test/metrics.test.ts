import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type AnvilNode, startAnvil } from '@chain-data/devnet'
import { eventually } from '@chain-data/index/test'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { silentLogger } from '../src/platform/logger.ts'
import { createServer, type Server } from '../src/server/start/createServer.ts'
import { request, startService } from './http/startService.ts'

interface Metric {
  readonly name: string
  readonly type: string
  readonly help: string
  readonly labels: ReadonlySet<string>
  readonly samples: readonly { readonly name: string; readonly labels: string; readonly value: number }[]
}

let anvil: AnvilNode
let server: Server
let folder: string
let page: readonly Metric[]
let docs: string

async function callNode(method: string, ...params: unknown[]): Promise<void> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const headers = { 'content-type': 'application/json' }
  expect(await (await fetch(anvil.rpcUrl, { method: 'POST', headers, body })).json()).toHaveProperty('result')
}

async function readPage(fetch: Server['fetch']): Promise<readonly Metric[]> {
  return parsePage(await (await fetch(new Request('http://server/metrics'))).text())
}

function parsePage(text: string): readonly Metric[] {
  return text
    .split('# HELP ')
    .slice(1)
    .map(part => {
      const [first = '', second = '', ...lines] = part.trimEnd().split('\n')
      const samples = lines
        .filter(line => line !== '' && !line.startsWith('#'))
        .map(line => {
          const [, name = '', labels = '', value = ''] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
          return { name, labels, value: Number(value) }
        })
      const labels = new Set(
        samples.flatMap(sample => [...sample.labels.matchAll(/(\w+)="/g)].map(([, label]) => label ?? ''))
      )
      labels.delete('le')
      const [name = ''] = first.split(' ')
      return {
        name,
        help: first.slice(name.length + 1),
        type: second.split(' ').at(-1) ?? '',
        labels,
        samples
      }
    })
}

beforeAll(async () => {
  docs = await readFile(new URL('../../../docs/metrics.md', import.meta.url), 'utf8')
  anvil = await startAnvil()
  await callNode('anvil_mine', '0x14')
  folder = await mkdtemp(join(tmpdir(), 'chain-data-metrics-'))
  server = await createServer(
    {
      store: `sqlite:${folder}`,
      projects: [{ projectId: 'demo', serverKey: 'demo-server-key' }],
      chains: {
        evm: [
          {
            chainId: 31337,
            rpcUrls: [anvil.rpcUrl],
            wsUrls: [anvil.rpcUrl.replace('http', 'ws')],
            pollIntervalMs: 50
          }
        ]
      }
    },
    { logger: silentLogger, ownsProcess: true }
  )
  const indexedTo = () => server.status()[0]?.indexedTo?.number
  await eventually('it follows', () => indexedTo() === 20, 20_000)
  await callNode('anvil_reorg', 3, [])
  await callNode('anvil_mine', '0x1')
  const call = request('svc_getSyncStatus', [], { chainId: 31337 })
  const headers = {
    authorization: `Basic ${btoa('demo:demo-server-key')}`,
    'content-type': 'application/json'
  }
  const post = (path: string) =>
    server.fetch(new Request(`http://server${path}`, { method: 'POST', headers, body: call }))
  expect((await post('/evm-chain')).status).toBe(200)
  expect((await post('/nowhere')).status).toBe(404)
  page = await eventually(
    'the indexer has told of 21 blocks, and of 4 after the reorg',
    async () => {
      const found = await readPage(server.fetch)
      return sampleOf(found, 'chain_data_indexed_blocks_total') === 21 + 3 + 1 && found
    },
    20_000
  )
})
afterAll(async () => {
  await server.close()
  await anvil.stop()
  await rm(folder, { recursive: true, force: true })
})

function sampleOf(metrics: readonly Metric[], sample: string): number | undefined {
  return metrics.flatMap(({ samples }) => samples).find(({ name }) => name === sample)?.value
}

const ours = () => page.filter(({ name }) => name.startsWith('chain_data_'))

describe('GET /metrics', () => {
  it('shows how a real chain was indexed, reorg and store included', () => {
    expect(sampleOf(page, 'chain_data_reorg_depth_blocks_sum')).toBe(3)
    expect(sampleOf(page, 'chain_data_store_rollback_duration_seconds_count')).toBe(1)
    expect(sampleOf(page, 'chain_data_store_commit_duration_seconds_count')).toBeGreaterThan(1)
    expect(sampleOf(page, 'chain_data_reorg_depth_blocks_count')).toBe(1)
    expect(sampleOf(page, 'chain_data_store_size_bytes')).toBeGreaterThan(10_000)
    expect(sampleOf(page, 'chain_data_store_free_bytes')).toBeGreaterThan(1_000_000)
    expect(sampleOf(page, 'chain_data_pool_transactions')).toBe(0)
    expect(sampleOf(page, 'chain_data_build_info')).toBe(1)
    expect(sampleOf(page, 'nodejs_heap_size_used_bytes')).toBeGreaterThan(0)
    const answers = page.find(({ name }) => name === 'chain_data_http_answers_total')
    expect(answers?.samples.map(({ labels }) => labels)).toEqual(['status="200"', 'status="404"'])
    expect(sampleOf(page, 'chain_data_http_sent_bytes_total')).toBeGreaterThan(100)
  })

  it('is described by docs/metrics.md, each metric with its type and labels, and nothing else is', () => {
    const rows = docs.split('\n').filter(line => line.startsWith('| `chain_data_'))
    const described = rows.flatMap(row => {
      const cells = row.slice(2).split(' | ')
      const [type = '', labels = ''] = (cells[1] ?? '').split(':')
      return [...(cells[0] ?? '').matchAll(/`(\w+)`/g)].map(([, name]) => ({
        name,
        type: type.trim(),
        labels: new Set([...labels.matchAll(/`(\w+)`/g)].map(([, label]) => label))
      }))
    })
    expect(described.map(({ name }) => name).sort()).toEqual(
      ours()
        .map(({ name }) => name)
        .sort()
    )
    for (const { name, type, labels } of described) {
      const metric = ours().find(other => other.name === name)
      expect(`${name} ${metric?.type}`).toBe(`${name} ${type}`)
      // The labels of an upstream are described once, below the table.
      const shared = name?.startsWith('chain_data_upstream_') ? ['chain_id', 'role', 'upstream'] : []
      // Without a sample a metric shows no labels.
      if ((metric?.samples.length ?? 0) > 0 && (metric?.labels.size ?? 0) > 0) {
        expect([name, ...(metric?.labels ?? [])].sort()).toEqual(
          [name, ...new Set([...labels, ...shared])].sort()
        )
      }
    }
  })

  it("follows Prometheus' conventions: units, suffixes, help texts", () => {
    const wrong = ours().flatMap(({ name, type, help, labels }) => {
      const problems = [
        /^[a-z][a-z0-9_]*[a-z0-9]$/.test(name) ? '' : 'characters',
        (type === 'counter') === name.endsWith('_total') ? '' : 'only counters end in _total',
        /_(count|sum|bucket)$/.test(name) ? 'a suffix of histograms' : '',
        /_(ms|millis|milliseconds|minutes|hours|kb|mb|kilobytes|megabytes|percent)(_|$)/.test(name)
          ? 'no base unit'
          : '',
        /(counter|gauge|histogram)/.test(name) ? 'its type in its name' : '',
        /(duration|delay|latency|(^|_)age)(_|$)/.test(name) && !/_seconds(_|$)/.test(name)
          ? 'a time without its unit'
          : '',
        /_(size|sent|fetched)_(?!total)/.test(name) && !/_bytes(_|$)/.test(name)
          ? 'a size without its unit'
          : '',
        help.length > 10 && /[.]$/.test(help) ? '' : 'no help text that is a sentence',
        [...labels].every(label => /^[a-z_]+$/.test(label)) ? '' : 'characters of a label'
      ]
      return problems.filter(problem => problem !== '').map(problem => `${name}: ${problem}`)
    })
    expect(wrong).toEqual([])
    expect(new Set(page.map(({ name }) => name)).size).toBe(page.length)
  })

  it('grows by no name, key, address or path that callers make up', async () => {
    const service = startService()
    const series = async () => (await readPage(service.fetch)).flatMap(({ samples }) => samples).length
    const asStranger = async (count: number) => {
      for (let i = 0; i < count; i++) {
        await service.post('/evm-chain', request(`made_up_${i}`, [], { chainId: 1_000 + i }))
        await service.post(`/made/up/${i}`, '{}')
        await service.post('/evm-chain', '{}', { headers: { authorization: `Basic ${btoa(`p${i}:k${i}`)}` } })
        await service.post('/evm-chain', '{}', { headers: { 'content-type': `made/up${i}` } })
      }
    }
    await asStranger(2)
    const before = await series()
    await asStranger(20)
    expect(await series()).toBe(before)
    await service.close()
  })
})

describe('the alert rules of docs/metrics.md', () => {
  it('are YAML of the form that Prometheus takes, and ask for metrics that exist', () => {
    const [, text = ''] = /```yaml\n([\s\S]*?)```/.exec(docs) ?? []
    const { groups } = parse(text) as {
      groups: {
        name: string
        rules: { alert: string; expr: string; for?: string; annotations: { summary: string } }[]
      }[]
    }
    const rules = groups.flatMap(group => group.rules)
    expect(rules.length).toBeGreaterThan(5)
    const known = new Set(
      page.flatMap(({ name, type }) =>
        type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name]
      )
    )
    for (const { alert, expr, annotations, for: duration } of rules) {
      expect(alert).toMatch(/^ChainData[A-Z]\w+$/)
      expect(annotations.summary.length).toBeGreaterThan(10)
      expect(duration ?? '0m').toMatch(/^\d+[smh]$/)
      const asked = expr.match(/\b(chain_data|nodejs|process)_\w+/g) ?? []
      expect(asked.length).toBeGreaterThan(0)
      expect(asked.filter(name => !known.has(name))).toEqual([])
      expect(expr.split('(').length).toBe(expr.split(')').length)
    }
  })
})
