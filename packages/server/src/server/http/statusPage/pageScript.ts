/**
 * Script of the status page, as it stands in it: plain JavaScript, so that nothing has to be bundled. It keeps the theme,
 * writes times and numbers as its reader does, and asks for the page again, of which it takes what differs.
 */
export const pageScript = `
'use strict'
const themes = ['auto', 'light', 'dark']
const themeKey = 'chain-data-theme'
let theme = 'auto'
try {
  theme = themes.find(known => known === localStorage.getItem(themeKey)) ?? 'auto'
} catch {
  // Storage may be forbidden: then a theme lasts as long as the page is open.
}

function applyTheme() {
  if (theme === 'auto') document.documentElement.removeAttribute('data-theme')
  else document.documentElement.setAttribute('data-theme', theme)
}

// The script stands in the head, so that the page is never painted in the wrong colours.
applyTheme()
document.documentElement.classList.add('live')
document.addEventListener('DOMContentLoaded', start)

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
const moment = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' })
const numbers = new Intl.NumberFormat(undefined, { maximumFractionDigits: 9 })

/** Writes times in the zone of the reader, and numbers as the reader groups them. */
function localise(root) {
  for (const time of root.querySelectorAll('time')) {
    const date = new Date(time.dateTime)
    time.textContent = clock.format(date)
    time.title = moment.format(date)
  }
  for (const number of root.querySelectorAll('data')) number.textContent = numbers.format(Number(number.value))
}

/** Makes an element like another one by changing only what differs: scroll, focus and selection stay. */
function update(now, next) {
  for (const { name } of [...now.attributes]) if (!next.hasAttribute(name)) now.removeAttribute(name)
  for (const { name, value } of next.attributes) {
    if (now.getAttribute(name) !== value) now.setAttribute(name, value)
  }
  const [before, after] = [[...now.childNodes], [...next.childNodes]]
  for (const [index, wanted] of after.entries()) {
    const old = before[index]
    if (old === undefined) now.append(wanted)
    else if (old.nodeName !== wanted.nodeName) old.replaceWith(wanted)
    else if (old instanceof Element) update(old, wanted)
    else if (old.data !== wanted.data) old.data = wanted.data
  }
  for (const extra of before.slice(after.length)) extra.remove()
}

function start() {
  const main = document.querySelector('main')
  const announcer = document.getElementById('announcer')
  const button = document.getElementById('theme')
  localise(main)

  /** Shows another state of the page; says it aloud only when its title changes, not with every number. */
  function show(next, title) {
    localise(next)
    update(main, next)
    if (document.title === title) return
    document.title = title
    announcer.textContent = main.querySelector('h1').textContent
  }

  button.textContent = 'Theme: ' + theme
  button.addEventListener('click', () => {
    theme = themes[(themes.indexOf(theme) + 1) % themes.length]
    try {
      localStorage.setItem(themeKey, theme)
    } catch {}
    button.textContent = 'Theme: ' + theme
    applyTheme()
  })

  // A number that is copied by itself is copied as programs read it.
  document.addEventListener('copy', event => {
    const selection = getSelection()
    const from = selection.anchorNode
    const number = (from instanceof Element ? from : from?.parentElement)?.closest('data')
    if (!number || selection.toString().trim() !== number.textContent) return
    event.clipboardData.setData('text/plain', number.value)
    event.preventDefault()
  })

  const everyMs = Number(document.body.dataset.everyMs)
  const maxWaitMs = 60_000
  const timeoutMs = 10_000
  let failures = 0
  let silentSinceMs = 0
  let timer
  let isAsking = false

  function wait(ms) {
    clearTimeout(timer)
    if (!document.hidden) timer = setTimeout(ask, ms)
  }

  async function ask() {
    if (isAsking) return
    isAsking = true
    try {
      const response = await fetch(location.href, { cache: 'no-store', signal: AbortSignal.timeout(timeoutMs) })
      // Parsed in a document of its own, where nothing runs and nothing is loaded.
      const page = new DOMParser().parseFromString(await response.text(), 'text/html')
      const next = page.querySelector('main[data-now-seconds]')
      if (!response.ok || next === null) throw new Error('this is not the status page')
      show(next, page.title)
      failures = 0
    } catch {
      if (failures === 0) silentSinceMs = Date.now()
      failures++
      showSilence()
    } finally {
      isAsking = false
    }
    wait(Math.min(maxWaitMs, everyMs * 2 ** failures))
  }

  function showSilence() {
    const next = main.cloneNode(true)
    const answer = next.querySelector('#answer')
    answer.replaceChildren(document.getElementById('silence').content.cloneNode(true))
    const [since, asOf] = answer.querySelectorAll('time')
    since.dateTime = new Date(silentSinceMs).toISOString()
    asOf.dateTime = new Date(main.dataset.nowSeconds * 1_000).toISOString()
    show(next, 'Not reachable · chain-data status')
  }

  document.addEventListener('visibilitychange', () => {
    clearTimeout(timer)
    if (!document.hidden) ask()
  })
  wait(everyMs / 2)
}
`
