// An unknown method on /solana is answered with its chainId.
// POST /solana
>> {"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","chainId":103,"params":[]}
<< {"jsonrpc":"2.0","id":1,"chainId":103,"error":{"code":-32601,"message":"Method not found","data":{"reason":"METHOD_NOT_FOUND","extraMessage":"/solana has no method \"eth_blockNumber\"."}}}
