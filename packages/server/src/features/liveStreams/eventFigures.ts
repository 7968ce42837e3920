import { chainLabel, type MetricsPage, metricsOf } from '../../server/metrics/metricsPage.ts'

/** Streams of events of one chain. */
export interface EventFigures {
  readonly chainId: number
  /** Open now. */
  readonly streams: number
  /** Events written since the start, `synced` included. */
  readonly sent: number
  /** Times that a stream was read too slowly to be given changes as they come, since the start. */
  readonly behind: number
}

/** Adds what is written to the streams of each chain. */
export function addEventMetrics(page: MetricsPage, eventFigures: () => readonly EventFigures[]): void {
  const { counter } = metricsOf(page, eventFigures, { labels: chainLabel })
  counter('events_sent', 'Events written to streams, `synced` included.', f => f.sent)
  const behindHelp = 'Times that a stream was read too slowly and left out until it had caught up by itself.'
  counter('event_streams_behind', behindHelp, f => f.behind)
}
