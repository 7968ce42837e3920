#!/usr/bin/env node
import { exitOnSignal } from '../../platform/exitOnSignal.ts'

// Only a server is asked to end in good order; whoever breaks off another command wants to see that it did not end.
const release = process.argv[2] === 'serve' ? exitOnSignal() : () => {}

const { createProgram } = await import('./createProgram.ts')
await createProgram({ onReadyToClose: release }).parseAsync()
