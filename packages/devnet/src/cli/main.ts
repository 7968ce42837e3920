#!/usr/bin/env node
import { runCli } from './runCli.ts'

const interrupted = new Promise<void>(resolve => {
  // The handlers stay: npm passes on a Ctrl-C that the terminal has sent here already.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => resolve())
})

const { env, stdout, stderr } = process
const exitCode = await runCli({ args: process.argv.slice(2), env, stdout, stderr, interrupted })
process.exit(exitCode)
