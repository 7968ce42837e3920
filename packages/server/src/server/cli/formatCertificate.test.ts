import type { HistoryCertificate } from '@chain-data/protocol'
import { examples } from '@chain-data/protocol/examples'
import { expect, it } from 'vitest'
import { formatCertificate } from './formatCertificate.ts'

const [proven, failed] = examples.svc_verifyHistory.map(({ result }) => result)
if (proven === undefined || failed === undefined) throw new Error('the document has two examples')
const linesOf = (certificate: HistoryCertificate) => formatCertificate(certificate, 31337).split('\n')

it('begins with the verdict, and says what the certificate covers', () => {
  expect(linesOf(proven).slice(0, 6)).toEqual([
    'PROVEN: nothing is missing, and nothing was found altered',
    'Complete: proven. Unaltered: proven.',
    '',
    'Account  0x70997970C51812dc3A010C7d01b50e0d17dc79C8 on chain 31337',
    `As of    block 128, ${proven.asOf.blockHash}, 2025-10-09T08:55:28Z`,
    'Covers   blocks 0 to 128; token transfers from block 0; internal transfers from block 0'
  ])
  const { transfersFrom: _, internalFrom: __, ...covers } = proven.covers
  expect(linesOf({ ...proven, covers })[5]).toBe(
    'Covers   blocks 0 to 128; token transfers not known; internal transfers not known'
  )
})

it('says what older history it covers, and what that may lack', () => {
  const covers = { ...proven.covers, indexedFrom: 100, lacks: ['zero-value-receipts', 'more'] }
  expect(linesOf({ ...proven, covers: { ...covers, reason: 'no-key' } }).slice(6, 8)).toEqual([
    'Older    blocks 0 to 99 were read from nodes',
    'Lacks    before block 100, perhaps: transactions of no value that others sent and that log nothing; more (reason: no-key)'
  ])
  const ended = { ...proven.covers, from: 60, reason: 'contract' }
  expect(linesOf({ ...proven, covers: ended })[6]).toBe(
    'Before   block 60 nothing is covered (reason: contract)'
  )
})

it('has a line for each check, with what was compared', () => {
  expect(
    linesOf(proven)
      .slice(7, 14)
      .map(line => line.split(/ {2,}/))
  ).toEqual([
    ['CHECK', 'VERDICT', 'COMPARED'],
    ['index', 'proven', '7 transactions'],
    ['sent', 'proven', '3 transactions; the chain counts 3'],
    ['operations', 'proven', '0 operations'],
    ['native', 'proven', '10001499937000000000000 wei; the chain says 10001499937000000000000'],
    [
      'token 0x5FbDB2315678afecb367f032d93F642f64180aa3',
      'proven',
      '4 transfers: 0 + 1500 - 500; the contract says 1000 base units'
    ],
    ['unaltered', 'proven', '7 blocks: 7 agree with their checksums, 7 with their headers']
  ])
  const { unaltered: _, complete: __, ...older } = proven
  expect(linesOf(older).slice(0, 2)).toEqual([
    'PROVEN: nothing is missing, and nothing was found altered',
    ''
  ])
  expect(formatCertificate(older, 1)).not.toContain('unaltered')
  const partly = { verdict: 'unprovable', blocks: 7, checksums: 5, roots: 2 } as const
  expect(
    formatCertificate({ ...proven, unaltered: { ...partly, unknownParts: ['transactions', 'senders'] } }, 1)
  ).toContain('5 agree with their checksums, 2 with their headers (without transactions, senders)')
})

it('shows every wei of each part, and leaves parts of nothing out', () => {
  const table = linesOf(proven).slice(15, 23)
  expect(table.map(line => line.split(/ {2,}/).filter(Boolean))).toEqual([
    ['NATIVE CURRENCY', 'WEI', '10^18 WEI'],
    ['before the index', '10000000000000000000000', '10000'],
    ['+ received', '2500000000000000000', '2.5'],
    ['- sent', '1000000000000000000', '1'],
    ['- fees', '63000000000000', '0.000063'],
    ['= computed', '10001499937000000000000', '10001.499937'],
    ['balance', '10001499937000000000000', '10001.499937'],
    ['difference', '0', '0']
  ])
})

it('names what cannot be known in place of an amount', () => {
  const { opening: _, ...parts } = proven.native.parts
  const { computed: __, difference: ___, ...native } = proven.native
  const text = formatCertificate(
    { ...proven, verdict: 'unprovable', native: { ...native, parts, verdict: 'unprovable' } },
    1
  )
  expect(text).toMatch(/^UNPROVABLE: /)
  expect(text).toMatch(/before the index +not known\n/)
  expect(text).toMatch(/native +unprovable +an unknown sum wei; the chain says 10001499937000000000000\n/)
})

it('tells each finding in words, with all that it names', () => {
  const [finding] = failed.findings
  expect(linesOf(failed).at(-1)).toBe(
    `- ${finding?.kind} (block ${finding?.blockNumber}, transaction ${finding?.transactionIndex}, ${finding?.transactionHash}, nonce ${finding?.nonce}): ${finding?.message}`
  )
  expect(linesOf(proven).at(-1)).toBe('No findings.')
  const difference = { ...failed.native, difference: '-1000021000000000000' }
  expect(formatCertificate({ ...failed, native: difference }, 1)).toMatch(
    /difference +-1000021000000000000 +-1\.000021\n/
  )
})

it('explains differences of tokens and NFTs', () => {
  const address = '0x5FbDB2315678afecb367f032d93F642f64180aa3' as const
  const sums = { address, opening: '0', received: '10', sent: '1', balance: '8', difference: '-1' }
  const text = formatCertificate(
    {
      ...proven,
      tokens: [{ ...sums, verdict: 'explained', transfers: 1, explanation: 'fee' }],
      nfts: [{ ...sums, verdict: 'failed', standard: 'ERC-1155', tokenId: '7' }]
    },
    1
  )
  expect(text).toContain('1 transfer: 0 + 10 - 1; the contract says 8 base units (difference -1: fee)')
  expect(text).toMatch(/ERC-1155 0x5F\w+ id 7 +failed +0 \+ 10 - 1; the contract says 8 \(difference -1\)/)
})

it('lets no character of a server move the cursor', () => {
  const message = 'a\u001b[2Jb\nc\u009b\u202e\u200bd'
  const text = formatCertificate({ ...proven, findings: [{ kind: 'MISSING_BLOCK', message }] }, 1)
  expect(text.split('\n').at(-1)).toBe('- MISSING_BLOCK: a[2Jbcd')
})
