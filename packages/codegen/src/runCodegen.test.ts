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

  it('reports every file that names the hash of the document when that changes', async () => {
    await run()
    const path = join(root, specPath)
    await writeFile(path, (await readFile(path, 'utf8')).replace('"version": "1.0.0"', '"version": "1.0.1"'))
    lines = []
    expect(await run('--check')).toBe(1)
    const errors = await readFile(join(root, errorsPage), 'utf8')
    const files = await generate(await readFile(path, 'utf8'), await readVectors(root), errors)
    const naming = [...files].filter(([, content]) => content.split('\n', 1)[0]?.includes('sha-256'))
    expect(naming.length).toBe(files.size - 2)
    expect(lines.slice(0, -1)).toHaveLength(naming.length)
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
