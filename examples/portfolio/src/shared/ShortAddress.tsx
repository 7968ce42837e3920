import { CopyButton } from './CopyButton.tsx'
import { accountHref } from './route.ts'

/** What a {@link ShortAddress} shows. */
export interface ShortAddressProps {
  /** An address or a hash; its case is kept. */
  address: string
  /** Makes it a link to this page's view of the account on that chain. */
  chainId?: number
  /** What it is, for the copy button; default `address`. `null`: no such button. */
  label?: string | null
}

/** An address or hash with its middle left out, the whole in the title and one press away from the clipboard. */
export function ShortAddress({ address, chainId, label = 'address' }: ShortAddressProps) {
  const text = shorten(address)
  return (
    <span className="address">
      {chainId === undefined ? (
        <span title={address}>{text}</span>
      ) : (
        <a href={accountHref({ chainId, address })} title={address}>
          {text}
        </a>
      )}
      {label !== null && <CopyButton text={address} label={label} />}
    </span>
  )
}

/** Both ends of an address or hash. */
export function shorten(address: string): string {
  if (address.length <= 14) return address
  return address.startsWith('0x')
    ? `${address.slice(0, 6)}…${address.slice(-4)}`
    : `${address.slice(0, 4)}…${address.slice(-4)}`
}
