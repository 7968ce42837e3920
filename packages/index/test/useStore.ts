import { afterEach } from 'vitest'
import type { StoreReader } from '../src/port/store.ts'
import type { StoreWriter } from '../src/port/writer.ts'
import type { OpenStore, StoreLayout, StoreUnderTest } from './store.contract.ts'

export interface OpenedStore<S extends StoreUnderTest = StoreUnderTest> {
  readonly store: S
  readonly writer: StoreWriter
  readonly reader: StoreReader
}

/** Gives the tests of one block stores that are disposed of after each. */
export function useStores<S extends StoreUnderTest>(open: OpenStore<S>) {
  const stores: S[] = []
  afterEach(async () => {
    for (const store of stores.splice(0)) await store.dispose()
  })
  const create = async (layout?: Partial<StoreLayout>) => {
    const store = await open(layout)
    stores.push(store)
    return store
  }
  return {
    /** An empty store with nothing open. */
    create,
    /** An empty store with its writer and a reader. */
    start: async (layout?: Partial<StoreLayout>): Promise<OpenedStore<S>> => {
      const store = await create(layout)
      return { store, writer: await store.openWriter(), reader: await store.openReader() }
    }
  }
}
