// @ts-nocheck What this imports is installed beside a copy of this folder only.
import { Hono } from 'hono'

/** Nothing is asked: it has to be here. */
export default new Hono()
