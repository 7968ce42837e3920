import { createFormat } from '../view/createFormat.ts'
import type { Html } from '../view/html.ts'
import { judgeServer } from '../view/judgeChains.ts'
import { renderAnswer, renderSilence, renderState } from '../view/renderState.ts'
import { copyButtons } from './copyButtons.ts'
import { copyPlainNumbers } from './copyPlainNumbers.ts'
import { applyTheme, keepTheme } from './keepTheme.ts'
import { morph } from './morph.ts'
import { pollReport } from './pollReport.ts'

// The script stands in the head, so that the page is never painted in the wrong colours.
applyTheme()
document.documentElement.classList.add('live')
document.addEventListener('DOMContentLoaded', start)

function start(): void {
  const format = createFormat()
  const answer = byId('answer')
  const state = byId('state')
  const announcer = byId('announcer')
  // Below whatever path a proxy shows this page, with or without the slash; `//x/` alone would name a host.
  const base = new URL(location.origin + location.pathname.replace(/\/*$/, '/'))
  const { word: firstWord = '', nowSeconds, everyMs } = document.body.dataset
  let lastWord = firstWord
  let asOfSeconds = Number(nowSeconds)

  /** Aloud only when it became something else: a percentage that grows would be read out every few seconds. */
  const announce = (word: string, sentence: string) => {
    document.title = `${word} · chain-data status`
    if (word === lastWord) return
    lastWord = word
    announcer.textContent = sentence
  }

  for (const place of document.querySelectorAll('[data-origin]')) {
    place.textContent = base.href.replace(/\/$/, '')
  }
  keepTheme(byId('theme'))
  copyPlainNumbers()
  copyButtons(text => {
    announcer.textContent = text
  })
  pollReport(new URL('status.json', base), Number(everyMs), {
    onReport(report) {
      asOfSeconds = report.server.nowSeconds
      const { word, sentence } = judgeServer(report, format)
      show(answer, renderAnswer(report, format))
      show(state, renderState(report, format))
      announce(word, sentence)
    },
    onSilence(since) {
      show(answer, renderSilence(format, since, asOfSeconds))
      announce('Not reachable', 'The server is not reachable')
    }
  })
}

function show(place: Element, content: Html): void {
  const wanted = place.cloneNode(false) as Element
  // Parsed in a document of its own, where nothing runs and nothing is loaded.
  const { body } = new DOMParser().parseFromString(content.markup, 'text/html')
  wanted.append(...body.childNodes)
  morph(place, wanted)
}

function byId(id: string): HTMLElement {
  const found = document.getElementById(id)
  if (found === null) throw new Error(`the page has no element with the id "${id}"`)
  return found
}
