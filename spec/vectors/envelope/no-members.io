// An empty object is a request without a version.
// POST /evm-chain
>> {}
<< {"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"Invalid request","data":{"reason":"INVALID_REQUEST","extraMessage":"/jsonrpc is missing.","path":"/jsonrpc"}}}
