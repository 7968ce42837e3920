/**
 * The `image` a service must show for a metadata object of a seeded world, where `metadata.allowHosts` names the
 * metadata host and `metadata.ipfsGateways` its origin.
 *
 * @param origin - Of the metadata host.
 */
export function expectedImage(json: Record<string, unknown> | undefined, origin: string): string {
  const image = json?.image
  if (typeof image !== 'string') return ''
  if (image.startsWith('ipfs://')) return `${origin}/ipfs/${image.slice('ipfs://'.length)}`
  return image
}
