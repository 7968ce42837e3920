import { parseAddress } from '../../../platform/addressRange.ts'
import { flag, group, list, text } from '../../../platform/settings/fields.ts'

const isHost = (host: string) => parseAddress(host) !== undefined || /^[\w-]+(\.[\w-]+)*$/.test(host)

/** The key `pages`. */
export const pagesSettings = group('pages that are read without credentials: { status, metrics, hosts }', {
  status: flag(true, 'show the status page at / and its data at /status.json: true or false'),
  metrics: flag(true, 'show figures for Prometheus at /metrics: true or false'),
  hosts: list(
    text(isHost, 'a host name or IP address without a port'),
    'host names, beside loopback and the address they listen on, by which these pages may be read: a list'
  )
})
