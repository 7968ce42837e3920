/** The schema that holds one chain's index; nothing else is in it. */
export function chainSchema(chainId: number): string {
  return `chain_data_${chainId}`
}

/** The schema of an index that was kept when another one took its place. */
export function asideSchema(chainId: number): string {
  return `${chainSchema(chainId)}_kept_aside`
}
