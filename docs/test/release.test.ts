import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { placeholdersOf, withFacts, withHomepage } from '../../.ci/prepareRelease.ts'
import { repository as root } from './readBlocks.ts'

type Manifest = Record<string, unknown> & { scripts?: Record<string, string> }

const readManifest = (folder: string) =>
  JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as Manifest

const published = readdirSync(join(root, 'packages'))
  .map(name => ({ folder: `packages/${name}`, manifest: readManifest(`packages/${name}`) }))
  .filter(({ manifest }) => manifest.private !== true)

const real = {
  author: 'Ada Lovelace',
  homepage: 'https://docs.real.dev',
  repository: { type: 'git', url: 'git+https://forge.real.dev/chain-data.git' },
  bugs: 'https://forge.real.dev/chain-data/issues'
}

describe('a release', () => {
  it('is refused while the package.json of the repository has placeholders', () => {
    const own = placeholdersOf(readManifest('.'))
    expect(placeholdersOf(real)).toEqual([])
    expect(placeholdersOf({ ...real, homepage: 'https://chain-data.example' })).toEqual([
      '"homepage" of package.json is a placeholder: "https://chain-data.example"'
    ])
    expect(placeholdersOf({ ...real, bugs: undefined })).toEqual(['package.json has no "bugs"'])
    if (own.length === 0) return
    const { status, stderr } = spawnSync(process.execPath, ['.ci/prepareRelease.ts'], {
      cwd: root,
      encoding: 'utf8'
    })
    expect(status).toBe(1)
    for (const problem of own) expect(stderr).toContain(problem)
  })

  it('takes author, homepage, repository and bugs from one place', () => {
    for (const { folder, manifest } of published) {
      expect(Object.keys(manifest), folder).not.toEqual(
        expect.arrayContaining([expect.stringMatching(/^(author|homepage|repository|bugs)$/)])
      )
      expect(withFacts(manifest, real, folder)).toMatchObject({
        ...{ name: manifest.name, author: real.author, homepage: real.homepage, bugs: real.bugs },
        repository: { ...real.repository, directory: folder }
      })
    }
  })

  it.each(published)(
    'leaves no link in the README of $folder that leads out of the package',
    ({ folder }) => {
      const readme = readFileSync(join(root, folder, 'README.md'), 'utf8')
      const released = withHomepage(readme, folder, real.homepage)
      const links = [...released.matchAll(/\]\(([^()\s]+)\)/g)].map(([, target = '']) => target)
      expect(links.filter(link => !/^(#|https:\/\/)/.test(link))).toEqual([])
    }
  )

  it('names a link that would lead nowhere', () => {
    const text = 'See [how](../../docs/keys.md#web-pages) and [why](bench/README.md).'
    expect(() => withHomepage(text, 'packages/client', real.homepage)).toThrow(
      'packages/client/README.md links to bench/README.md, which is not in the package and not a guide.'
    )
    expect(withHomepage(text.split(' and')[0]!, 'packages/client', real.homepage)).toBe(
      'See [how](https://docs.real.dev/documents/keys.html#web-pages)'
    )
  })
})

describe('the published packages', () => {
  it.each(published)('are described in $folder, and run nothing when they are installed', ({ manifest }) => {
    expect(manifest).toMatchObject({
      ...{ description: expect.stringMatching(/\.$/), license: 'Apache-2.0' },
      keywords: expect.arrayContaining(['ethereum'])
    })
    const scripts = Object.keys(manifest.scripts ?? {})
    expect(scripts.filter(name => /^(pre|post)?install$|^prepare$/.test(name))).toEqual([])
  })
})
