/**
 * Load benchmarks of the server, one folder each with a README of its own.
 *
 * `npm run bench -w @chain-data/server` runs all, `-- holdings` only that one, `-- --write` keeps the figures in `results/`.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus, platform, release, totalmem } from 'node:os'
import { argv, version } from 'node:process'
import { fileURLToPath } from 'node:url'
import { benchHoldings } from './holdings/benchHoldings.ts'
import { benchHttp } from './http/benchHttp.ts'
import { benchSolana } from './solana/benchSolana.ts'

/** Each prints what it finds and returns what is worth keeping. */
const benches: Readonly<Record<string, (print: (line: string) => void) => Promise<object>>> = {
  holdings: benchHoldings,
  http: benchHttp,
  solana: benchSolana
}

const print = (line: string) => process.stdout.write(`${line}\n`)
const wanted = argv.slice(2).filter(word => !word.startsWith('--'))
for (const [name, bench] of Object.entries(benches)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  print(name)
  const figures = await bench(print)
  if (!argv.includes('--write')) continue
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
