import type { MessagePort } from 'node:worker_threads'
import type { StoreLocation } from '../../index/parseStoreUrl.ts'
import type { ChainIdentity } from '../../index/port/status.ts'
import type { FencedWriter, StoreWriter } from '../../index/port/writer.ts'

/** What a writer can be told once it is open. */
export type WriterMethod = keyof StoreWriter

/** Asks for the writer; answered once it is open. */
export interface OpenCall {
  readonly call: 'open'
  readonly location: StoreLocation
  readonly identity: ChainIdentity
  readonly lockWaitMs?: number
}

type MethodCall = {
  readonly [Name in WriterMethod]: { readonly call: Name; readonly args: Parameters<StoreWriter[Name]> }
}[WriterMethod]

/** What is answered. */
export type Question = OpenCall | MethodCall

/** What the thread of a writer is told through a port. `id` numbers the questions of that port. */
export type ToWriter =
  | (Question & { readonly id: number })
  /** Whoever asked for the writer does not want to wait for it any longer. */
  | { readonly call: 'stopOpening' }

/** What it says: one answer to every question, and what happens while it opens. */
export type FromWriter =
  | { readonly fenced: FencedWriter }
  | { readonly id: number; readonly ok: true; readonly value: unknown }
  | { readonly id: number; readonly ok: false; readonly error: unknown }

/** What the thread itself is told. */
export type ToWriterThread =
  /** Serves one more chain, until the other end of the port is closed. */
  | { readonly kind: 'serve'; readonly port: MessagePort }
  /** Ends once all ports are closed. */
  | { readonly kind: 'end' }
