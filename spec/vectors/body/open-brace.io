// An open brace is no JSON.
// POST /evm-chain
>> {
<< {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error","data":{"reason":"PARSE_ERROR","extraMessage":"The request body is not valid JSON."}}}
