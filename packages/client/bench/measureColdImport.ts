import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const runs = 21
const cwd = fileURLToPath(new URL('./', import.meta.url))

/** Milliseconds that importing an entry adds to a fresh process: median of 21, a bare `node -e 0` subtracted. */
export function measureColdImport(entry: string): { readonly medianMs: number; readonly bareMs: number } {
  const bare: number[] = []
  const importing: number[] = []
  // In turn, so that a slow moment of the machine meets both; the first of each fills the file cache.
  for (let run = 0; run <= runs; run++) {
    bare.push(timeOf(['-e', '0']))
    importing.push(timeOf(['--input-type=module', '-e', `import ${JSON.stringify(entry)}`]))
  }
  const bareMs = median(bare.slice(1))
  return { medianMs: median(importing.slice(1)) - bareMs, bareMs }
}

function timeOf(args: readonly string[]): number {
  const startMs = performance.now()
  const { status, stderr } = spawnSync(process.execPath, args, { cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(`node ${args.join(' ')} ended with ${status}:\n${stderr}`)
  return performance.now() - startMs
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}
