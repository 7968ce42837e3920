import react from '@vitejs/plugin-react'
import { defaultClientConditions, defineConfig, loadEnv, type Plugin } from 'vite'
import { contentSecurityPolicy } from './contentSecurityPolicy.ts'

export default defineConfig(({ mode }) => {
  const env = loadEnv(mode, import.meta.dirname, 'VITE_')
  const policy = contentSecurityPolicy({
    serviceUrl: env.VITE_CHAIN_DATA_URL ?? 'http://127.0.0.1:8080',
    imageOrigins: (env.VITE_CHAIN_DATA_IMAGE_ORIGINS ?? '').split(',').filter(origin => origin !== '')
  })
  return {
    // The built page works in any folder of any host.
    base: './',
    plugins: [react(), addPolicy(policy)],
    // In this repository the client is used as it is in its sources. With the package from npm, leave this out.
    resolve: { conditions: ['@chain-data/source', ...defaultClientConditions] },
    build: { target: 'es2022', assetsInlineLimit: 0, modulePreload: { polyfill: false } },
    // A page may not be framed: a header can say that, the page itself cannot.
    preview: { headers: { 'Content-Security-Policy': `${policy}; frame-ancestors 'none'` } }
  }
})

/**
 * Writes the policy into the built page, so that it holds wherever the files are put.
 *
 * @remarks Not while developing: Vite's hot reload needs scripts and styles inside the page, and a socket.
 */
function addPolicy(policy: string): Plugin {
  return {
    name: 'content-security-policy',
    apply: 'build',
    transformIndexHtml: () => [
      {
        tag: 'meta',
        attrs: { 'http-equiv': 'Content-Security-Policy', content: policy },
        // Before anything that it is to hold for.
        injectTo: 'head-prepend'
      }
    ]
  }
}
