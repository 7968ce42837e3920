#!/usr/bin/env node
// Nothing heavy is loaded before the signals are answered.

// Only a server is asked to end in good order; whoever breaks off another command wants to see that it did not end.
const release = process.argv[2] === 'serve' ? exitOnSignal() : () => {}

const { createProgram } = await import('./createProgram.ts')
await createProgram({ onReadyToClose: release }).parseAsync()

/**
 * Ends the process with exit code 0 at SIGTERM and SIGINT, because there is nothing to close yet. By default the signal
 * itself would end it, which supervisors call a failure.
 *
 * @returns a function that takes this back.
 */
function exitOnSignal(): () => void {
  const exit = () => process.exit(0)
  const signals = ['SIGTERM', 'SIGINT'] as const
  for (const signal of signals) process.on(signal, exit)
  return () => {
    for (const signal of signals) process.off(signal, exit)
  }
}
