import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { compileMulticall, programFile } from '../../scripts/compileMulticall.ts'
import { multicallProgram } from '../../src/evm/state/multicallProgram.gen.ts'

test('compiling the multicall again gives the committed bytes', async () => {
  expect(await compileMulticall()).toBe(await readFile(programFile, 'utf8'))
})

test('the multicall has no instruction that chains before Istanbul lack', () => {
  const later = [0x46, 0x47, 0x48, 0x49, 0x4a, 0x5c, 0x5d, 0x5e, 0x5f]
  const code = Buffer.from(multicallProgram.slice(2), 'hex')
  const found: number[] = []
  for (let at = 0; at < code.length; at++) {
    const instruction = code[at] ?? 0
    // The bytes that PUSH1 to PUSH32 carry are data.
    if (instruction >= 0x60 && instruction <= 0x7f) at += instruction - 0x5f
    else if (later.includes(instruction)) found.push(instruction)
  }
  expect(found).toEqual([])
})
