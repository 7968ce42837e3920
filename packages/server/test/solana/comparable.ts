interface Item {
  readonly mint: string
  readonly address: string
}

/** Digits as text, lists in one order, and without the slot: what two equal answers have in common. */
export function comparable(value: object): unknown {
  const text = JSON.stringify(value, (_key, member: unknown) =>
    typeof member === 'bigint' || typeof member === 'number' ? String(member) : member
  )
  const { asOf: _slot, ...plain } = JSON.parse(text) as { asOf?: unknown; tokens: Item[]; nfts: Item[] }
  const inOrder = (items: Item[]) => items.sort((a, b) => (a.mint + a.address < b.mint + b.address ? -1 : 1))
  return { ...plain, tokens: inOrder(plain.tokens), nfts: inOrder(plain.nfts) }
}
