import * as main from '@chain-data/client'
import * as actions from '@chain-data/client/actions'
import * as fetch from '@chain-data/client/fetch'
import * as history from '@chain-data/client/history'
import * as kit from '@chain-data/client/kit'
import * as msw from '@chain-data/client/msw'
import * as query from '@chain-data/client/query'
import * as viem from '@chain-data/client/viem'
import { setupServer } from 'msw/node'
import { exerciseClient } from './exerciseClient.cjs'

await exerciseClient({ main, fetch, actions, viem, kit, history, query, msw, setupServer })
