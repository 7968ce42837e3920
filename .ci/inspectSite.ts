import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, posix, sep } from 'node:path'

/** What a look at the files of a built site told. */
export interface SiteReport {
  readonly pages: number
  readonly links: number
  /** Each begins with the file, as a path below the folder of the site. */
  readonly faults: readonly string[]
}

interface Page {
  readonly html: string
  readonly ids: readonly string[]
}

/** The files of a site, by their paths below its folder; what is no page has no `Page`. */
type Site = ReadonlyMap<string, Page | undefined>

/**
 * Looks at the files of a site, without a browser: every link and anchor leads to something in it, every image is there
 * and described, nothing is loaded from elsewhere, and no two elements of a page have one id.
 */
export function inspectSite(folder: string): SiteReport {
  const site: Site = new Map(filesOf(folder).map(name => [name, readPage(folder, name)]))
  const pages = [...site].flatMap(([name, page]) => (page === undefined ? [] : [{ name, ...page }]))
  const styles = [...site.keys()].filter(name => name.endsWith('.css'))
  return {
    pages: pages.length,
    links: pages.reduce((sum, { html }) => sum + attributes(html, 'a', 'href').length, 0),
    faults: [
      ...pages.flatMap(({ name, html, ids }) =>
        [...faultsOfTargets(site, name, html), ...faultsOfIds(ids), ...faultsOfImages(html)].map(
          fault => `${name}: ${fault}`
        )
      ),
      ...styles.flatMap(name =>
        faultsOfStyle(readFileSync(join(folder, name), 'utf8')).map(fault => `${name}: ${fault}`)
      )
    ]
  }
}

function filesOf(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return names.filter(name => statSync(join(folder, name)).isFile()).map(name => name.split(sep).join('/'))
}

function readPage(folder: string, name: string): Page | undefined {
  if (!name.endsWith('.html')) return undefined
  const html = readFileSync(join(folder, name), 'utf8')
  return { html, ids: attributes(html, '[a-z][a-z0-9]*', 'id') }
}

/** The values of some attributes of a page, in the tags whose name fits. */
function attributes(html: string, tags: string, names: string): string[] {
  const found = html.matchAll(new RegExp(`<(?:${tags})\\b[^>]*?\\s(?:${names})="([^"]*)"`, 'g'))
  return [...found].map(([, value = '']) => textOf(value))
}

/** What stands in an attribute, entities of HTML put back. */
function textOf(text: string): string {
  return text
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
}

/** Links may lead elsewhere; what a page loads may not. */
function faultsOfTargets(site: Site, name: string, html: string): string[] {
  const links = attributes(html, 'a', 'href').filter(target => !isElsewhere(target))
  const loaded = [
    ...attributes(html, 'img|script|source|iframe|video|audio|use', 'src|href'),
    ...attributes(html, 'link', 'href')
  ]
  return [
    ...[...links, ...loaded.filter(target => !isElsewhere(target))].flatMap(target => {
      const fault = faultOfTarget(site, name, target)
      return fault === undefined ? [] : [`${target} ${fault}`]
    }),
    ...loaded.filter(isFetchedElsewhere).map(target => `${target} comes from elsewhere`)
  ]
}

function faultOfTarget(site: Site, page: string, target: string): string | undefined {
  const [path = '', fragment = ''] = target.split('#').map(decodeURIComponent)
  const goal = path === '' ? page : posix.join(posix.dirname(page), path)
  if (path.startsWith('/') || goal.startsWith('..')) return 'leads out of the site'
  const file = site.has(goal) ? goal : posix.join(goal, 'index.html')
  if (!site.has(file)) return 'leads to no file'
  const ids = site.get(file)?.ids
  return fragment === '' || ids === undefined || ids.includes(fragment) ? undefined : 'leads to no anchor'
}

function faultsOfIds(ids: readonly string[]): string[] {
  const seen = new Set<string>()
  return ids.filter(id => seen.size === seen.add(id).size).map(id => `the id ${id} is there twice`)
}

function faultsOfImages(html: string): string[] {
  const images = [...html.matchAll(/<img\b[^>]*>/g)].map(([image]) => image)
  return images
    .filter(image => !/\balt="[^"]+"/.test(image))
    .map(image => `${image} says nothing to who cannot see it`)
}

/** Style sheets may load things too. */
function faultsOfStyle(css: string): string[] {
  const named = [...css.matchAll(/url\(\s*["']?([^"')]+)|@import\s+["']([^"']+)/g)]
  return named
    .map(([, url, imported]) => url ?? imported ?? '')
    .filter(isFetchedElsewhere)
    .map(target => `${target} comes from elsewhere`)
}

const isElsewhere = (target: string) => /^([a-z][a-z0-9+.-]*:|\/\/)/i.test(target)
const isFetchedElsewhere = (target: string) => isElsewhere(target) && !target.startsWith('data:')
