import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findDrift } from './findDrift.ts'
import { errorsPage, generate, specPath } from './generate.ts'
import { readVectors } from './readVectors.ts'
import { runCodegen } from './runCodegen.ts'

const repository = fileURLToPath(new URL('../../..', import.meta.url))

it('finds the committed files to be what the document gives', async () => {
  const files = await generate(
    await readFile(join(repository, specPath), 'utf8'),
    await readVectors(repository),
    await readFile(join(repository, errorsPage), 'utf8')
  )
  expect(await findDrift(repository, files)).toEqual([])
})

describe('in a folder of its own', () => {
  let root: string
  let lines: string[]
  const run = (...args: string[]) => runCodegen(root, args, line => lines.push(line))
  const changed = () => lines.slice(0, -1).map(line => line.split(' ')[0])

  beforeEach(async () => {
    lines = []
    root = await mkdtemp(join(tmpdir(), 'codegen-'))
    await cp(join(repository, 'spec'), join(root, 'spec'), { recursive: true })
    await mkdir(join(root, 'docs'))
    const marks = '<!-- generated: error cases -->\n<!-- end of the generated part -->'
    await writeFile(join(root, errorsPage), `# Errors\n\nBefore.\n\n${marks}\n\nBehind.\n`)
  })

  afterEach(async () => {
    await rm(root, { recursive: true, force: true })
  })

  it('reports every file as differing before the first run, and none after it', async () => {
    expect(await run('--check')).toBe(1)
    expect(lines).toContain('docs/methods.md differs from what the specification gives.')
    expect(await run()).toBe(0)
    lines = []
    expect(await run('--check')).toBe(0)
    expect(lines).toEqual([])
  })

  it('names exactly the files that were edited or are left over', async () => {
    await run()
    const folder = join(root, 'packages/protocol/src/generated')
    await writeFile(join(folder, 'errors.gen.ts'), 'export {}\n')
    await writeFile(join(folder, 'former.gen.ts'), 'export {}\n')
    await writeFile(join(root, 'docs/methods/svc_former.md'), '# svc_former\n')
    lines = []
    expect(await run('--check')).toBe(1)
    expect(lines.slice(0, -1)).toEqual([
      'docs/methods/svc_former.md differs from what the specification gives.',
      'packages/protocol/src/generated/errors.gen.ts differs from what the specification gives.',
      'packages/protocol/src/generated/former.gen.ts differs from what the specification gives.'
    ])
  })

  it('reports the file of the vectors, and no other, when one of them changes', async () => {
    await run()
    const path = join(root, 'spec/vectors/id/none.io')
    await writeFile(path, (await readFile(path, 'utf8')).replace('no notifications', 'some'))
    lines = []
    expect(await run('--check')).toBe(1)
    expect(lines.slice(0, -1)).toEqual([
      'packages/conformance/src/generated/vectors.gen.ts differs from what the specification gives.'
    ])
  })

  it('renews the error cases and leaves what stands around them', async () => {
    await run()
    const page = await readFile(join(root, errorsPage), 'utf8')
    expect(page).toMatch(/^# Errors\n\nBefore\.\n[\s\S]*\n### NOT_SYNCED\n[\s\S]*\nBehind\.\n$/)
    await writeFile(join(root, errorsPage), page.replace('### NOT_SYNCED', '### SYNCED'))
    lines = []
    expect(await run('--check')).toBe(1)
    expect(lines).toContain('docs/errors.md differs from what the specification gives.')
    expect(await run()).toBe(0)
    expect(await readFile(join(root, errorsPage), 'utf8')).toBe(page)
  })

  it('wants the marks between which the error cases go', async () => {
    await writeFile(join(root, errorsPage), '# Errors\n')
    expect(await run()).toBe(1)
    expect(lines.join()).toContain('docs/errors.md needs the lines <!-- generated: error cases -->')
  })

  it('reports the files that hold the version when it changes, and no other', async () => {
    await run()
    const path = join(root, specPath)
    await writeFile(path, (await readFile(path, 'utf8')).replace('"version": "1.0.0"', '"version": "1.0.1"'))
    lines = []
    expect(await run('--check')).toBe(1)
    expect(changed()).toEqual([
      'docs/methods.md',
      'packages/protocol/src/generated/document.gen.ts',
      'packages/protocol/src/generated/methods.gen.ts'
    ])
  })

  it('changes four files, and of the validators only its own lines, when a record gains a field', async () => {
    await run()
    const path = join(root, specPath)
    const document = JSON.parse(await readFile(path, 'utf8'))
    const validators = join(root, 'packages/protocol/src/generated/resultValidators.gen.ts')
    const before = (await readFile(validators, 'utf8')).split('\n')
    const shade = { type: 'string', title: 'Shade', description: 'Its shade.', 'x-extension': true }
    for (const name of ['PendingTransaction', 'ConfirmedTransaction'])
      document.components.schemas[name].properties.shade = shade
    await writeFile(path, JSON.stringify(document))
    lines = []
    expect(await run(), lines.join('\n')).toBe(0)
    expect(lines.map(line => line.split(' ')[0])).toEqual([
      'docs/methods/types.md',
      'packages/protocol/src/generated/document.gen.ts',
      'packages/protocol/src/generated/resultValidators.gen.ts',
      'packages/protocol/src/generated/types.gen.ts'
    ])
    const after = (await readFile(validators, 'utf8')).split('\n')
    const removed = before.filter(line => !after.includes(line)).map(line => line.slice(0, 40))
    expect(removed).toEqual([
      expect.stringMatching(/^const schema_PendingTransaction = /),
      expect.stringMatching(/^const schema_ConfirmedTransaction = /)
    ])
  })

  it('names the problem of an invalid document and writes nothing', async () => {
    const path = join(root, specPath)
    await writeFile(path, (await readFile(path, 'utf8')).replaceAll('schemas/EvmNft"', 'schemas/Nothing"'))
    expect(await run()).toBe(1)
    expect(lines.join('\n')).toMatch(/refers to #\/components\/schemas\/Nothing, where there is nothing/)
    await expect(readFile(join(root, 'docs/methods.md'))).rejects.toThrow(/ENOENT/)
  })

  it('says where a document stops being JSON', async () => {
    await writeFile(join(root, specPath), '{ "openrpc": "1.3.2",, }')
    expect(await run('--check')).toBe(1)
    expect(lines.join('\n')).toMatch(/not JSON: .*position 21/)
  })

  it('refuses arguments it does not know with exit code 2', async () => {
    expect(await run('--chek')).toBe(2)
    expect(lines).toEqual(['Unknown argument --chek; expected --check or nothing.'])
  })
})
