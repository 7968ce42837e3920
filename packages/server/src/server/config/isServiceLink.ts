/**
 * Whether a variable was set by Kubernetes for a service beside this one (by Docker for a linked container), and means
 * nothing here. A service called `chain-data` sets `CHAIN_DATA_PORT=tcp://10.0.0.11:8080` in all pods around it.
 *
 * @see https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables
 */
export function isServiceLink(name: string, value: string | undefined): boolean {
  if (/_SERVICE_(HOST|PORT(_\w+)?)$/.test(name) || /_PORT_\d+_(TCP|UDP|SCTP)(_\w+)?$/.test(name)) return true
  return name.endsWith('_PORT') && /^(tcp|udp|sctp):\/\//.test(value ?? '')
}
