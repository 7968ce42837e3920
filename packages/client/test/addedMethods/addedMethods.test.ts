import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Copy, createCopy, repository } from './createCopy.ts'

let copy: Copy
beforeAll(async () => {
  copy = await createCopy()
})
afterAll(() => copy?.[Symbol.asyncDispose]())

/** A program with all that it uses of the client of a repository. */
async function bundle(program: string, folder: string, minify: boolean): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: program, resolveDir: join(folder, 'packages/client'), loader: 'ts' },
    bundle: true,
    write: false,
    minifySyntax: true,
    minifyWhitespace: true,
    minifyIdentifiers: minify,
    format: 'esm',
    platform: 'browser',
    conditions: ['@chain-data/source'],
    target: 'es2022',
    legalComments: 'none'
  })
  return outputFiles[0]?.text ?? ''
}

const vitestConfig = `
  const resolve = { conditions: ['@chain-data/source'] }
  export default { resolve, ssr: { resolve }, test: { execArgv: ['--conditions=@chain-data/source'] } }`

const program = `
  import { createConnection, getApprovals, getStake } from '@chain-data/client/actions'
  import { createClient } from '@chain-data/client/fetch'
  import { chainData } from '@chain-data/client/kit'
  import { getApprovalsQuery } from '@chain-data/client/query'
  import { chainDataActions } from '@chain-data/client/viem'
  const address = '0x425249Cf0F2f91f488E24cF7B1AA3186748f7516'
  const authority = '7Np41oeYqPefeNQEHSv1UDhYrehxin3NStELsSKCT4K2'

  export async function callAll(fetch: (url: string, init: object) => Promise<Response>) {
    const options = { baseUrl: 'https://rpc.example.com', auth: false, fetch, methodPrefix: 'acme_' } as const
    const client = createClient({ ...options, chainId: 1 })
    const connection = createConnection({ ...options, int64: 'bigint', chainId: 101 })
    const [{ spender, amount, nonce, nonceString = '' }] = await client.getApprovals({ address, limit: 1 }) as [
      Awaited<ReturnType<typeof client.getApprovals>>[number]
    ]
    const hex: \`0x\${string}\` = spender
    const given: [string, number, string] = [amount, nonce, nonceString]
    // @ts-expect-error: no option of this method
    await getApprovals(connection, { address, before: address }).catch(() => {})
    const { lamports } = await getStake(connection, { stakeAuthority: authority })
    const exact: bigint = lamports
    const { data } = { data: await getApprovalsQuery(client, { address }).queryFn({ signal: new AbortController().signal }) }
    const [outcome] = await client.batch([{ method: 'getStake', address: authority }])
    const wire = await client.request({ method: 'svc_getApprovals', params: [address] })
    const viem = await chainDataActions(options)({ chain: { id: 10 } }).getApprovals({ address, spender: hex })
    const kit = chainData({ ...options, chainId: 101 })({}).chainData
    const { lamports: ofPlugin } = await kit.getStake({ address: authority as never })
    return [hex, given, exact, data.length, outcome, wire.length, viem.length, ofPlugin]
  }`

test('an added method is typed everywhere, and nothing else has to be written', async () => {
  const tests = ['**/*.test.ts', '**/*.test-d.ts']
  const own = { extends: './tsconfig.json', include: ['src', 'program.ts'], exclude: tests }
  await writeFile(join(copy.folder, 'packages/client/program.ts'), program)
  await writeFile(join(copy.folder, 'packages/client/tsconfig.program.json'), JSON.stringify(own))
  const { printed } = copy.run('typescript/lib/tsc.js', ['-p', 'packages/client/tsconfig.program.json'])
  expect(printed).toBe('')
})

