import type { ServiceDocument } from '../document.ts'

/** `docs/methods.md`: the reference for readers. */
export function emitMethodsPage(document: ServiceDocument): string {
  return `# Methods\n\nVersion ${document.info.version}.\n`
}
