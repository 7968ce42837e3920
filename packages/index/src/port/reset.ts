/** The index of one chain, which nobody writes until it is closed. */
export interface IndexToReset {
  /** The path of its file, or its schema. Never a password. */
  readonly place: string
  /** Where it is kept. */
  readonly aside: string
  /** An index that was kept aside before is there, and is deleted then. */
  readonly replacesEarlier: boolean
  /** Its size on disk. */
  readonly bytes: number
  /** Keeps the index aside, so that the next server begins a new one. */
  keepAside(): Promise<void>
  /** Lets servers write the chain again. */
  close(): Promise<void>
}
