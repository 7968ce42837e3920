// Of two ids neither is usable.
// POST /evm-chain
>> {"jsonrpc":"2.0","id":1,"method":"svc_getTransactionsByAddress","chainId":31337,"params":[],"id":6}
<< {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid request","data":{"reason":"INVALID_REQUEST","extraMessage":"/id is given twice.","path":"/id"}}}
