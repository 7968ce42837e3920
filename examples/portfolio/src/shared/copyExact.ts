/** Whoever selects a shown amount and copies it gets all of its digits, not the cut ones. */
export function copyExactAmounts(): void {
  document.addEventListener('copy', event => {
    const selection = getSelection()
    if (selection === null || selection.isCollapsed) return
    const amount = amountOf(selection.anchorNode)
    const exact = amount?.dataset.exact
    if (exact === undefined || amount !== amountOf(selection.focusNode)) return
    event.clipboardData?.setData('text/plain', exact)
    event.preventDefault()
  })
}

function amountOf(node: Node | null): HTMLElement | null | undefined {
  const element = node instanceof Element ? node : node?.parentElement
  return element?.closest<HTMLElement>('[data-exact]')
}
