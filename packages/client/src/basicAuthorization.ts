import { ConfigurationError } from './errors.ts'

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what RFC 7617 forbids here.
const controlCharacter = /[\u0000-\u001f\u007f]/

/**
 * The value of the `Authorization` header for HTTP Basic, in UTF-8 whatever the runtime.
 *
 * @throws {ConfigurationError} A part is empty, not a string, or cannot be carried by Basic. The message
 *   names the part and never shows it.
 * @see RFC 7617: no colon in the user id, no control characters, UTF-8
 */
export function basicAuthorization(projectId: string, serverKey: string): string {
  for (const [name, value] of Object.entries({ projectId, serverKey })) {
    if (typeof value !== 'string' || value === '') {
      throw new ConfigurationError('INVALID_OPTION', `${name} must be a string that is not empty`)
    }
    if (controlCharacter.test(value)) {
      throw new ConfigurationError('INVALID_OPTION', `${name} must not contain control characters`)
    }
  }
  if (projectId.includes(':')) {
    throw new ConfigurationError(
      'INVALID_OPTION',
      "projectId must not contain ':', which separates it from the key in HTTP Basic"
    )
  }
  return `Basic ${toBase64(new TextEncoder().encode(`${projectId}:${serverKey}`))}`
}

// btoa is handed bytes only: given text, it throws beyond Latin-1 and encodes Latin-1 wrongly.
function toBase64(bytes: Uint8Array): string {
  let binary = ''
  for (const byte of bytes) binary += String.fromCharCode(byte)
  return btoa(binary)
}
