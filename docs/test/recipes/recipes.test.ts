import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Copy, copyRepository } from './copyRepository.ts'

const block = { blockNumber: 0, blockHash: `0x${'1'.repeat(64)}` }
const generated = 'packages/protocol/src/generated'

const storeAndShow = `
import { normalizeTransaction } from './packages/server/src/evm/blocks/normalize.ts'
import { decodePending, encodePending } from './packages/index/src/record/record.ts'
import { toTransactionRecord } from './packages/server/src/server/methods/createRecordWriter.ts'

const raw = {
  hash: '0x' + '1'.repeat(64), from: '0x' + '2'.repeat(40), to: null, input: '0x', value: '0x5', gas: '0x5208',
  nonce: '0x0', type: '0x2', maxFeePerGas: '0x1', maxPriorityFeePerGas: '0x1', accessList: [], yParity: '0x1'
}
const transaction = { ...normalizeTransaction(raw, 'a transaction'), firstSeenSeconds: 1 }
const stored = { ...transaction, ...decodePending(encodePending(transaction)) }
process.stdout.write(JSON.stringify(toTransactionRecord(stored, address => address)))
`

const callMethod = `
import { createServer } from '@chain-data/server'

const server = await createServer({
  listen: { host: '127.0.0.1', port: 0 },
  store: 'sqlite::memory:',
  projects: [{ projectId: 'one', serverKey: 'one-server-key' }],
  chains: { evm: [{ chainId: 5, rpcUrls: ['http://127.0.0.1:1'] }] },
  log: { level: 'silent' }
})
const response = await server.fetch(new Request('http://127.0.0.1/evm-chain', {
  method: 'POST',
  headers: { authorization: 'Basic ' + btoa('one:one-server-key'), 'content-type': 'application/json' },
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, chainId: 5, method: 'svc_getFirstBlock', params: [] })
}))
process.stdout.write(await response.text())
await server.close()
`

/** Each follows a recipe of CONTRIBUTING.md, step by step, in a copy of the repository. */
describe('the recipe for', () => {
  let copy: Copy
  beforeEach(async () => {
    copy = await copyRepository()
  })
  afterEach(() => copy.remove())

  it('a field of transactions stores and shows it after changes of three files', async () => {
    await copy.editDocument(({ components: { schemas } }) => {
      for (const name of ['PendingTransaction', 'ConfirmedTransaction'])
        schemas[name]!.properties.yParity = {
          title: 'Parity',
          description: 'Parity of the signature, 0 or 1.',
          type: 'integer',
          minimum: 0,
          examples: [1],
          'x-extension': true
        }
    })
    expect(await copy.generate()).toEqual([
      'docs/methods/types.md',
      `${generated}/document.gen.ts`,
      `${generated}/resultValidators.gen.ts`,
      `${generated}/types.gen.ts`
    ])
    const table = 'packages/index/src/model/transactionFields.ts'
    const data = "  { name: 'data', in: 'both', flag: 0, codec: 'data', json: 'hex' },\n"
    const row = "  { name: 'yParity', in: 'both', flag: 2048, codec: 'count', json: 'number' },\n"
    await copy.edit(table, data, row + data)
    await copy.edit(table, '  contractAddress: 20\n', '  contractAddress: 20,\n  yParity: 21\n')
    await copy.edit(
      'packages/server/src/evm/blocks/normalize.ts',
      '  if (mayCarryBlobs(type)) addBlobFields(transaction, raw, where)\n',
      `  if (mayCarryBlobs(type)) addBlobFields(transaction, raw, where)
  if (!isAbsent(raw.yParity)) transaction.yParity = readCount(raw.yParity, where, 'yParity')\n`
    )
    expect(await copy.evaluate(storeAndShow)).toMatchObject({ yParity: 1, value: '0x5' })
  })

  it('a method answers it', async () => {
    await copy.editDocument(document => {
      const status = document.methods.find(({ name }) => name === 'svc_getSyncStatus')!
      document.components.examplePairings.FirstBlock = {
        ...{ name: 'Block 0', 'x-chainId': 5, 'x-endpoint': '/evm-chain', params: [] },
        result: { name: 'block', value: block }
      }
      document.methods.push({
        ...status,
        name: 'svc_getFirstBlock',
        summary: 'The first block of a chain.',
        result: { name: 'block', required: true, schema: { $ref: '#/components/schemas/BlockRef' } },
        examples: [{ $ref: '#/components/examplePairings/FirstBlock' }],
        'x-endpoint': '/evm-chain',
        'x-response-chainId': 'absent'
      })
    })
    await copy.generate()
    await copy.edit(
      'packages/server/src/server/start/coreMethods.ts',
      '    svc_getSyncStatus:',
      `    svc_getFirstBlock: async () => ({ blockNumber: 0, blockHash: '0x${'1'.repeat(64)}' }),\n    svc_getSyncStatus:`
    )
    expect(await copy.evaluate(callMethod)).toMatchObject({ result: block })
  })

  it('an error generates its row in the table and on the page', async () => {
    await copy.editDocument(document => {
      const [code, message] = [-32010, 'Chain paused']
      const data = { reason: 'PAUSED', extraMessage: 'Chain 5 is paused.' }
      document['x-errors'].PAUSED = {
        ...{ code, httpStatus: 200, message, retryable: true },
        ...{ when: 'The host has paused the chain.', remedy: 'Retry later.' },
        data: { $ref: '#/components/schemas/ErrorData' },
        example: { jsonrpc: '2.0', id: 1, error: { code, message, data } }
      }
    })
    expect(await copy.generate()).toEqual(
      expect.arrayContaining(['docs/errors.md', `${generated}/errors.gen.ts`])
    )
  })

  it('a configuration key fails its test until the page lists it', async () => {
    const comparison = 'packages/server/test/configurationDocs.test.ts'
    await copy.edit(
      'packages/server/src/server/config/schema.ts',
      '    storeCheckSeconds: ',
      "    motd: z.string().default('').meta({ description: 'a text' }),\n    storeCheckSeconds: "
    )
    const { failed, output } = await copy.test(comparison)
    expect(failed).toBe(true)
    expect(output).toContain('lists the keys of the schema')
    await copy.edit(
      'docs/configuration.md',
      '| `storeCheckSeconds`',
      '| `motd` | `""` | a text |\n| `storeCheckSeconds`'
    )
    expect(await copy.test(comparison)).toMatchObject({ failed: false })
  })
})
