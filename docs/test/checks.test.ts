import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { checkCoverage, checkYaml } from './checkCoverage.ts'
import { checkJson } from './checkJson.ts'
import { checkPrinted } from './checkPrinted.ts'
import { checkShell } from './checkShell.ts'
import { joinModules } from './joinModules.ts'
import { type Block, readBlocks, readSpans } from './readBlocks.ts'
import { commandsToRun, runCommand } from './runCommands.ts'
import { runModules } from './runModules.ts'
import { runSql } from './runSql.ts'

// Pages that are wrong, to see that the checks say so, and where.

const page = (...lines: string[]) => readBlocks('docs/wrong.md', lines.join('\n'))

/** A page with one block. */
function block(language: string, code: string, ...comments: string[]): Block {
  const [only] = page('Text', ...comments, `\`\`\`${language}`, ...code.split('\n'), '```').blocks
  return only!
}

const places = (problems: readonly { at: string }[]) => problems.map(({ at }) => at)
const messages = (problems: readonly { message: string }[]) => problems.map(({ message }) => message)

describe('reading a page', () => {
  it('finds blocks with their lines, languages and comments, in lists too', () => {
    const { blocks } = page(
      ...[
        '# Title',
        '',
        '<!-- given: client, address -->',
        '<!-- types only: it is long -->',
        '```ts',
        'a',
        '```'
      ],
      ...[
        '- item',
        '',
        '  ~~~sh title',
        '  npm ci',
        '',
        '    more',
        '  ~~~',
        '',
        '````md',
        '```ts',
        '```',
        '````'
      ]
    )
    expect(blocks.map(({ line, language, code }) => ({ line, language, code }))).toEqual([
      { line: 5, language: 'ts', code: 'a\n' },
      { line: 10, language: 'sh', code: 'npm ci\n\n  more\n' },
      { line: 16, language: 'md', code: '```ts\n```\n' }
    ])
    expect([...blocks[0]!.notes]).toEqual([
      ['types only', 'it is long'],
      ['given', 'client, address']
    ])
    expect(blocks[1]!.notes.size).toBe(0)
  })

  it('tells of a fence that nothing closes', () => {
    const { blocks, problems } = page('```ts', 'a', '```', '```sh', 'npm ci')
    expect(blocks).toHaveLength(1)
    expect(places(problems)).toEqual(['docs/wrong.md:4'])
  })

  it('refuses languages that nothing checks, and excuses without a reason', () => {
    expect(checkCoverage(block('text', 'anything'))).toEqual([])
    expect(checkCoverage(block('nginx', 'listen 80;', '<!-- not run: there is no nginx -->'))).toEqual([])
    expect(places(checkCoverage(block('nginx', 'listen 80;')))).toEqual(['docs/wrong.md:2'])
    expect(messages(checkCoverage(block('nginx', 'listen 80;', '<!-- not run -->')))).toEqual([
      'a reason is missing behind "not run"'
    ])
    expect(messages(checkCoverage(block('ts', 'a', '<!-- types only: -->')))).toEqual([
      'a reason is missing behind "types only"'
    ])
  })
})

it('a file is shown as it is', () => {
  const shown = { ...block('json', '{}', '<!-- file: tsconfig.json -->'), page: 'docs/test/wrong.md' }
  expect(messages(checkCoverage(shown))).toEqual(['differs from tsconfig.json'])
  const code = readFileSync(new URL('tsconfig.json', import.meta.url), 'utf8')
  expect(checkCoverage({ ...shown, code })).toEqual([])
})

describe('TypeScript', () => {
  it('cannot continue nothing, and is given only what there is', () => {
    const { blocks } = page('<!-- continues -->', '```ts', '```', '<!-- given: nobody -->', '```ts', '```')
    expect(joinModules(blocks).problems).toEqual([
      { at: 'docs/wrong.md:2', message: 'there is no block above that it could continue' },
      { at: 'docs/wrong.md:5', message: 'docs/test/given/nobody.ts is missing' }
    ])
  })

  it('fails where it throws, at once or later, and where it ends the process', async () => {
    const { blocks } = page(
      ...['```ts', "console.log('fine')", 'export const fine: number = 1', '```'],
      ...['```ts', 'const none: { deep?: { value: string } } = {}', '', 'none.deep!.value', '```'],
      ...['```ts', "void Promise.reject(new Error('late'))", '```'],
      ...['```ts', "console.log(new URL('http://127.0.0.1:8080/evm-chain').host, process.cwd())", '```'],
      ...['```ts', "await fetch('https://node.example')", '```'],
      ...['```ts', 'process.exit(0)', '```', '```ts', "console.log('too late')", '```']
    )
    const { modules } = joinModules(blocks)
    const addresses = { baseUrl: 'http://127.0.0.1:1234', nodeUrl: 'http://127.0.0.1:1235' }
    const runs = await runModules(modules, addresses)
    expect(runs.map(({ problem }) => problem?.at)).toEqual([
      undefined,
      'docs/wrong.md:8',
      'docs/wrong.md:11',
      undefined,
      'docs/wrong.md:16',
      'docs/wrong.md:19',
      'docs/wrong.md:22'
    ])
    expect(runs[0]!.output).toBe('fine\n')
    expect(runs[2]!.problem!.message).toContain('late')
    expect(runs[3]!.output).toMatch(/^127\.0\.0\.1:1234 .*chain-data-page-/)
    expect(runs[4]!.problem!.message).toContain('ask no other hosts, such as node.example')
    expect(runs[5]!.problem!.message).toContain('its process ended with 0')
  })
})

