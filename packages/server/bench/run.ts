/**
 * Load benchmarks of the server, one folder each with a README of its own.
 *
 * `npm run bench -w @chain-data/server` runs all but the longest, `-- holdings` only that one, `-- --write` keeps the figures in
 * `results/`. Three are run by their names only: `-- remote`, `-- soak --minutes 10` and
 * `-- store --transactions 10000000`.
 * `-- ingest --against <absolute path>` compares with another checkout instead, `-- ingest --roots` blocks that are held against their
 * headers with others, `-- ingest --threads` numbers of threads that decode, `-- ingest --log` a log of changes that holds
 * all blocks with one that holds few, `-- store --log` the writer with the log and with none, `-- store --citus` Citus with plain PostgreSQL, `-- store --restart` starts of a server over a large
 * index, `-- streams --resumed` streams that go on after an old cursor, `-- http --checks` pages whose stored bytes are checked with others; these keep nothing. `-- ingest --latency 50` has the recorded
 * node answer 50 ms later, and keeps nothing either.
 * `-- store --against <absolute path>` fills stores of both checkouts in turn and reads pages of them,
 * `-- remote --against <absolute path>` lets another checkout take turns with this one,
 * `-- remote --only "150 ms"` measures the cases of that name.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus, platform, release, totalmem } from 'node:os'
import { resolve } from 'node:path'
import { version } from 'node:process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { benchFairness } from './fairness/benchFairness.ts'
import { benchHistory } from './history/benchHistory.ts'
import { benchHoldings } from './holdings/benchHoldings.ts'
import { benchChecks } from './http/benchChecks.ts'
import { benchHttp } from './http/benchHttp.ts'
import { benchIngest } from './ingest/benchIngest.ts'
import { benchIngestAgainst } from './ingest/benchIngestAgainst.ts'
import { benchLogged } from './ingest/benchLogged.ts'
import { benchRoots } from './ingest/benchRoots.ts'
import { benchThreads } from './ingest/benchThreads.ts'
import { benchLive } from './live/benchLive.ts'
import { benchProcesses } from './processes/benchProcesses.ts'
import { benchRemote } from './remote/benchRemote.ts'
import { benchSoak } from './soak/benchSoak.ts'
import { benchSolana } from './solana/benchSolana.ts'
import { benchSolanaHistory } from './solanaHistory/benchSolanaHistory.ts'
import { benchChangeLog } from './store/benchChangeLog.ts'
import { benchCitus } from './store/benchCitus.ts'
import { benchRestart } from './store/benchRestart.ts'
import { benchStore } from './store/benchStore.ts'
import { benchStoreAgainst } from './store/benchStoreAgainst.ts'
import { benchResumed } from './streams/benchResumed.ts'
import { benchStreams } from './streams/benchStreams.ts'

const { values, positionals: wanted } = parseArgs({
  options: {
    write: { type: 'boolean', default: false },
    minutes: { type: 'string', default: '10' },
    blocks: { type: 'string', default: '500' },
    transactions: { type: 'string', default: '10000000' },
    engine: { type: 'string' },
    against: { type: 'string' },
    roots: { type: 'boolean', default: false },
    threads: { type: 'boolean', default: false },
    log: { type: 'boolean', default: false },
    citus: { type: 'boolean', default: false },
    checks: { type: 'boolean', default: false },
    restart: { type: 'boolean', default: false },
    resumed: { type: 'boolean', default: false },
    latency: { type: 'string', default: '0' },
    only: { type: 'string' }
  },
  allowPositionals: true
})

/** Each prints what it finds and returns what is worth keeping. */
const benches: Readonly<Record<string, (print: (line: string) => void) => Promise<object>>> = {
  fairness: benchFairness,
  history: benchHistory,
  holdings: benchHoldings,
  http: out => (values.checks ? benchChecks(out) : benchHttp(out)),
  ingest: out => {
    if (values.roots) return benchRoots(out)
    if (values.threads) return benchThreads(out)
    if (values.log) return benchLogged(out)
    if (values.against !== undefined) return benchIngestAgainst(resolve(values.against), out)
    return benchIngest(out, Number(values.latency))
  },
  live: out => benchLive(out, Number(values.blocks)),
  processes: benchProcesses,
  remote: out => {
    const { against, only } = values
    return benchRemote(out, against === undefined ? undefined : resolve(against), only)
  },
  solana: benchSolana,
  solanaHistory: benchSolanaHistory,
  soak: out => benchSoak(out, Number(values.minutes)),
  store: out => {
    const { write, engine, against } = values
    if (against !== undefined) return benchStoreAgainst(resolve(against), out)
    if (values.log) return benchChangeLog(out)
    if (values.restart) return benchRestart(out, Number(values.transactions))
    if (values.citus) return benchCitus(out)
    return benchStore(out, { write, transactions: Number(values.transactions), only: engine })
  },
  streams: out => (values.resumed ? benchResumed(out) : benchStreams(out))
}
/** They take a quarter of an hour or so. */
const onlyByName: readonly string[] = ['remote', 'soak', 'store']

const print = (line: string) => process.stdout.write(`${line}\n`)
for (const [name, bench] of Object.entries(benches)) {
  if (wanted.length > 0 ? !wanted.includes(name) : onlyByName.includes(name)) continue
  print(name)
  const figures = await bench(print)
  const { against, latency, roots, threads, log, citus, checks, restart, resumed } = values
  const isOther = [roots, threads, log, citus, checks, restart, resumed, latency !== '0'].includes(true)
  const isKept = name === 'remote' || (against === undefined && !isOther)
  if (!values.write || !isKept) continue
  const date = new Date().toISOString().slice(0, 10)
  const machine = {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memoryBytes: totalmem(),
    system: `${platform()} ${release()}`,
    node: version
  }
  const folder = new URL(`${name}/results/`, import.meta.url)
  mkdirSync(folder, { recursive: true })
  const file = fileURLToPath(new URL(`${date}.json`, folder))
  writeFileSync(file, `${JSON.stringify({ date, machine, ...figures }, null, 2)}\n`)
}
