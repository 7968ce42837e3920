import type { StoreLocation } from '@chain-data/index'
import {
  dumpPostgresStore,
  dumpStore,
  type Postgres,
  type StoreDump,
  startStore,
  temporaryFolder
} from '@chain-data/index/test'

/** An empty store in a place of its own. */
export interface TestStore {
  readonly location: StoreLocation
  /** The same as the setting `store` of the configuration. */
  readonly url: string
  /** The server that keeps it, and other stores of this test file; absent where the engine has none. */
  readonly server?: Pick<Postgres, 'crash' | 'start'>
  remove(): Promise<void>
}

/** A way to keep an index, for suites that run on each. */
export interface Engine {
  readonly name: 'sqlite' | 'postgres'
  create(): Promise<TestStore>
}

/**
 * What was committed survives a crash of the server, as it does outside of tests, and it can be told afterwards what was
 * committed when.
 */
const settings = { synchronous_commit: 'on', track_commit_timestamp: 'on' }
let postgres: Promise<Postgres> | undefined

/** Every engine there is, the plain one first. Databases of PostgreSQL end with their cluster, which ends with the test file. */
export const engines: readonly [sqlite: Engine, postgres: Engine] = [
  {
    name: 'sqlite',
    async create() {
      const { path, remove } = await temporaryFolder()
      return { location: { kind: 'sqlite', folder: path }, url: `sqlite:${path}`, remove }
    }
  },
  {
    name: 'postgres',
    async create() {
      postgres ??= startStore({ settings })
      const server = await postgres
      const url = await server.createDatabase()
      const location: StoreLocation = { kind: 'postgres', url, replicaUrls: [] }
      return { location, url, server, remove: async () => undefined }
    }
  }
]

/**
 * What the index of one chain holds, however the engine lays it out: equal texts are equal indexes, also of two engines.
 * @throws {StoreError} there is no index of this chain.
 */
export async function dumpIndex(location: StoreLocation, chainId: number): Promise<StoreDump> {
  return location.kind === 'sqlite'
    ? dumpStore(location.folder, chainId)
    : dumpPostgresStore(location.url, chainId)
}
