/**
 * Load benchmarks of the server, one folder each with a README of its own.
 *
 * `npm run bench -w @chain-data/server` runs all but the soak, `-- holdings` only that one, `-- --write` keeps the figures in
 * `results/`. The soak is run by its name: `-- soak --minutes 10`.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus, platform, release, totalmem } from 'node:os'
import { version } from 'node:process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { benchHoldings } from './holdings/benchHoldings.ts'
import { benchHttp } from './http/benchHttp.ts'
import { benchSoak } from './soak/benchSoak.ts'
import { benchSolana } from './solana/benchSolana.ts'

const { values, positionals: wanted } = parseArgs({
  options: { write: { type: 'boolean', default: false }, minutes: { type: 'string', default: '10' } },
  allowPositionals: true
})

/** Each prints what it finds and returns what is worth keeping. */
const benches: Readonly<Record<string, (print: (line: string) => void) => Promise<object>>> = {
  holdings: benchHoldings,
  http: benchHttp,
  solana: benchSolana,
  soak: out => benchSoak(out, Number(values.minutes))
}
/** Takes its time whatever the machine. */
const onlyByName = 'soak'

const print = (line: string) => process.stdout.write(`${line}\n`)
for (const [name, bench] of Object.entries(benches)) {
  if (wanted.length > 0 ? !wanted.includes(name) : name === onlyByName) continue
  print(name)
  const figures = await bench(print)
  if (!values.write) continue
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
