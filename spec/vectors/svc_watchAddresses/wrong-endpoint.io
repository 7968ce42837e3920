// A method of the other endpoint is unknown.
// POST /solana
>> {"jsonrpc":"2.0","id":1,"method":"svc_watchAddresses","chainId":103,"params":[["6XU36wCxWobLx5Rtsb58kmgAJKVYmMVqy4SHXxENAyAe"]]}
<< {"jsonrpc":"2.0","id":1,"chainId":103,"error":{"code":-32601,"message":"Method not found","data":{"reason":"METHOD_NOT_FOUND","extraMessage":"/solana has no method \"svc_watchAddresses\"."}}}
