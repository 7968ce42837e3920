/**
 * Makes one element look like another by changing only what differs, so that nothing flickers, scrolls or loses the
 * focus.
 */
export function morph(current: Element, wanted: Element): void {
  for (const { name } of [...current.attributes]) {
    if (!wanted.hasAttribute(name)) current.removeAttribute(name)
  }
  for (const { name, value } of wanted.attributes) {
    if (current.getAttribute(name) !== value) current.setAttribute(name, value)
  }
  const before = [...current.childNodes]
  const after = [...wanted.childNodes]
  for (const [place, next] of after.entries()) {
    const old = before[place]
    if (old === undefined) current.append(next)
    else if (old instanceof Element && next instanceof Element && old.nodeName === next.nodeName)
      morph(old, next)
    else if (old instanceof Text && next instanceof Text) {
      if (old.data !== next.data) old.data = next.data
    } else old.replaceWith(next)
  }
  for (const extra of before.slice(after.length)) extra.remove()
}
