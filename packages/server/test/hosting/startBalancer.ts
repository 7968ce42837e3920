import { request as httpRequest } from 'node:http'
import { listenOn } from './listenOn.ts'

/** Hands requests to several addresses in turn, as a load balancer does. */
export interface Balancer {
  readonly url: string
  /** Origins in turn; a test may replace them. */
  targets: readonly string[]
  /** How many requests each origin got. */
  readonly counts: ReadonlyMap<string, number>
  close(): void
}

/**
 * A load balancer with nothing clever: one request to the next target each, no second try. A target that cannot be
 * reached gets no further requests, and who was sent there gets 502.
 */
export async function startBalancer(targets: readonly string[]): Promise<Balancer> {
  const counts = new Map<string, number>()
  const lost = new Set<string>()
  let turn = 0
  const { url, close } = await listenOn((request, response) => {
    const up = balancer.targets.filter(target => !lost.has(target))
    const target = up[turn++ % up.length] ?? ''
    counts.set(target, (counts.get(target) ?? 0) + 1)
    const { method, headers, url: path } = request
    const outgoing = httpRequest(target + path, { method, headers, agent: false }, answer => {
      response.writeHead(answer.statusCode ?? 0, answer.headers)
      answer.on('error', () => response.destroy()).pipe(response)
    })
    outgoing.on('error', () => {
      lost.add(target)
      if (response.headersSent) response.destroy()
      else response.writeHead(502).end()
    })
    request.pipe(outgoing)
  })
  const balancer: Balancer = { url, targets, counts, close }
  return balancer
}
