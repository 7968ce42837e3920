import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { beforeAll } from 'vitest'
import { describeHost } from '../describeHost.ts'
import { sourceConditions } from '../startExample.ts'

const folder = new URL('.', import.meta.url)
const next = createRequire(import.meta.url).resolve('next/dist/bin/next')

// Without any setting of the service: it is not started by a build, or that would fail.
beforeAll(async () => {
  const env = {
    PATH: process.env.PATH ?? '',
    NODE_ENV: 'production',
    NODE_OPTIONS: sourceConditions,
    NEXT_TELEMETRY_DISABLED: '1'
  } as const
  await promisify(execFile)(process.execPath, [next, 'build'], { cwd: fileURLToPath(folder), env })
}, 120_000)

describeHost({
  name: 'a Next host',
  folder,
  command: [next, 'start', '--port', '0', '--hostname', '127.0.0.1'],
  basePath: '/api/chain-data',
  // Next ends like a process that the signal has ended.
  exitCode: 143
})
