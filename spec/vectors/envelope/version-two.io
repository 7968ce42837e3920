// The version is "2.0" to the letter.
// POST /evm-chain
>> {"jsonrpc":"2","id":1,"method":"svc_getTransactionsByAddress","chainId":31337,"params":[]}
<< {"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"Invalid request","data":{"reason":"INVALID_REQUEST","extraMessage":"/jsonrpc must be \"2.0\".","path":"/jsonrpc"}}}
