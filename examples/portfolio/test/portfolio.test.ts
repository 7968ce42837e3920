import { afterAll, beforeAll, describe } from 'vitest'
import { patient } from '../../../.config/patience.ts'
import { findChromium } from '../../../packages/client/test/runtimes/chromium.ts'
import { buildSuite } from './buildSuite.ts'
import { failureSuite } from './failureSuite.ts'
import { holdingsSuite } from './holdingsSuite.ts'
import { hostileSuite } from './hostileSuite.ts'
import { keyboardSuite } from './keyboardSuite.ts'
import { solanaSuite } from './solanaSuite.ts'
import { streamSuite } from './streamSuite.ts'
import { type Portfolio, startPortfolio } from './support/startPortfolio.ts'
import { timelineSuite } from './timelineSuite.ts'

const noChromium = findChromium() === undefined
if (noChromium) process.stdout.write('Skipped: there is no Chromium here; CHROMIUM_PATH may name one.\n')

// One devnet, one service, one built page and one browser for all of it: the parts run one after the other.
// Each wait in a test may take as long as a machine that does much else needs.
describe.skipIf(noChromium)(
  'the portfolio page, built and in a browser',
  { timeout: patient(240_000) },
  () => {
    let started: Portfolio | undefined
    const portfolio = () => {
      if (started === undefined) throw new Error('the portfolio has not been started')
      return started
    }

    beforeAll(async () => {
      started = await startPortfolio()
    })
    afterAll(() => started?.stop(), 60_000)

    describe('what is built', () => buildSuite(portfolio))
    describe('holdings', () => holdingsSuite(portfolio))
    describe('transactions', () => timelineSuite(portfolio))
    describe('what is followed', () => streamSuite(portfolio))
    describe('history on Solana', () => solanaSuite(portfolio))
    describe('what strangers wrote', () => hostileSuite(portfolio))
    describe('when something fails', () => failureSuite(portfolio))
    describe('with the keyboard and a screen reader', () => keyboardSuite(portfolio))
  }
)
