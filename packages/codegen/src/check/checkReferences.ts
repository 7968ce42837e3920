import { isReference, lookUp } from '../document.ts'

/** Dangling references, and references that lead back to where they are. */
export function checkReferences(document: object): string[] {
  const problems: string[] = []
  const done = new Set<string>()
  const visit = (value: unknown, place: string, path: string[]) => {
    if (typeof value !== 'object' || value === null) return
    if (isReference(value)) follow(value.$ref, place, path)
    for (const [key, child] of Object.entries(value)) visit(child, `${place}/${key}`, path)
  }
  const follow = (ref: string, place: string, path: string[]) => {
    if (path.includes(ref)) {
      problems.push(`${place} is recursive: ${[...path, ref].join(' -> ')}`)
      return
    }
    const target = lookUp(document, ref)
    if (target === undefined) {
      problems.push(`${place} refers to ${ref}, where there is nothing`)
      return
    }
    if (done.has(ref)) return
    visit(target, ref, [...path, ref])
    done.add(ref)
  }
  visit(document, '#', [])
  return problems
}
