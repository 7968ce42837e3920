// Answers come in the order of the requests.
// POST /evm-chain
// extension: batches
>> [{"jsonrpc":"2.0","id":3,"method":"svc_getTransactionsByAddress","chainId":31337,"params":[]},{"jsonrpc":"2.0","id":1,"method":"svc_getTransactionsByAddress","chainId":31337,"params":[]},{"jsonrpc":"2.0","id":2,"method":"svc_getTransactionsByAddress","chainId":31337,"params":[]}]
<< [{"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"Invalid params","data":{"reason":"INVALID_PARAMS","extraMessage":"/params must have at least 1 element.","path":"/params"}}},{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params","data":{"reason":"INVALID_PARAMS","extraMessage":"/params must have at least 1 element.","path":"/params"}}},{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"Invalid params","data":{"reason":"INVALID_PARAMS","extraMessage":"/params must have at least 1 element.","path":"/params"}}}]
