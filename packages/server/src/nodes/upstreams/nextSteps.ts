import type { ErrorContext } from '@chain-data/index'

const wrongTarget = 'nothing answers at that address: check host and port of the URL, firewalls and routes'
const wrongProtocol =
  'it speaks no TLS at that port: write http:// in the URL, or name the port that speaks https'
const wrongCertificate =
  'its certificate is not accepted: renew it, write the host name that it is for, or name its authority in NODE_EXTRA_CA_CERTS'

/** Next steps of an operator by system code, HTTP status, or `UpstreamFault`. */
const steps: Readonly<Record<string, string>> = {
  ENOTFOUND: 'the name of its host is not known: check the spelling in the URL, and the DNS of this machine',
  EAI_AGAIN: 'the DNS of this machine does not answer: check its network',
  ECONNREFUSED: 'check that it runs, and the port of the URL: nothing listens there',
  ECONNRESET: 'it cut the connection: check its log, and what stands between',
  ...{ ETIMEDOUT: wrongTarget, EHOSTUNREACH: wrongTarget, ENETUNREACH: wrongTarget },
  ...{ EPROTO: wrongProtocol, ERR_SSL_WRONG_VERSION_NUMBER: wrongProtocol },
  certificate: wrongCertificate,
  401: 'check the key or the credentials in the URL',
  403: 'this key, or the address of this machine, is not allowed: check both with its provider',
  404: 'there is nothing at the path of the URL: write it as the provider shows it',
  unreachable: 'check that it runs, and that host and port can be reached from here',
  timedOut: 'check that it is up and not overloaded, and that it can be reached from here',
  throttled: 'it limits the rate of calls: wait, raise the limit there, or set maxRequestsPerSecond',
  exhausted: 'its quota is used up: raise it there',
  malformed: 'this is no JSON-RPC address: check the path of the URL',
  refused: 'check the path of the URL and what the provider allows',
  tooLarge: 'its answers are larger than may be read',
  behind: 'it is behind the others: wait until it has caught up'
}

/** Codes of OpenSSL and Node about certificates. */
const certificateCode = /CERT|SELF_SIGNED|UNABLE_TO_/

/** Returns what an operator does about a node that does not answer; `undefined` for any other failure. */
export function nextStepFor({ context }: { readonly context: ErrorContext }): string | undefined {
  const { systemCode, httpStatus, fault } = context
  const code = certificateCode.test(String(systemCode)) ? 'certificate' : String(systemCode)
  return steps[code] ?? steps[String(httpStatus)] ?? steps[String(fault)]
}

/** Takes the next step out of a problem, for callers: they cannot take it. */
export function withoutNextStep(problem: string): string {
  return Object.values(steps).reduce((text, step) => text.replace(`; ${step}`, ''), problem)
}
