import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { InvalidDocumentError } from './check/InvalidDocumentError.ts'
import { findDrift } from './findDrift.ts'
import { errorsPage, generate, specPath } from './generate.ts'
import { readVectors } from './readVectors.ts'

/**
 * The command: writes the generated files that differ, or with `--check` only names them.
 *
 * @param root - The repository's folder.
 * @param args - Nothing, or `--check`.
 * @param say - Takes each line of output.
 * @returns Exit code: 0 done or clean, 1 the document is invalid or files differ, 2 wrong usage.
 *   Left-over generated files are named but not removed.
 */
export async function runCodegen(root: string, args: string[], say: (line: string) => void): Promise<number> {
  const unknown = args.find(arg => arg !== '--check')
  if (unknown !== undefined) {
    say(`Unknown argument ${unknown}; expected --check or nothing.`)
    return 2
  }
  try {
    const read = (path: string) => readFile(join(root, path), 'utf8')
    const files = await generate(await read(specPath), await readVectors(root), await read(errorsPage))
    const drift = await findDrift(root, files)
    return args.length > 0 ? reportDrift(drift, say) : await writeFiles(root, files, drift, say)
  } catch (error) {
    if (!(error instanceof InvalidDocumentError)) throw error
    say(error.message)
    return 1
  }
}

function reportDrift(drift: string[], say: (line: string) => void): number {
  for (const path of drift) say(`${path} differs from what the specification gives.`)
  if (drift.length > 0) say('Run: npm run codegen')
  return drift.length > 0 ? 1 : 0
}

async function writeFiles(
  root: string,
  files: Map<string, string>,
  drift: string[],
  say: (line: string) => void
): Promise<number> {
  for (const path of drift) {
    const content = files.get(path)
    if (content === undefined) {
      say(`${path} is no longer generated: remove it`)
      continue
    }
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), content)
    say(`${path} written`)
  }
  return 0
}
