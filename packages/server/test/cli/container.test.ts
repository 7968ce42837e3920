import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { DCLinter } from 'dclint'
import { validate } from 'dockerfile-utils'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import serverPackage from '../../package.json' with { type: 'json' }

const folder = new URL('../..', import.meta.url)
const dockerfile = readFileSync(new URL('Dockerfile', folder), 'utf8')
const composeFile = fileURLToPath(new URL('compose.yaml', folder))
const compose = parse(readFileSync(composeFile, 'utf8'))

/** Instructions of the Dockerfile, continued lines joined. */
const instructions = dockerfile
  .replace(/\\\n/g, ' ')
  .split('\n')
  .filter(line => line !== '' && !line.startsWith('#'))
  .map(line => {
    const [, name = '', rest = ''] = /^(\S+)\s+(.*)$/.exec(line) ?? []
    return { name, rest }
  })
const finalStage = instructions.slice(instructions.findLastIndex(({ name }) => name === 'FROM'))
const finalOf = (name: string) => finalStage.filter(instruction => instruction.name === name)

it('the Dockerfile and the compose file have no finding of their linters', () => {
  expect(validate(dockerfile, {})).toEqual([])
  const linter = new DCLinter({ rules: {}, quiet: false, debug: false, exclude: [] })
  const results = linter.lintFiles([composeFile], false)
  expect(results).toHaveLength(1)
  expect(results.flatMap(({ messages }: { readonly messages: readonly unknown[] }) => messages)).toEqual([])
})

it('every stage is of one exact version of Node, the one that the tests run on', () => {
  const bases = instructions.filter(({ name }) => name === 'FROM').map(({ rest }) => rest.split(' ')[0])
  expect(bases).toHaveLength(3)
  expect(new Set(bases)).toEqual(new Set([`node:${process.versions.node}-bookworm-slim`]))
})

it('the image runs as nobody special, in exec form, and keeps its index on a volume', () => {
  expect(finalOf('USER')).toEqual([{ name: 'USER', rest: '1000:1000' }])
  const commands = ['ENTRYPOINT', 'CMD'].map(name => JSON.parse(finalOf(name)[0]?.rest ?? ''))
  expect(commands).toEqual([['node', '/app/packages/server/dist/cli/main.js'], ['serve']])
  expect(serverPackage.bin['chain-data']).toBe('./dist/cli/main.js')
  expect(finalOf('STOPSIGNAL')[0]?.rest).toBe('SIGTERM')
  expect(finalOf('VOLUME')[0]?.rest).toBe('/data')
  expect(finalOf('EXPOSE')[0]?.rest).toBe('8080')
  expect(finalOf('ENV')[0]?.rest).toMatch(/CHAIN_DATA_PORT=8080 .*CHAIN_DATA_STORE=sqlite:\/data/)
  const [, check = ''] = /CMD (\[.*\])$/.exec(finalOf('HEALTHCHECK')[0]?.rest ?? '') ?? []
  expect(JSON.parse(check)).toEqual(['node', '-e', expect.stringContaining('/health/live')])
})

it('nothing that builds is in the image, and sources are copied after what is installed for them', () => {
  expect(finalOf('COPY').map(({ rest }) => rest.split(' ')[0])).toEqual([
    '--from=dependencies',
    '--from=build',
    '--from=build'
  ])
  const installs = instructions.filter(({ rest }) => rest.includes('npm ci'))
  expect(installs.map(({ rest }) => rest.includes('--ignore-scripts'))).toEqual([true, true])
  expect(installs[1]?.rest).toContain('--omit=dev')
  const firstInstall = instructions.findIndex(({ rest }) => rest.includes('npm ci'))
  const firstSource = instructions.findIndex(({ rest }) => /^packages\/\w+ packages/.test(rest))
  expect(firstInstall).toBeLessThan(firstSource)
})

it('the composed server has no right that it does not need, and is given the time to end', () => {
  const { server } = compose.services
  expect(server).toMatchObject({
    read_only: true,
    cap_drop: ['ALL'],
    security_opt: ['no-new-privileges:true'],
    ports: ['127.0.0.1:8080:8080', '127.0.0.1:8081:8081'],
    volumes: ['data:/data'],
    mem_limit: expect.any(String)
  })
  expect(Number.parseInt(server.stop_grace_period, 10)).toBeGreaterThan(10)
  expect(server.healthcheck.test.join(' ')).toContain('/health/live')
  expect(server).not.toHaveProperty('privileged')
})
