import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { inspectSite } from '../../.ci/inspectSite.ts'

const whole = {
  'index.html': `<link rel="stylesheet" href="style.css"><h1 id="top">Top</h1>
    <a href="guides/one.html#a%26b">One</a> <a href="#top">Up</a> <a href="https://elsewhere.example">Elsewhere</a>
    <img alt="A picture" src="picture.svg"> <img src="data:image/png;base64,AA" alt="A dot">`,
  'guides/one.html': '<h1 id="a&amp;b">One</h1> <a class="home" href="..">Home</a>',
  'picture.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
  'style.css': 'a { background: url(picture.svg) } b { background: url("data:image/png;base64,AA") }'
}

const folder = mkdtempSync(join(tmpdir(), 'chain-data-site-'))
afterAll(() => rmSync(folder, { recursive: true }))

let sites = 0
function faultsOf(files: Readonly<Record<string, string>>) {
  const site = join(folder, String(++sites))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(site, name)), { recursive: true })
    writeFileSync(join(site, name), text)
  }
  return inspectSite(site)
}

describe('a built site', () => {
  it('has no faults when it is whole', () => {
    expect(faultsOf(whole)).toEqual({ pages: 2, links: 4, faults: [] })
  })

  it.each([
    ['<a href="two.html">', 'two.html leads to no file'],
    ['<a href="one.html#c">', 'one.html#c leads to no anchor'],
    ['<a href="../index.html#c">', '../index.html#c leads to no anchor'],
    ['<a href="#c">', '#c leads to no anchor'],
    ['<a href="../../other/">', '../../other/ leads out of the site'],
    ['<a href="/one.html">', '/one.html leads out of the site'],
    ['<img src="picture.svg" alt="A picture">', 'picture.svg leads to no file'],
    ['<img src="../picture.svg">', '<img src="../picture.svg"> says nothing to who cannot see it'],
    ['<script src="//cdn.example/a.js"></script>', '//cdn.example/a.js comes from elsewhere'],
    ['<link href="https://cdn.example/a.css">', 'https://cdn.example/a.css comes from elsewhere'],
    ['<p id="a&amp;b">', 'the id a&b is there twice']
  ])('is not whole with %s', (added, fault) => {
    const page = 'guides/one.html'
    expect(faultsOf({ ...whole, [page]: whole[page] + added }).faults).toEqual([`${page}: ${fault}`])
  })

  it.each(['@import "https://cdn.example/a.css";', 'a { background: url(https://cdn.example/a.css) }'])(
    'is not whole with a style sheet that says %s',
    css => {
      const fault = 'style.css: https://cdn.example/a.css comes from elsewhere'
      expect(faultsOf({ ...whole, 'style.css': css }).faults).toEqual([fault])
    }
  )

  it('is not whole without a file that it names', () => {
    const { 'picture.svg': _picture, ...others } = whole
    expect(faultsOf(others).faults).toEqual(['index.html: picture.svg leads to no file'])
  })
})
