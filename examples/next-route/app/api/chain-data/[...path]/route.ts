import { chainData } from '../../../../chainData.ts'

const handler = async (request: Request): Promise<Response> => (await chainData()).fetch(request)

export {
  handler as DELETE,
  handler as GET,
  handler as HEAD,
  handler as OPTIONS,
  handler as PATCH,
  handler as POST,
  handler as PUT
}
