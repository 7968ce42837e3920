#!/usr/bin/env node
import { runCli } from './runCli.ts'

const { env, stdout, stderr } = process
let isLost = false
stdout.on('error', error => {
  // Whoever reads the report may stop where he knows enough.
  if ('code' in error && error.code === 'EPIPE') return
  isLost = true
  stderr.write(`the report cannot be written: ${error.message}\n`)
  process.exitCode = 2
})
const exitCode = await runCli({ args: process.argv.slice(2), env, stdout, stderr })
process.exitCode = isLost ? 2 : exitCode
