// Entries may share an id.
// POST /evm-chain
// extension: batches
>> [{"jsonrpc":"2.0","id":1,"method":"svc_getTransactionsByAddress","chainId":31337,"params":[]},{"jsonrpc":"2.0","id":1,"method":"nope","chainId":31337,"params":[]}]
<< [{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params","data":{"reason":"INVALID_PARAMS","extraMessage":"/params must have at least 1 element.","path":"/params"}}},{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found","data":{"reason":"METHOD_NOT_FOUND","extraMessage":"/evm-chain has no method \"nope\"."}}}]
