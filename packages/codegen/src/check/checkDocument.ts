import { createRequire } from 'node:module'
import { type ServiceDocument, withForms } from '../document.ts'
import { checkErrors } from './checkErrors.ts'
import { checkExamples } from './checkExamples.ts'
import { checkMethods } from './checkMethods.ts'
import { checkReferences } from './checkReferences.ts'
import { checkSchemas } from './checkSchemas.ts'
import { InvalidDocumentError } from './InvalidDocumentError.ts'

// Its type declarations lead to a package whose sources do not pass our compiler settings.
const { parseOpenRPCDocument, validateOpenRPCDocument } = createRequire(import.meta.url)(
  '@open-rpc/schema-utils-js'
) as {
  parseOpenRPCDocument: (document: object) => Promise<object>
  validateOpenRPCDocument: (document: object) => true | Error
}

/**
 * Checks the document: OpenRPC's own meta-schema, then what that does not see.
 *
 * The checks run in an order in which each may rely on the one before: references first, since
 * recursive or dangling ones would hang or break everything after.
 *
 * @throws {InvalidDocumentError} With all problems of the first failing group.
 */
export async function checkDocument(document: ServiceDocument): Promise<void> {
  refuse(checkReferences(document))
  const meta = validateOpenRPCDocument(document)
  if (meta !== true) refuse([meta.message])
  await parseOpenRPCDocument(structuredClone(document))
  const all = withForms(document)
  refuse([...checkMethods(all), ...checkSchemas(all), ...checkErrors(all)])
  refuse(checkExamples(all))
}

function refuse(problems: string[]): void {
  if (problems.length > 0) throw new InvalidDocumentError(problems)
}
