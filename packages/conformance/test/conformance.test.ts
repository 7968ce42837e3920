import { afterAll, beforeAll, describe } from 'vitest'
import { describeBrokenServices } from './brokenServicesSuite.ts'
import { describeCommand, describeUsage } from './commandSuite.ts'
import { startTarget, type Target } from './support/startTarget.ts'

// One devnet for all of them: its start takes longer than they do.
describe('over one devnet', () => {
  let target: Target

  beforeAll(async () => {
    target = await startTarget()
  })

  afterAll(() => target?.close())

  describe('the command', () => describeCommand(() => target))
  describe('the kit', () => describeBrokenServices(() => target))
})

describe('the usage of the command', describeUsage)
