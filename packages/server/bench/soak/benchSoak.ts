import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { seedEvmWorld, startAnvil } from '@chain-data/devnet'
import { authorization, type Listening } from '../http/messages.ts'
import { type Child, startChild } from '../http/startChild.ts'
import { createAbusiveCallers } from './abusiveCallers.ts'
import { createNodeCall, makeBusy, mineOneMore } from './busyAccount.ts'
import type { Health } from './Health.ts'
import { type AskHonestly, type Caller, createHonestCallers } from './honestCallers.ts'
import { Tally } from './Tally.ts'

const chainId = 1
const busyTransactions = 360
const sampleMs = 1_000
const mostDrift = 0.05
/** Longer than idle keep-alive connections are held. */
const settleMs = 90_000
/** Connections to the node come and go. */
const moreSockets = 4
/** The reader keeps eight connections to its file, three files each. */
const moreFiles = 24

/**
 * A whole server for some minutes under honest and abusive callers at once.
 *
 * @param minutes - how long; memory is compared between the third tenth of it and the last.
 * @throws {Error} naming everything that must not happen and did.
 */
export async function benchSoak(print: (line: string) => void, minutes: number): Promise<object> {
  const folder = mkdtempSync(join(tmpdir(), 'chain-data-soak-'))
  const anvil = await startAnvil({ chainId })
  const tally = new Tally()
  let server: Child | undefined
  try {
    const { world } = await seedEvmWorld(anvil.rpcUrl, { pool: false })
    const node = createNodeCall(anvil.rpcUrl)
    await makeBusy(node, busyTransactions)
    server = startChild('../soak/serveSoak.ts', [anvil.rpcUrl, String(chainId), folder])
    const { url } = (await server.first) as Listening
    await untilReady(url)
    const honest = createHonestCallers(createAsk(url, tally), world, tally)
    for (const call of honest) await call()
    const before = await server.ask<Health>('health')

    const endMs = performance.now() + minutes * 60_000
    const isOver = () => performance.now() >= endMs
    const rss: number[] = []
    const child = server
    await Promise.all([
      ...[...honest, ...honest, ...createAbusiveCallers(url, chainId, tally)].map(call =>
        repeat(call, isOver, tally)
      ),
      repeat(() => mineOneMore(node), isOver, tally, 1_000),
      repeat(async () => void rss.push((await child.ask<Health>('health')).rssBytes), isOver, tally, sampleMs)
    ])
    const after = await settled(server, before)
    const metrics = await (await fetch(`${url}/metrics`)).text()
    if (/outcome="INTERNAL"/.test(metrics)) tally.wrong('the metrics count INTERNAL')
    const drift = driftOf(rss)
    if (drift > mostDrift) tally.wrong(`memory grew by ${(drift * 100).toFixed(1)} %`)
    const open = `${JSON.stringify(before.open)} -> ${JSON.stringify(after.open)}`
    if (!isBack(after, before)) tally.wrong(`open before and afterwards: ${open}`)

    for (const [name, count] of Object.entries(tally.counts)) print(`  ${name}: ${count}`)
    print(`  memory ${(drift * 100).toFixed(1)} % (goal: below 5), open ${open}`)
    if (tally.wrongs.length > 0) {
      throw new Error(`the soak found ${tally.wrongs.length}:\n${tally.wrongs.slice(0, 20).join('\n')}`)
    }
    return { minutes, drift, open: [before.open, after.open], counts: tally.counts, rss }
  } finally {
    await server?.stop()
    await anvil.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Does it again and again; what it throws is wrong, as is the end of the server. */
async function repeat(call: Caller, isOver: () => boolean, tally: Tally, pauseMs = 20): Promise<void> {
  while (!isOver()) {
    await call().catch((error: unknown) => {
      // A connection may be cut for what was done on it; that the server lives, the honest callers notice.
      const cause = error instanceof Error ? error.cause : undefined
      const code = cause instanceof Error && 'code' in cause ? String(cause.code) : undefined
      if (code === undefined) tally.wrong(`${error}`)
      else tally.count('cut', code)
    })
    await sleep(pauseMs)
  }
}

/** An overloaded server may refuse; the caller comes again when it was told to. */
function createAsk(url: string, tally: Tally): AskHonestly {
  return async (kind, body) => {
    const response = await fetch(`${url}/evm-chain`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json', 'x-forwarded-for': '203.0.113.7' },
      body
    })
    const text = await response.text()
    tally.count(kind, response.status)
    if (response.status === 200) return text
    if (response.status !== 503) tally.wrong(`${kind}: ${response.status} ${text}`)
    else await sleep(1_000 * Number(response.headers.get('retry-after')))
    return undefined
  }
}

async function untilReady(url: string): Promise<void> {
  for (let tries = 0; tries < 300; tries++) {
    if ((await fetch(`${url}/health/ready`)).ok) return
    await sleep(100)
  }
  throw new Error('the server was not ready in 30 s')
}

async function settled(server: Child, before: Health): Promise<Health> {
  const endMs = performance.now() + settleMs
  for (;;) {
    const now = await server.ask<Health>('health')
    if (isBack(now, before) || performance.now() > endMs) return now
    await sleep(500)
  }
}

function isBack({ open: now }: Health, { open: before }: Health): boolean {
  if (now === undefined || before === undefined) return true
  return now.sockets <= before.sockets + moreSockets && now.files <= before.files + moreFiles
}

/** From the third tenth of the time to the last: by how much the median of the memory grew. */
function driftOf(rss: readonly number[]): number {
  const tenth = Math.max(1, Math.floor(rss.length / 10))
  const median = (values: readonly number[]) =>
    [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
  return median(rss.slice(-tenth)) / median(rss.slice(2 * tenth, 3 * tenth)) - 1
}
