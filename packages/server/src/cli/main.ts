#!/usr/bin/env node
import { createProgram } from './createProgram.ts'

await createProgram().parseAsync()
