import { useSyncExternalStore } from 'react'

const themes = ['auto', 'light', 'dark'] as const
/** `auto` follows the reader's system. */
export type Theme = (typeof themes)[number]

const key = 'portfolio-theme'
const listeners = new Set<() => void>()
let chosen: Theme | undefined

/** What the reader chose last. */
function readTheme(): Theme {
  if (chosen !== undefined) return chosen
  try {
    const stored = localStorage.getItem(key)
    chosen = themes.find(theme => theme === stored) ?? 'auto'
  } catch {
    // Storage may be forbidden: then the choice lasts as long as the page is open.
    chosen = 'auto'
  }
  return chosen
}

/** Shows the page in a theme and remembers it. */
function setTheme(theme: Theme): void {
  chosen = theme
  try {
    localStorage.setItem(key, theme)
  } catch {
    // As above.
  }
  applyTheme()
  for (const listener of listeners) listener()
}

/** To be called before anything is painted. */
export function applyTheme(): void {
  const theme = readTheme()
  if (theme === 'auto') document.documentElement.removeAttribute('data-theme')
  else document.documentElement.setAttribute('data-theme', theme)
}

/** A button that goes from auto to light to dark. */
export function useTheme(): { theme: Theme; next: () => void } {
  const theme = useSyncExternalStore(subscribe, readTheme)
  return { theme, next: () => setTheme(themes[(themes.indexOf(theme) + 1) % themes.length] ?? 'auto') }
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
