import { fileURLToPath } from 'node:url'
import { runCodegen } from './runCodegen.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))

process.exitCode = await runCodegen(root, process.argv.slice(2), line => process.stdout.write(`${line}\n`))
