import { eventually } from '@chain-data/index/test'
import { describe, expect, it } from 'vitest'
import { createServer } from '../../src/server/start/createServer.ts'
import { useUpstreams } from './useUpstreams.ts'

const use = useUpstreams()
const authorization = `Basic ${Buffer.from('demo:demo-key').toString('base64')}`

async function serve(rpcUrls: string[], wsUrls: string[] = []) {
  const server = await createServer({
    store: 'sqlite::memory:',
    projects: [{ projectId: 'demo', serverKey: 'demo-key' }],
    chains: { evm: [{ chainId: 31337, rpcUrls, wsUrls, pollIntervalMs: 50 }] },
    log: { level: 'silent' }
  })
  use.later(() => server.close())
  await eventually('it follows', () => server.status()[0]?.phase === 'following')
  return {
    async holdings(address: string) {
      const response = await server.fetch(
        new Request('http://host/evm-chain', {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization },
          body: JSON.stringify({
            jsonrpc: '2.0',
            id: 1,
            chainId: 31337,
            method: 'svc_getTokensAndNFTs',
            params: [address]
          })
        })
      )
      return (await response.json()) as { result?: { native: string }; error?: unknown }
    },
    metrics: async () => (await server.fetch(new Request('http://host/metrics'))).text()
  }
}

describe('a service over several nodes', () => {
  it('reads neither blocks nor state from a node of another chain', async () => {
    const wrong = await use.proxy()
    wrong.obey(({ method }) => (method === 'eth_chainId' ? { result: '0x5' } : undefined))
    const { holdings, metrics } = await serve([wrong.url, use.node().rpcUrl])
    expect(await holdings(`0x${'1'.repeat(40)}`)).toHaveProperty('result.native')
    expect(wrong.asked()).toEqual([])
    await eventually('both roles show it', async () => {
      const page = await metrics()
      return ['indexer', 'query'].every(role =>
        page.includes(`chain_data_upstream_out_of_service{chain_id="31337",role="${role}",upstream="1"} 1`)
      )
    })
  })

  it('shows how each upstream fares, for the indexer and for the queries', async () => {
    const proxy = await use.proxy()
    const wsUrl = use.node().rpcUrl.replace('http', 'ws')
    const { holdings, metrics } = await serve([proxy.url, use.node().rpcUrl], [wsUrl])
    await holdings(`0x${'1'.repeat(40)}`)
    const page = await eventually('the thread has told its figures', async () => {
      const text = await metrics()
      const isTold = /chain_data_upstream_head_block\{chain_id="31337",role="indexer",upstream="2"\} \d/.test(
        text
      )
      return (
        isTold && text.includes('chain_data_websocket_connected{chain_id="31337",websocket="1"} 1') && text
      )
    })
    const of = (name: string, role: string) => `${name}{chain_id="31337",role="${role}",upstream="1"`
    for (const role of ['indexer', 'query']) {
      for (const name of [
        'chain_data_upstream_calls_total',
        'chain_data_upstream_call_duration_seconds_bucket',
        'chain_data_upstream_call_duration_seconds_sum',
        'chain_data_upstream_call_duration_seconds_count',
        'chain_data_upstream_retries_total',
        'chain_data_upstream_hedges_sent_total',
        'chain_data_upstream_hedges_won_total',
        'chain_data_upstream_concurrency_limit',
        'chain_data_upstream_batch_limit',
        'chain_data_upstream_head_block',
        'chain_data_upstream_lag_blocks',
        'chain_data_upstream_score',
        'chain_data_upstream_out_of_service',
        'chain_data_upstream_preferred'
      ]) {
        expect(page).toContain(of(name, role))
      }
    }
    expect(page).toContain('# TYPE chain_data_upstream_call_duration_seconds histogram')
    expect(page).toMatch(/upstream_calls_total\{[^}]*role="indexer",upstream="1",outcome="ok"\} [1-9]/)
    expect(page).not.toContain(proxy.url)
  })
})
