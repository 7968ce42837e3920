const themes = ['auto', 'light', 'dark'] as const
type Theme = (typeof themes)[number]

const key = 'chain-data-theme'

/** Shows the page as this reader last chose; to be called before anything is painted. */
export function applyTheme(theme: Theme = readTheme()): void {
  if (theme === 'auto') document.documentElement.removeAttribute('data-theme')
  else document.documentElement.setAttribute('data-theme', theme)
}

/** The button goes from auto to light to dark, and remembers. */
export function keepTheme(button: HTMLElement): void {
  const show = (theme: Theme) => {
    button.textContent = `Theme: ${theme}`
    applyTheme(theme)
  }
  button.addEventListener('click', () => {
    const next = themes[(themes.indexOf(readTheme()) + 1) % themes.length] ?? 'auto'
    memory = next
    try {
      localStorage.setItem(key, next)
    } catch {
      // Storage may be forbidden: then it is remembered as long as the page is open.
    }
    show(next)
  })
  show(readTheme())
}

let memory: Theme = 'auto'

function readTheme(): Theme {
  try {
    const stored = localStorage.getItem(key)
    return themes.find(theme => theme === stored) ?? memory
  } catch {
    return memory
  }
}
