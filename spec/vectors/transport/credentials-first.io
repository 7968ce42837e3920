// Credentials come before the body: what is no JSON is not told apart without them.
// POST /evm-chain
// > authorization:
// < 401
// < www-authenticate: Basic realm="chain-data", charset="UTF-8"
>> {
<< {"jsonrpc":"2.0","id":null,"error":{"code":40102,"message":"Authentication required","data":{"reason":"UNAUTHENTICATED","extraMessage":"Send HTTP Basic credentials: project id and project server key."}}}
