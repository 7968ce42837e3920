import { readdirSync, readFileSync } from 'node:fs'
import { afterEach, describe, expect, it } from 'vitest'
import { parseExactJson } from '../../src/platform/parseExactJson.ts'
import { comparable } from './comparable.ts'
import { type Recording, replay } from './replayNode.ts'
import { startScriptedNode } from './startScriptedNode.ts'
import { startSolanaService } from './startSolanaService.ts'

/** Written by packages/server/scripts/recordSolanaAnswers.ts. */
const folder = new URL('recordings/', import.meta.url)
const recordings = readdirSync(folder)
  .filter(name => name.endsWith('.json'))
  .map(name => ({
    name: name.replace('.json', ''),
    recording: JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as Recording
  }))

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close()
})

async function answerFor(recording: Recording): Promise<{ text: string; calls: readonly string[] }> {
  const node = await startScriptedNode(call => replay(recording, call))
  open.push(node)
  const service = await startSolanaService({ rpcUrls: [node.url] })
  open.push(service)
  return { text: await service.text(recording.address), calls: node.calls.map(({ method }) => method) }
}

describe.each(recordings)('what a real node answered about $name', ({ recording }) => {
  it('becomes what was put on the chain', async () => {
    const { text } = await answerFor(recording)
    const { result } = parseExactJson(text) as { result: { asOf: unknown } }
    expect(comparable(result)).toEqual(recording.expected)
    expect(result.asOf).toEqual({ slot: recording.slot })
  })

  it('becomes an error when the node no longer knows one of its parts', async () => {
    for (const part of ['tokenAccounts', 'accounts'] as const) {
      if (Object.keys(recording[part]).length === 0) continue
      const { text } = await answerFor({ ...recording, [part]: {} })
      expect(JSON.parse(text)).toMatchObject({ error: { code: -32002 } })
    }
  })
})

it('the largest numbers come from the bytes of the node to the digits of the answer', async () => {
  const dora = recordings.find(({ name }) => name === 'dora')!.recording
  const { text } = await answerFor(dora)
  expect(dora.balance).toBe('18446744073709551613')
  expect(text).toContain('"lamports":18446744073709551613,"lamportsString":"18446744073709551613"')
  const holders = recordings.filter(({ recording }) =>
    JSON.stringify(recording.expected).includes('18446744073709551615')
  )
  expect(holders.length).toBeGreaterThan(0)
  for (const { recording } of holders) {
    const answer = (await answerFor(recording)).text
    expect(answer).toContain('"amount":18446744073709551615,"amountString":"18446744073709551615"')
  }
})
