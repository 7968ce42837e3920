/** What every test signs in with. The key holds what JSON, URLs and base64 each write differently. */
export const projectId = 'projet-é'
export const serverKey = 'clé-ключ-鍵/+"\\🔑'

/** Worked out by hand from RFC 7617, with Node's encoder and not with ours. */
export const token = Buffer.from(`${projectId}:${serverKey}`, 'utf8').toString('base64')

export const address = '0x425249Cf0F2f91f488E24cF7B1AA3186748f7516'
export const solanaAddress = '7Np41oeYqPefeNQEHSv1UDhYrehxin3NStELsSKCT4K2'
