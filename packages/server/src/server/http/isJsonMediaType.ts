import { transport } from '@chain-data/protocol'

/** What may stand behind the type: a UTF-8 charset. */
const parametersPattern = /^[ \t]*(;[ \t]*(charset=(utf-8|"utf-8")[ \t]*(;[ \t]*)?)?)?$/i
const jsonType = transport.requestContentType

/** Whether a body with these headers is JSON in UTF-8, sent as it is. */
export function isJsonMediaType(
  contentType: string | undefined,
  contentEncoding: string | undefined
): boolean {
  const isPlain = contentEncoding === undefined || /^identity$/i.test(contentEncoding)
  if (!isPlain || contentType?.slice(0, jsonType.length).toLowerCase() !== jsonType) return false
  return parametersPattern.test(contentType.slice(jsonType.length))
}
