/** A number that is copied by itself is copied as programs read it: without separators. */
export function copyPlainNumbers(): void {
  document.addEventListener('copy', event => {
    const selection = getSelection()
    const start = selection?.anchorNode
    const number = (start instanceof Element ? start : start?.parentElement)?.closest('data')
    if (!number || selection?.toString().trim() !== number.textContent) return
    event.clipboardData?.setData('text/plain', number.value)
    event.preventDefault()
  })
}
