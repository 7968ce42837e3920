// A name with an escape is that name.
// POST /evm-chain
>> {"jsonrpc":"2.0","method":"svc_getTransactionsByAddress","chainId":31337,"params":[],"\u0069d":7}
<< {"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"Invalid params","data":{"reason":"INVALID_PARAMS","extraMessage":"/params must have at least 1 element.","path":"/params"}}}
