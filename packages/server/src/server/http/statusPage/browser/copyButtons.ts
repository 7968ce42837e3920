const shownMs = 2_000

/** Makes every `button[data-copy]` copy the text of the element with that id, and say so. */
export function copyButtons(say: (text: string) => void): void {
  for (const button of document.querySelectorAll<HTMLElement>('button[data-copy]')) {
    const label = button.textContent
    button.addEventListener('click', async () => {
      const source = document.getElementById(button.dataset.copy ?? '')
      const copied = source !== null && (await copy(source))
      button.textContent = copied ? 'Copied' : 'Selected'
      say(copied ? 'Copied' : 'Selected: copy it with the keyboard')
      setTimeout(() => {
        button.textContent = label
      }, shownMs)
    })
  }
}

/** The clipboard is closed to pages that came over plain http: then the text is selected, and copied the old way. */
async function copy(source: HTMLElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(source.textContent ?? '')
    return true
  } catch {
    getSelection()?.selectAllChildren(source)
    return document.execCommand('copy')
  }
}
