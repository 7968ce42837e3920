import { InvalidDocumentError } from '../../check/InvalidDocumentError.ts'
import type { ErrorCase, ServiceDocument } from '../../document.ts'
import { folded, json, table } from './markdown.ts'
import { createLinks, errorsPage } from './placeTypes.ts'

const begin = '<!-- generated: error cases -->'
const end = '<!-- end of the generated part -->'

/**
 * `docs/errors.md` with its generated part renewed: a table of all cases, and a section for each.
 *
 * @param page - The page as it is; what a person wrote around the two marks stays.
 * @throws {InvalidDocumentError} The page lacks a mark.
 */
export function emitErrorCases(document: ServiceDocument, page: string): string {
  const from = page.indexOf(begin)
  const to = page.indexOf(end)
  if (from < 0 || to < from) {
    throw new InvalidDocumentError([`${errorsPage} needs the lines ${begin} and, behind it, ${end}`])
  }
  return `${page.slice(0, from + begin.length)}\n\n${cases(document)}\n\n${page.slice(to)}`
}

function cases(document: ServiceDocument): string {
  const links = createLinks(document, errorsPage)
  const entries = Object.entries(document['x-errors'])
  const rows = entries.map(([reason, each]) => [
    links.reason(reason),
    each.remedy,
    each.retryable ? 'yes' : 'no',
    String(each.code),
    String(each.httpStatus)
  ])
  const sections = entries.map(([reason, each]) => section(reason, each, links.type(each.data)))
  return [table(['reason', 'what to do', 'retry', 'code', 'HTTP'], rows), ...sections].join('\n\n')
}

function section(reason: string, each: ErrorCase, data: string): string {
  const retry = each.retryable ? 'the same request may succeed later' : 'the same request fails again'
  return `### ${reason}

${each.when}

**What to do:** ${each.remedy}

Code ${each.code}, HTTP ${each.httpStatus}, *${each.message}*; ${retry}. \`error.data\`: ${data}.

${folded('An answer', json(each.example))}`
}
