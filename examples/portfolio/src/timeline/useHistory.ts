import type { Client } from '@chain-data/client/fetch'
import {
  createLiveHistory,
  createStreaming,
  type HistorySnapshot,
  type LiveHistory
} from '@chain-data/client/history'
import { useSyncExternalStore } from 'react'
import { settings } from '../config.ts'
import { useClient } from '../shared/ClientProvider.tsx'
import type { AccountRoute } from '../shared/route.ts'
import { type ListChanges, noChanges, noteChanges } from './ListChanges.ts'

/** The history of an account as the page shows it. */
export interface AccountHistory {
  readonly snapshot: HistorySnapshot
  readonly changes: ListChanges
  /** For reading on, and for reading again. */
  readonly list: LiveHistory
}

interface AccountList {
  readonly list: LiveHistory
  readonly getHistory: () => AccountHistory
}

/** Accounts whose lists are kept, so that they are shown at once when the reader comes back. */
const mostKept = 10
const kept = new WeakMap<Client, Map<string, AccountList>>()

/** The history of an EVM account. Every component that asks for the same one shares its list. */
export function useHistory(route: AccountRoute): AccountHistory {
  const { list, getHistory } = listOf(useClient(), route)
  return useSyncExternalStore(list.subscribe, getHistory)
}

/** The list of an account, the same one for every component. */
export function listOf(client: Client, { chainId, address }: AccountRoute): AccountList {
  const lists = kept.get(client) ?? new Map<string, AccountList>()
  kept.set(client, lists)
  const key = `${chainId} ${address.toLowerCase()}`
  const found = lists.get(key) ?? createList(client, { chainId, address })
  // The one that was asked for last stands last.
  lists.delete(key)
  lists.set(key, found)
  const [oldest] = lists
  if (lists.size > mostKept && oldest !== undefined) {
    lists.delete(oldest[0])
    oldest[1].list.close()
  }
  return found
}

function createList(client: Client, { chainId, address }: AccountRoute): AccountList {
  const list = createLiveHistory(client, {
    ...{ chainId, address, include: ['transfers', 'internal'] },
    feed: createStreaming(settings.pollMs)
  })
  let history: AccountHistory = { snapshot: list.getSnapshot(), changes: noChanges, list }
  return {
    list,
    getHistory() {
      const snapshot = list.getSnapshot()
      if (snapshot !== history.snapshot) {
        history = { snapshot, changes: noteChanges(history.changes, history.snapshot, snapshot), list }
      }
      return history
    }
  }
}
