import { Counter, Gauge, type Registry } from 'prom-client'

/** What the limits of the HTTP layer did. */
export interface LimitFigures {
  /** Requests refused before they were looked at, by cause. */
  readonly shed: Readonly<Record<string, number>>
  /** How long a request that came now would wait for its turn. */
  readonly queueMs: number
  /** How late this process comes to a request. */
  readonly loopDelayMs: number
  /** Requests whose credentials were not compared, because their address has to wait. */
  readonly throttledLogins: number
}

/**
 * Puts the figures of the limits on the metrics page.
 * @param read - called at every scrape.
 */
export function registerLimitMetrics(registry: Registry, read: () => LimitFigures): void {
  const registers = [registry]
  new Counter({
    name: 'chain_data_shed_requests_total',
    help: 'Requests refused with OVERLOADED, by cause: in_flight, delay (of the event loop), closing.',
    labelNames: ['cause'],
    registers,
    collect() {
      this.reset()
      for (const [cause, count] of Object.entries(read().shed)) this.inc({ cause }, count)
    }
  })
  new Counter({
    name: 'chain_data_throttled_logins_total',
    help: 'Requests refused because their address sent too many wrong credentials.',
    registers,
    collect() {
      this.reset()
      this.inc(read().throttledLogins)
    }
  })
  new Gauge({
    name: 'chain_data_request_queue_seconds',
    help: 'How long a request that came now would wait for its turn.',
    registers,
    collect() {
      this.set(read().queueMs / 1_000)
    }
  })
  new Gauge({
    name: 'chain_data_event_loop_delay_seconds',
    help: 'How late the process comes to a request, now or in the last round of its event loop.',
    registers,
    collect() {
      this.set(read().loopDelayMs / 1_000)
    }
  })
}
