// true is no request.
// POST /evm-chain
>> true
<< {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid request","data":{"reason":"INVALID_REQUEST","extraMessage":"The request must be an object.","path":""}}}