describe('JSON', () => {
  const problemsOf = (...blocks: Block[]) => messages(checkJson(blocks))
  const call = '{ "jsonrpc": "2.0", "id": 1, "method": "svc_getSyncStatus", "chainId": 1, "params": [] }'

  it('is refused where it does not parse or is of no kind that is checked', () => {
    expect(problemsOf(block('json', '{ "store": … }'))).toHaveLength(1)
    expect(problemsOf(block('json', '{ "chainId": 1, "rpcUrls": [] }'))).toEqual([
      expect.stringContaining('is none of the kinds')
    ])
  })

  it('is refused where a request or an answer does not fit the document', () => {
    expect(problemsOf(block('json', call))).toEqual([])
    expect(problemsOf(block('json', call.replace('[]', '["0x1"]')))).toEqual([
      expect.stringMatching('/params')
    ])
    expect(problemsOf(block('json', call.replace('Sync', 'Sink')))).toEqual([
      'there is no method svc_getSinkStatus'
    ])
    expect(problemsOf(block('json', `[${call}, { "method": 1 }]`))).toEqual(['there is no method 1'])
    const answer = block('json', '{ "jsonrpc": "2.0", "id": 1, "result": { "chainId": "1" } }')
    expect(problemsOf(block('json', call), answer)).toHaveLength(1)
    expect(problemsOf(answer)).toEqual([' answers no request above'])
    const failure = '{ "code": -32602, "data": { "reason": "INVALID_PARAMS", "path": "/params" } }'
    expect(problemsOf(block('json', failure))).toHaveLength(1)
    const mended = failure.replace('"path"', '"extraMessage": "…", "path"')
    expect(problemsOf(block('json', mended))).toEqual([])
    expect(problemsOf(block('json', mended.replace('-32602', '-32601')))).toEqual([
      '/error/code must be -32602'
    ])
  })

  it('is refused where it is no configuration, as a whole or at its place in one', () => {
    const whole =
      '{ "projects": [], "chains": { "evm": [{ "chainId": 1, "rpcUrl": "https://node.example" }] } }'
    expect(problemsOf(block('json', whole))).toEqual([expect.stringContaining('rpcUrl')])
    const chain = (text: string) => block('json', text, '<!-- configuration: chains.evm[1] -->')
    expect(problemsOf(chain('{ "chainId": 1, "rpcUrls": ["https://node.example"] }'))).toEqual([])
    expect(problemsOf(chain('{ "chainId": 31337, "rpcUrls": ["https://node.example"] }'))).toHaveLength(1)
    const traces = (text: string) => block('json', text, '<!-- configuration: chains.evm[0] -->')
    expect(problemsOf(traces('{ "traces": "on" }'))).toEqual([])
    expect(problemsOf(traces('{ "trace": "on" }'))).toEqual([expect.stringContaining('trace')])
  })
})

it('SQL is refused where PostgreSQL refuses it', async () => {
  const blocks = [
    block('sql', "CREATE ROLE somebody;\nSELECT 'fine'\n  FROM chain_data_1.meta;"),
    block('sql', 'SELECT 1 FROM chain_data_1.no_such_table;\n\nVACUUM chain_data_1.tx;')
  ]
  const problems = await runSql(blocks)
  expect(problems).toEqual([{ at: 'docs/wrong.md:2', message: expect.stringContaining('no_such_table') }])
})

it('YAML is refused where it does not parse', () => {
  expect(checkYaml(block('yaml', 'a: 1\nb: [1, 2]'))).toEqual([])
  expect(places(checkYaml(block('yaml', 'a: 1\na: 2')))).toEqual(['docs/wrong.md:4'])
})

