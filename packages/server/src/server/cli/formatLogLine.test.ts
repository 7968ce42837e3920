import { expect, it } from 'vitest'
import { createLogger } from '../../platform/logger.ts'
import { createLineFormatter } from './formatLogLine.ts'

function write(isColored = false) {
  const lines: string[] = []
  const format = createLineFormatter({
    chains: new Map([[137, { name: 'Polygon', hosts: ['one.example', 'two.example:8545'] }]]),
    isColored
  })
  const logger = createLogger({ level: 'debug', write: line => lines.push(format(line)) })
  return { logger, lines }
}

it('says who, what and why in one line after the time', () => {
  const { logger, lines } = write()
  logger.info('listening', { url: 'http://127.0.0.1:8080' })
  logger.info('operator pages', { url: 'http://127.0.0.1:8081' })
  logger.child({ component: 'indexer', chainId: 137 }).info('indexing', { indexedTo: 7, etaSeconds: 12 })
  logger.warn('the node cannot be used yet', {
    chainId: 137,
    problem: 'chain 137: identity: upstream 2 did not answer, upstream 3 neither'
  })
  logger.warn('indexing is stalled', { chainId: 5, problem: 'upstream 1 cannot\u001b[2J be reached' })
  expect(lines.map(line => line.replace(/^\d\d:\d\d:\d\d /, ''))).toEqual([
    'listening on http://127.0.0.1:8080\n',
    'status page http://127.0.0.1:8081/, metrics http://127.0.0.1:8081/metrics\n',
    'Polygon: indexing (indexed to 7, eta seconds 12)\n',
    'warning: Polygon: the node cannot be used yet: two.example:8545 did not answer, upstream 3 neither\n',
    'warning: chain 5: indexing is stalled: upstream 1 cannot [2J be reached\n'
  ])
})

it('shows the stack of an error and the waivers to copy below, and colours only when asked', () => {
  const { logger, lines } = write(true)
  const waiver = { check: 'logsBloom', reason: 'r', fromBlock: 1, toBlock: null } as const
  logger.error('call failed', { error: new Error('a bug') })
  logger.warn('indexing is stalled', { suggestedWaivers: [waiver] })
  logger.info('closed')
  expect(lines[0]).toContain('\u001b[31merror: call failed: a bug\u001b[39m\n ')
  expect(lines[0]).toMatch(/\n\s+at /)
  expect(lines[1]).toMatch(/\n {2}"waivers": \[\{"check":"logsBloom".*\}\]\n$/)
  expect(lines[2]).not.toContain('\u001b')
})
