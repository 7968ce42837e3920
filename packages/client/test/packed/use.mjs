import * as main from '@chain-data/client'
import * as fetch from '@chain-data/client/fetch'
import * as msw from '@chain-data/client/msw'
import * as query from '@chain-data/client/query'
import { setupServer } from 'msw/node'
import { exerciseClient } from './exerciseClient.cjs'

await exerciseClient({ main, fetch, query, msw, setupServer })
