import { runInContext } from 'node:vm'
import { expect, test } from 'vitest'
import type { LiveHistory } from '../../src/history/index.ts'
import { createModelChain } from '../history/support/createModelChain.ts'
import { serveModelChain } from '../history/support/serveModelChain.ts'
import { bundle, sourceConditions } from './bundle.ts'
import { createReactNativeContext } from './reactNative.ts'

test('a live list works with the globals of React Native, and pauses with the app', async () => {
  const { outputFiles } = await bundle({
    program: `
      import { createClient } from '@chain-data/client'
      import { createLiveHistory, createPolling } from '@chain-data/client/history'
      let listener = () => {}
      // As an app passes its AppState on.
      const app = { state: 'active', set(state) { app.state = state; listener() } }
      const visibility = {
        isVisible: () => app.state === 'active',
        subscribe(changed) { listener = changed; return () => {} }
      }
      export const start = baseUrl => createLiveHistory(createClient({ baseUrl, auth: false }), {
        ...{ chainId: 1, address: '0xa', pageSize: 5, feed: createPolling(20), visibility }
      })
      export { app }`,
    format: 'iife',
    globalName: 'program',
    conditions: [...sourceConditions, 'react-native'],
    mainFields: ['react-native', 'browser', 'main']
  })
  const context = createReactNativeContext()
  runInContext(outputFiles[0]?.text ?? '', context)
  const chain = createModelChain()
  for (let block = 0; block < 9; block++) chain.mine(1)
  await using server = await serveModelChain(chain)
  const history = runInContext(`program.start('${server.url}')`, context) as LiveHistory
  history.subscribe(() => {})
  const hashes = () => history.getSnapshot().records?.map(({ hash }) => hash)
  const truth = (length: number) =>
    chain
      .history()
      .slice(0, length)
      .map(({ hash }) => hash)

  // The second reading asks for more than a page, and takes what is left of so short a history.
  await expect.poll(() => hashes()?.slice(0, 5)).toEqual(truth(5))
  await history.loadOlder()
  expect(history.getSnapshot()).toMatchObject({ state: 'ready', hasOlder: false })
  chain.send(1)
  await expect.poll(hashes).toEqual(truth(10))
  chain.mine(0)
  chain.reorg(2, ['pool', 'gone'])
  await expect.poll(hashes).toEqual(truth(9))
  expect(history.getSnapshot()).toMatchObject({ reorgs: 1, coverage: { to: chain.head() } })

  runInContext(`program.app.set('background')`, context)
  // One call may be under way.
  await history.refresh()
  const before = history.getSnapshot()
  chain.send(1)
  // Many times the pace of the list.
  await new Promise(resolve => setTimeout(resolve, 200))
  expect(history.getSnapshot()).toBe(before)
  runInContext(`program.app.set('active')`, context)
  await expect.poll(hashes).toEqual(truth(10))
  history.close()
})
