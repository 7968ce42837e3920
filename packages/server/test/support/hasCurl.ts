import { spawnSync } from 'node:child_process'

/** Whether `curl` is on the path. */
export const hasCurl = spawnSync('curl', ['--version']).status === 0

if (!hasCurl) process.stderr.write('events are not read by curl: there is none on this machine\n')
