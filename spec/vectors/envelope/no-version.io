// A request without a version is none.
// POST /evm-chain
>> {"id":1,"method":"svc_getTransactionsByAddress","chainId":31337,"params":[]}
<< {"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"Invalid request","data":{"reason":"INVALID_REQUEST","extraMessage":"/jsonrpc is missing.","path":"/jsonrpc"}}}
