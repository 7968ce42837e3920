const { exerciseClient } = require('./exerciseClient.cjs')

exerciseClient({
  main: require('@chain-data/client'),
  fetch: require('@chain-data/client/fetch'),
  query: require('@chain-data/client/query'),
  msw: require('@chain-data/client/msw'),
  setupServer: require('msw/node').setupServer
})