test('an added method is sent, under the prefix of the host, and its answer is read', async () => {
  const file = join(copy.folder, 'packages/client/program.mjs')
  await writeFile(file, await bundle(program, copy.folder, true))
  const { callAll } = await import(/* @vite-ignore */ pathToFileURL(file).href)
  const received: unknown[] = []
  const answer = (request: { id: number; method: string; chainId: number; params: unknown[] }) => {
    const { id, ...sent } = request
    received.push(sent)
    const result =
      sent.method === 'getStake'
        ? '{"lamports":18446744073709551615}'
        : '[{"spender":"0xa","amount":"5","nonce":18446744073709551615}]'
    return `{"jsonrpc":"2.0","id":${id},"result":${result}}`
  }
  const fetch = async (url: string, { body }: { body: string }) => {
    received.push(url)
    const given = JSON.parse(body)
    return new Response(Array.isArray(given) ? `[${given.map(answer)}]` : answer(given))
  }

  const digits = '18446744073709551615'
  const stake = { lamports: Number(digits), lamportsString: digits }
  const outcome = { status: 'fulfilled', value: stake }
  const exact = BigInt(digits)
  expect(await callAll(fetch)).toEqual(['0xa', ['5', Number(digits), digits], exact, 1, outcome, 1, 1, exact])
  const [address, authority] = [
    '0x425249Cf0F2f91f488E24cF7B1AA3186748f7516',
    '7Np41oeYqPefeNQEHSv1UDhYrehxin3NStELsSKCT4K2'
  ]
  const evm = (chainId: number, ...params: unknown[]) => [
    'https://rpc.example.com/evm-chain',
    { jsonrpc: '2.0', method: 'acme_getApprovals', chainId, params }
  ]
  const solana = (chainId: number) => [
    'https://rpc.example.com/solana',
    { jsonrpc: '2.0', method: 'getStake', chainId, params: [authority] }
  ]
  expect(received).toEqual([
    ...evm(1, address, { limit: 1 }),
    ...evm(101, address),
    ...solana(101),
    ...evm(1, address),
    ...solana(1),
    ...evm(1, address),
    ...evm(10, address, { spender: '0xa' }),
    ...solana(101)
  ])
})

test('an added method has a page, and the tests that go through all methods try it', async () => {
  const page = await readFile(join(copy.folder, 'docs/methods/svc_getApprovals.md'), 'utf8')
  expect(page).toContain('Allowances that an EVM account gave.')
  const files = ['test/doors/doors.test.ts', 'test/requests.test.ts'].map(file => `packages/client/${file}`)
  await writeFile(join(copy.folder, 'vitest.config.mjs'), vitestConfig)
  const args = ['run', '--configLoader=native', '--reporter=verbose', ...files]
  const { passed, printed } = copy.run('vitest/vitest.mjs', args)
  expect(passed, printed).toBe(true)
  for (const title of ['svc_getApprovals: One allowance', 'getStake: A stake'])
    expect(printed).toContain(title)
})

test.each([
  [
    './actions',
    `import { createConnection, getTokensAndNFTs } from '@chain-data/client/actions'
     const connection = createConnection({ baseUrl: location.origin, auth: false, chainId: 1 })
     getTokensAndNFTs(connection, { address: location.hash }).then(alert)`
  ],
  [
    './query',
    `import { getTokensAndNFTsQuery } from '@chain-data/client/query'
     alert(getTokensAndNFTsQuery(window.client, { address: location.hash }))`
  ],
  [
    './history',
    `import { createLiveHistory } from '@chain-data/client/history'
     alert(createLiveHistory(window.client, { chainId: 1, address: location.hash }))`
  ]
])('a program over %s that does not use it is the same to the byte', async (_entry, unaware) => {
  // With names as they are written: those that a minifier chooses depend on files that it leaves out.
  const before = await bundle(unaware, repository, false)
  expect(before.length).toBeGreaterThan(500)
  expect((await bundle(unaware, copy.folder, false)) === before).toBe(true)
  const [length, lengthBefore] = [copy.folder, repository].map(folder => bundle(unaware, folder, true))
  expect((await length)?.length).toBe((await lengthBefore)?.length)
})
