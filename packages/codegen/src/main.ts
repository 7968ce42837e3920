import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { InvalidDocumentError } from './check/InvalidDocumentError.ts'
import { findDrift } from './findDrift.ts'
import { generate, specPath } from './generate.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** Writes the generated files, or with `--check` only tells which ones differ. */
async function main(args: string[]): Promise<number> {
  const unknown = args.filter(arg => arg !== '--check')
  if (unknown.length > 0) {
    process.stderr.write(`Unknown argument ${unknown[0]}; expected --check or nothing.\n`)
    return 2
  }
  const files = await generate(await readFile(join(root, specPath), 'utf8'))
  const drift = await findDrift(root, files)
  if (args.includes('--check')) {
    for (const path of drift) process.stderr.write(`${path} differs from what ${specPath} gives.\n`)
    if (drift.length > 0) process.stderr.write('Run: npm run codegen\n')
    return drift.length > 0 ? 1 : 0
  }
  for (const path of drift) {
    const content = files.get(path)
    if (content === undefined) continue
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), content)
    process.stdout.write(`${path} written\n`)
  }
  return 0
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  if (!(error instanceof InvalidDocumentError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}
