const { exerciseClient } = require('./exerciseClient.cjs')

exerciseClient({
  main: require('@chain-data/client'),
  fetch: require('@chain-data/client/fetch'),
  actions: require('@chain-data/client/actions'),
  viem: require('@chain-data/client/viem'),
  kit: require('@chain-data/client/kit'),
  history: require('@chain-data/client/history'),
  query: require('@chain-data/client/query'),
  msw: require('@chain-data/client/msw'),
  setupServer: require('msw/node').setupServer
})
