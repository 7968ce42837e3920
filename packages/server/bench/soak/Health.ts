/** How a server child is; asked for with the message `health`. */
export interface Health {
  readonly rssBytes: number
  /** Absent where the system does not tell. */
  readonly open?: { readonly sockets: number; readonly files: number }
}