describe('commands', () => {
  const problemsOf = (code: string) => messages(checkShell(block('sh', code)))

  it.each([
    'npm ci && npm start    # and more',
    'npm start -- --once \\\n  --port 0',
    'npm install @chain-data/client msw',
    'npm run codegen -- --check',
    'npm test -- packages/client -t cursor',
    'npm run chain-data -- status --watch',
    'npm run size -w @chain-data/client',
    'npm start -w examples/quickstart -- http://127.0.0.1:8080',
    'npm ci --prefix examples/next-route && npm start --prefix examples/next-route',
    "CHAIN_DATA_EVM_1=https://your-node CHAIN_DATA_PROJECT='demo:a key' npm start",
    'npx chain-data serve --config chain-data.json',
    'npx @chain-data/devnet --help',
    'chain-data project create shop --client --origin https://shop.example',
    "curl -s http://127.0.0.1:8080/evm-chain -d '{}' | cat",
    'npx vitest run --config .config/vitest.config.ts docs/test'
  ])('are let through: %s', code => {
    expect(problemsOf(code).filter(message => message !== 'no program cat is known here')).toEqual([])
  })

  it.each([
    ['npm run no-such-script', 'no script no-such-script'],
    ['npm test -- packages/no-such-package', 'no file packages/no-such-package'],
    ['npm start -w examples/no-such-example', 'no package in examples/no-such-example'],
    ['npm ci --prefix examples/no-such-example', 'no package in examples/no-such-example'],
    ['npm start -- --onse', "unknown option '--onse'"],
    ['npm start -- --port 70000', '65535'],
    ['npm install no-such-package', 'knows no package no-such-package'],
    ['npx chain-data serv', "unknown command 'serv'"],
    ['npm run chain-data -- serv', "unknown command 'serv'"],
    ['npx chain-data verify 1 0x12', '40 digits'],
    ['npx chain-data serve --konfig a.json', "unknown option '--konfig'"],
    ['npx @chain-data/conformance --base-url http://127.0.0.1:8080', '--project is missing'],
    ['npx no-such-program', 'no program no-such-program'],
    ['node no/such/file.ts', 'no file no/such/file.ts'],
    ["node -e 'const = 1'", 'Unexpected token'],
    ['CHAIN_DATA_STOER=sqlite:here npx chain-data serve', 'nothing reads the variable CHAIN_DATA_STOER'],
    ['docker run chain-data', 'no program docker'],
    ["npm ci 'open", 'cannot be read']
  ])('are refused: %s', (code, message) => {
    expect(problemsOf(code)).toEqual([expect.stringContaining(message)])
  })

  it('are found in the text too', () => {
    const lines = [
      'Run `npm run one`.',
      '```sh',
      '`npm run two`',
      '```',
      'Or `A=b npx three` and `npm run <name>`'
    ]
    const spans = readSpans('docs/wrong.md', lines.join('\n'))
    expect(spans.map(({ line, code }) => [line, code])).toEqual([
      [1, 'npm run one\n'],
      [5, 'A=b npx three\n']
    ])
  })

  it('are told by their line', () => {
    const problems = checkShell(block('sh', "npm ci\n\n# Comment\nnpm run one 'a\nb' \\\n  c && npm run two"))
    expect(places(problems)).toEqual(['docs/wrong.md:6', 'docs/wrong.md:8'])
  })

  it('are run when they ask the service', () => {
    const code = [
      'npm start',
      'npm start -w examples/node-http',
      'npm start -w examples/quickstart',
      'curl http://127.0.0.1:8080/health/ready'
    ]
    expect(commandsToRun(block('sh', code.join('\n'))).map(({ line }) => line)).toEqual([3, 4])
  })

  it('fail where the service refuses or is not there', async () => {
    const asking = block('sh', `node -e "fetch('http://127.0.0.1:8080/evm-chain')"\nnpm ci`)
    const commands = commandsToRun(asking)
    expect(commands).toHaveLength(1)
    const addresses = { baseUrl: 'http://127.0.0.1:1', nodeUrl: 'http://127.0.0.1:1' }
    const { problem } = await runCommand(asking, commands[0]!, addresses)
    expect(problem).toMatchObject({
      at: 'docs/wrong.md:3',
      message: expect.stringMatching(/^ended with 1: .*fetch failed/s)
    })
  })
})

it('what a page shows is what was printed, but for what it leaves out', () => {
  const shown = block('text', 'first\n…\n243 passed, … failed', '<!-- printed -->')
  expect(checkPrinted(shown, 'first\nsecond  \nthird\n\x1b[32m243 passed\x1b[0m, 0 failed\n')).toEqual([])
  expect(places(checkPrinted(shown, 'first\nsecond\n242 passed, 0 failed\n'))).toEqual(['docs/wrong.md:3'])
})
