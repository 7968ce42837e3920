/**
 * Script of the status page, as it stands in it: plain JavaScript, so that nothing has to be bundled. It keeps the theme,
 * writes times and numbers as its reader does, and asks for the page again, of which it takes what differs.
 */
export const pageScript = `
'use strict'
// The script stands in the head, so that the page is never painted in the wrong colours.
const root = document.documentElement
const nextTheme = { auto: 'light', light: 'dark' }
root.className = 'live'
// Storage may be forbidden: then a theme lasts as long as the page is open.
try { root.dataset.theme = localStorage.getItem('chain-data-theme') ?? 'auto' } catch { root.dataset.theme = 'auto' }

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
const moment = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' })
const numbers = new Intl.NumberFormat(undefined, { maximumFractionDigits: 9 })

/** Writes times in the zone of the reader, and numbers as the reader groups them. */
function localise(part) {
  for (const time of part.querySelectorAll('time')) {
    time.textContent = clock.format(new Date(time.dateTime))
    time.title = moment.format(new Date(time.dateTime))
  }
  for (const number of part.querySelectorAll('data')) number.textContent = numbers.format(number.value)
}

/** Makes a node like another one by changing only what differs: scroll, focus and selection stay. */
function update(now, next) {
  if (now.isEqualNode(next)) return
  const form = node => node.nodeName + node.childNodes.length + node.getAttributeNames?.()
  if (now.nodeType !== 1 || form(now) !== form(next)) return now.replaceWith(next)
  for (const { name, value } of next.attributes) now.setAttribute(name, value)
  for (const [index, child] of [...next.childNodes].entries()) update(now.childNodes[index], child)
}

document.addEventListener('DOMContentLoaded', () => {
  const find = selector => document.querySelector(selector)
  const button = find('#theme')
  button.textContent = 'Theme: ' + root.dataset.theme
  button.onclick = () => {
    const theme = root.dataset.theme = nextTheme[root.dataset.theme] ?? 'auto'
    button.textContent = 'Theme: ' + theme
    try { localStorage.setItem('chain-data-theme', theme) } catch {}
  }
  localise(find('main'))

  let failures = 0
  let timer
  async function ask() {
    clearTimeout(timer)
    if (document.hidden) return
    let title = 'Not reachable · chain-data status'
    try {
      const response = await fetch(location.href, { cache: 'no-store', signal: AbortSignal.timeout(10_000) })
      // Parsed in a document of its own, where nothing runs and nothing is loaded.
      const page = new DOMParser().parseFromString(await response.text(), 'text/html')
      const next = page.querySelector('main[data-now]')
      if (!response.ok || next === null) throw new Error('this is not the status page')
      localise(next)
      update(find('main'), next)
      title = page.title
      failures = 0
    } catch {
      if (failures++ === 0) {
        find('#answer').replaceChildren(find('#silence').content.cloneNode(true))
        const [since, asOf] = document.querySelectorAll('#answer time')
        since.dateTime = new Date().toISOString()
        asOf.dateTime = find('main').dataset.now
        localise(find('#answer'))
      }
    }
    // Said aloud only when it changes, not with every number.
    if (document.title !== title) find('#announcer').textContent = find('h1').textContent
    document.title = title
    clearTimeout(timer)
    timer = setTimeout(ask, Math.min(60_000, document.body.dataset.everyMs * 2 ** failures))
  }
  document.addEventListener('visibilitychange', ask)
  timer = setTimeout(ask, document.body.dataset.everyMs / 2)
})
`
