// An EVM chain is not served on this endpoint by its method name either.
// POST /solana
>> {"jsonrpc":"2.0","id":1,"method":"svc_getTransactionsByAddress","chainId":103,"params":[]}
<< {"jsonrpc":"2.0","id":1,"chainId":103,"error":{"code":-32601,"message":"Method not found","data":{"reason":"METHOD_NOT_FOUND","extraMessage":"/solana has no method \"svc_getTransactionsByAddress\"."}}}
