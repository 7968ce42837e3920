// A member whose name differs in case is not the id.
// POST /evm-chain
>> {"jsonrpc":"2.0","method":"svc_getTransactionsByAddress","chainId":31337,"params":[],"ID":7}
<< {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params","data":{"reason":"INVALID_PARAMS","extraMessage":"/params must have at least 1 element.","path":"/params"}}}
