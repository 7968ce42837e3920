/** Where indexes are kept, as plain data: it travels to the threads that write there. */
export type StoreLocation =
  /** One file per chain in `folder`, created when missing. */
  | { readonly kind: 'sqlite'; readonly folder: string }
  /** One schema per chain. The URLs may hold passwords: never log them. */
  | {
      readonly kind: 'postgres'
      /** Where is written; read from as well. */
      readonly url: string
      /** Copies of that database, only ever read from; absent: none. */
      readonly replicaUrls?: readonly string[]
    }
