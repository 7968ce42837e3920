import { Counter, Gauge, type Registry } from 'prom-client'
import {
  durationBounds,
  type NodeFigures,
  type UpstreamFigures
} from '../../nodes/upstreams/upstreamFigures.ts'
import { registerCountedHistogram } from './countedHistogram.ts'

const labelNames = ['chain_id', 'role', 'upstream'] as const

/**
 * Puts the figures of all upstreams on the metrics page.
 * @param read - called at every scrape. Counts begin anew with a thread, which Prometheus takes for a restart.
 */
export function registerUpstreamMetrics(registry: Registry, read: () => readonly NodeFigures[]): void {
  const registers = [registry]
  const upstreams = () => read().flatMap(figures => figures.upstreams)

  const gauge = (name: string, help: string, value: (figures: UpstreamFigures) => number | undefined) =>
    new Gauge({
      name: `chain_data_upstream_${name}`,
      help,
      labelNames,
      registers,
      collect() {
        this.reset()
        for (const figures of upstreams()) {
          const now = value(figures)
          if (now !== undefined) this.set(labelsOf(figures), now)
        }
      }
    })
  const counter = (name: string, help: string, value: (figures: UpstreamFigures) => number) =>
    new Counter({
      name: `chain_data_upstream_${name}_total`,
      help,
      labelNames,
      registers,
      collect() {
        this.reset()
        for (const figures of upstreams()) this.inc(labelsOf(figures), value(figures))
      }
    })

  new Counter({
    name: 'chain_data_upstream_calls_total',
    help: 'Calls and batches given to an upstream, by outcome.',
    labelNames: [...labelNames, 'outcome'],
    registers,
    collect() {
      this.reset()
      for (const figures of upstreams()) {
        for (const [outcome, count] of Object.entries(figures.calls)) {
          this.inc({ ...labelsOf(figures), outcome }, count)
        }
      }
    }
  })
  registerCountedHistogram(registry, {
    name: 'chain_data_upstream_call_duration_seconds',
    help: 'Time until an upstream had done a call or batch.',
    bounds: durationBounds,
    read: () =>
      upstreams().map(figures => ({
        labels: labelsOf(figures),
        figures: { counts: figures.durations, sum: figures.durationSeconds }
      }))
  })
  counter('retries', 'Calls given to an upstream after an earlier attempt had failed.', f => f.retries)
  counter('hedges_sent', 'Calls given to an upstream because another one took long.', f => f.hedgesSent)
  counter('hedges_won', 'Those of them that it answered first.', f => f.hedgesWon)
  gauge('concurrency_limit', 'Most requests under way at the same time.', f => f.concurrencyLimit)
  gauge('batch_limit', 'Most calls in one request.', f => f.batchLimit)
  gauge('head_block', 'Newest block that the upstream has named.', f => f.head)
  gauge('lag_blocks', 'How far that was behind the newest of all upstreams.', f => f.lagBlocks)
  gauge('score', 'How well it serves, from 0 to 1.', f => f.score)
  gauge('out_of_service', '1 while it is left alone: failing, resting, or of another chain.', f =>
    Number(f.outOfService)
  )
  gauge('preferred', '1 for the upstream that calls go to.', f => Number(f.preferred))
  new Gauge({
    name: 'chain_data_websocket_connected',
    help: '1 while this WebSocket announces new blocks.',
    labelNames: ['chain_id', 'websocket'],
    registers,
    collect() {
      this.reset()
      for (const { chainId, position, connected } of read().flatMap(figures => figures.webSockets)) {
        this.set({ chain_id: String(chainId), websocket: String(position) }, Number(connected))
      }
    }
  })
}

function labelsOf({ chainId, role, position }: UpstreamFigures) {
  return { chain_id: String(chainId), role, upstream: String(position) }
}
