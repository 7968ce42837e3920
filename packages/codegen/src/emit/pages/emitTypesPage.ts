import type { ServiceDocument } from '../../document.ts'
import { typesPage } from './placeTypes.ts'
import { schemaSections } from './schemaSections.ts'

/** `docs/methods/types.md`: the types of the envelope, of error data, and those that methods share. */
export function emitTypesPage(document: ServiceDocument): string {
  const intro =
    'What requests, answers and errors are made of, and what several [methods](../methods.md) share. Members marked *extension* go beyond the service document.'
  return `${['# Common types', intro, ...schemaSections(document, typesPage)].join('\n\n')}\n`
}
