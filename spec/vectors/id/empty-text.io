// An empty text is unusable.
// POST /evm-chain
>> {"jsonrpc":"2.0","id":"","method":"svc_getTransactionsByAddress","chainId":31337,"params":[]}
<< {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid request","data":{"reason":"INVALID_REQUEST","extraMessage":"/id must be an integer within ±(2^53-1), or a string of 1 to 256 characters.","path":"/id"}}}
